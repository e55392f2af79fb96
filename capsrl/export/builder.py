"""Build an ONNX graph whose weights stay in the safetensors files of a model folder."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import TensorProto, helper, numpy_helper
from onnx.helper import make_tensor_value_info as value_info

from capsrl.predict.folder import SCALE, Stored, digest_of

OPSET = 21
_IR_VERSION = 10  # that of OPSET; onnxruntime refuses newer versions than it knows
_TENSOR_TYPES = {
    "I8": TensorProto.INT8,
    "F16": TensorProto.FLOAT16,
    "F32": TensorProto.FLOAT,
    "I16": TensorProto.INT16,
    "I32": TensorProto.INT32,
    "I64": TensorProto.INT64,
}
Int8 = Literal["signed", "unsigned"]
TypeAndShape = tuple[int, list[str] | None]
Outputs = Mapping[str, tuple[str, TypeAndShape]]
BOOL, FLOAT, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64


class Builder:
    """Collects nodes. Values are strings, the names that nodes refer to them by.

    stored  where the tensors of the model are
    int8    multiply 8-bit weights in 8 bits where `quantized_linear` is asked to; else in 32-bit
            floats. unsigned: as numbers from 0 to 255, which is exact on every processor, but
            takes twice the time on those that multiply signed weights exactly

    Weights are used as they are stored. What turns them into what a node needs (transposing,
    casting, scaling) is itself part of the graph: onnxruntime computes it once, when it loads.
    """

    def __init__(self, stored: Mapping[str, Stored], *, int8: Int8 | None) -> None:
        self.stored = stored
        self.int8 = int8
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._known: dict[object, str] = {}
        self._count = 0

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:  # noqa: ANN401
        """Add a node with one output. An empty string stands for an input that is left out."""
        return self.ops(kind, *inputs, n_outputs=1, domain=domain, **attributes)[0]

    def ops(
        self,
        kind: str,
        *inputs: str,
        n_outputs: int,
        domain: str = "",
        **attributes: Any,  # noqa: ANN401
    ) -> list[str]:
        """Add a node with several outputs."""
        outputs = [self._new(kind) for _ in range(n_outputs)]
        self._nodes.append(helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs

    def fused(self, kind: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401
        """Add a node of onnxruntime that computes what several nodes of the standard would."""
        return self.op(kind, *inputs, domain="com.microsoft", **attributes)

    def constant(self, value: ArrayLike, dtype: type[np.generic]) -> str:
        """A constant in the graph itself."""
        array = np.asarray(value, dtype=dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            name = self._known[key] = self._new("constant")
            self._initializers[name] = numpy_helper.from_array(array, name)
        return self._known[key]

    def ints(self, *values: int) -> str:
        """A constant list of integers: a shape, axes, limits of a slice."""
        return self.constant(values, np.int64)

    def raw(self, name: str) -> str:
        """A tensor as it is stored."""
        if name not in self._initializers:
            place = self.stored[name]
            tensor = TensorProto(name=name, data_type=_TENSOR_TYPES[place.dtype], dims=place.shape)
            tensor.data_location = TensorProto.EXTERNAL
            place_of = {"location": place.file, "offset": place.offset, "length": place.size}
            for key, value in place_of.items():
                tensor.external_data.add(key=key, value=str(value))
            self._initializers[name] = tensor
        return name

    def weight(self, name: str) -> str:
        """A tensor in 32-bit floats, or in integers if it was trained as such."""
        place = self.stored[name]
        if place.dtype in ("F32", "I16", "I32", "I64"):
            return self.raw(name)
        if ("float", name) not in self._known:
            value = self.op("Cast", self.raw(name), to=FLOAT)
            if self.is_quantized(name):
                by_row = self.ints(-1, *[1] * (len(place.shape) - 1))
                value = self.op("Mul", value, self.op("Reshape", self.raw(name + SCALE), by_row))
            self._known["float", name] = value
        return self._known["float", name]

    def is_quantized(self, name: str) -> bool:
        """Whether a tensor is stored in 8 bits with a scale for each row."""
        return name + SCALE in self.stored

    def rows(self, name: str, ids: str) -> str:
        """Some rows of a matrix, in floats, without the others."""
        if not self.is_quantized(name):
            return self.op("Gather", self.weight(name), ids)
        values = self.op("Cast", self.op("Gather", self.raw(name), ids), to=FLOAT)
        scales = self.op("Gather", self.raw(name + SCALE), ids)
        return self.op("Mul", values, self.op("Unsqueeze", scales, self.ints(-1)))

    def linear(self, value: str, name: str, *, bias: bool = True) -> str:
        """A linear layer, in 32-bit floats.

        value  ... E
        name   of a module with weight H E
        ->     ... H
        """
        weight = self.op("Transpose", self.weight(f"{name}.weight"), perm=[1, 0])
        product = self.op("MatMul", value, weight)
        return self.op("Add", product, self.weight(f"{name}.bias")) if bias else product

    def quantized_linear(self, value: str, name: str) -> str:
        """A linear layer in 8-bit integers if the graph may; as `linear`.

        The range of the values is that of the whole tensor: it must be of one sentence.
        """
        if not self.multiplies_integers(f"{name}.weight"):
            return self.linear(value, name)
        weight, zero = self.integer_matrix(f"{name}.weight")
        scale = self.raw(f"{name}.weight{SCALE}")
        bias = self.weight(f"{name}.bias")
        return self.fused("DynamicQuantizeMatMul", value, weight, scale, zero, bias)

    def bounded_product(self, value: str, name: str, *, n_columns: int) -> str:
        """The product with the first columns of a weight, in 8-bit integers if the graph may.

        value  ... E  between -1 and 1: their range is known, so that it depends on no others
        name   of a weight H E+
        ->     ... H
        """
        if not self.multiplies_integers(name):
            columns = self.slice(self.weight(name), 0, n_columns, axis=1)
            return self.op("MatMul", value, self.op("Transpose", columns, perm=[1, 0]))
        weight, zero = self.integer_matrix(name, n_columns)
        step, middle = self.constant(1 / 127, np.float32), self.constant(128, np.uint8)
        rounded = self.op("QuantizeLinear", value, step, middle)
        scale = self.raw(name + SCALE)
        return self.fused("MatMulIntegerToFloat", rounded, weight, step, scale, middle, zero)

    def multiplies_integers(self, name: str) -> bool:
        """Whether the graph multiplies with this weight in 8-bit integers."""
        return self.int8 is not None and self.is_quantized(name)

    def integer_matrix(self, name: str, n_columns: int | None = None) -> tuple[str, str]:
        """The first columns of a weight H E in 8 bits as E H, and what is zero unless that is 0."""
        weight = self.raw(name)
        if n_columns is not None:
            weight = self.slice(weight, 0, n_columns, axis=1)
        zero, dtype = self.zero
        zeros = self.constant(np.full(self.stored[name].shape[0], zero), dtype) if zero else ""
        return self.integers(self.op("Transpose", weight, perm=[1, 0])), zeros

    def integers(self, weight: str) -> str:
        """A weight in 8 bits, signed as it is stored or unsigned."""
        if self.int8 == "signed":
            return weight
        moved = self.op("Cast", weight, to=TensorProto.INT32)
        moved = self.op("Add", moved, self.constant(128, np.int32))
        return self.op("Cast", moved, to=TensorProto.UINT8)

    @property
    def zero(self) -> tuple[int, type[np.generic]]:
        """The integer that stands for zero in weights of 8 bits, and its type."""
        return (0, np.int8) if self.int8 == "signed" else (128, np.uint8)

    def multiplies_exactly(self) -> str:
        """Whether this processor multiplies signed weights exactly: true or false.

        Those with AVX2 or AVX-512 but without VNNI add two products in 16 bits, where the largest
        ones overflow.
        """
        left = self.constant(np.full((4, 64), 255), np.uint8)
        right = self.constant(np.full((64, 32), 127), np.int8)
        sums = self.op("MatMulInteger", left, right)
        equal = self.op("Equal", sums, self.constant(64 * 255 * 127, np.int32))
        return self.op("ReduceMin", self.op("Cast", equal, to=TensorProto.INT32), keepdims=0)

    def slice(self, value: str, start: int, end: int, *, axis: int) -> str:
        """The entries from `start` to before `end` along an axis."""
        return self.op("Slice", value, self.ints(start), self.ints(end), self.ints(axis))

    def size(self, value: str, axis: int) -> str:
        """The length of an axis, as a list of one integer."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def count_up(self, value: str, axis: int) -> str:
        """0, 1, 2, ... as many as an axis has entries."""
        zero, one = self.constant(0, np.int64), self.constant(1, np.int64)
        return self.op("Range", zero, self.op("Squeeze", self.size(value, axis)), one)

    @contextmanager
    def body(self) -> Iterator[None]:
        """Collect nodes for a graph of their own, the body of a loop."""
        outer, self._nodes = self._nodes, []
        try:
            yield
        finally:
            self._nodes = outer

    def graph(
        self, name: str, inputs: Mapping[str, TypeAndShape], outputs: Outputs
    ) -> onnx.GraphProto:
        """The nodes collected so far as a graph; outputs are by name, with their values."""
        for output, (value, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [value], [output]))
        given = [value_info(each, *kind) for each, kind in inputs.items()]
        returned = [value_info(each, *kind) for each, (_, kind) in outputs.items()]
        return helper.make_graph(self._nodes, name, given, returned)

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind.lower()}_{self._count}"

    def model(self, inputs: Mapping[str, TypeAndShape], outputs: Outputs) -> onnx.ModelProto:
        """The finished model."""
        graph = self.graph("capsrl", inputs, outputs)
        graph.initializer.extend(self._initializers.values())
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="capsrl")
        model.ir_version = _IR_VERSION
        model.metadata_props.add(key="weights", value=digest_of(self.stored))
        return model
