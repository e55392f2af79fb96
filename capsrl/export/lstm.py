"""A bidirectional LSTM in a graph: in 32-bit floats as one node, in 8-bit integers as a loop."""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto, helper

from capsrl.export.builder import FLOAT, INT64, Builder
from capsrl.predict.folder import SCALE


def bilstm(builder: Builder, steps: str, name: str, layer: int, lengths: str = "") -> str:
    """One layer of `BiLSTM`.

    steps    T N E    for N sequences
    lengths  N        of the sequences, if they are padded
    ->       T 2 N H  forward and backward states
    """
    directions = _directions(name, layer)

    def weights(kind: str) -> str:
        return _join(builder, [builder.weight(f"{one}.{kind}_l0") for one in directions])

    return builder.op(
        "LSTM",
        steps,
        weights("weight_ih"),
        weights("weight_hh"),
        _biases(builder, directions),
        builder.op("Cast", lengths, to=TensorProto.INT32) if lengths else "",
        hidden_size=_n_units(builder, directions),
        direction="bidirectional",
    )


def quantized_bilstm(builder: Builder, steps: str, name: str, layer: int, lengths: str) -> str:
    """The same in 8-bit integers, one sequence after the other.

    The ranges of 8-bit values are those of a sequence, so that it does not matter which others are
    computed with it.

    steps    T N E   0 after the end of a sequence
    lengths  N
    ->       N T 2H
    """
    directions = _directions(name, layer)
    inputs, recurrent = (
        _integer_weights(builder, directions, kind) for kind in ("weight_ih", "weight_hh")
    )
    biases = _biases(builder, directions)
    lengths = builder.op("Cast", lengths, to=TensorProto.INT32)
    with builder.body() as nodes:
        number = builder.op("Unsqueeze", "sequence", builder.ints(0))
        both = builder.fused(
            "DynamicQuantizeLSTM",
            builder.op("Gather", steps, number, axis=1),
            *(inputs[0], recurrent[0], biases, builder.op("Gather", lengths, number)),
            *("", "", ""),  # initial states, peepholes
            *inputs[1:],
            *recurrent[1:],
            hidden_size=_n_units(builder, directions),
            direction="bidirectional",
        )  # T 2 1 H
        builder.rename({"next_too": "is_next", "of_sequence": builder.op("Flatten", both, axis=1)})
    body = helper.make_graph(
        nodes,
        "sequence",
        [
            helper.make_tensor_value_info("sequence", INT64, []),
            helper.make_tensor_value_info("is_next", TensorProto.BOOL, []),
        ],
        [
            helper.make_tensor_value_info("next_too", TensorProto.BOOL, []),
            helper.make_tensor_value_info("of_sequence", FLOAT, None),
        ],
    )
    count = builder.op("Squeeze", builder.size(steps, 1))
    return builder.op("Loop", count, "", body=body)


def _directions(name: str, layer: int) -> list[str]:
    return [f"{name}.{direction}.{layer}" for direction in ("forwards", "backwards")]


def _n_units(builder: Builder, directions: Sequence[str]) -> int:
    return builder.stored[f"{directions[0]}.weight_hh_l0"].shape[1]


def _biases(builder: Builder, directions: Sequence[str]) -> str:
    """Those of the inputs, then the recurrent ones: 2 8H."""
    kinds = [
        _join(builder, [builder.weight(f"{one}.{kind}_l0") for one in directions])
        for kind in ("bias_ih", "bias_hh")
    ]
    return builder.op("Concat", *kinds, axis=1)


def _integer_weights(
    builder: Builder, directions: Sequence[str], kind: str
) -> tuple[str, str, str]:
    """Weights in 8 bits 2 E 4H, their scales 2 4H, and the integer that is zero 2 4H."""
    names = [f"{one}.{kind}_l0" for one in directions]
    scales = _join(builder, [builder.raw(name + SCALE) for name in names])
    joined = _join(builder, [builder.raw(name) for name in names])
    weights = builder.integers(builder.op("Transpose", joined, perm=[0, 2, 1]))
    zero, dtype = builder.zero
    shape = (2, builder.stored[names[0]].shape[0])
    return weights, scales, builder.constant(np.full(shape, zero), dtype)


def _join(builder: Builder, tensors: Sequence[str]) -> str:
    """Parameters 4H ... of both directions, with the gates in the order of ONNX: 2 4H ..."""
    both = [builder.op("Unsqueeze", _gates(builder, one), builder.ints(0)) for one in tensors]
    return builder.op("Concat", *both, axis=0)


def _gates(builder: Builder, parameter: str) -> str:
    """Torch orders the gates input, forget, cell, output; ONNX input, output, forget, cell."""
    input_gate, forget, cell, output = builder.ops(
        "Split", parameter, n_outputs=4, axis=0, num_outputs=4
    )
    return builder.op("Concat", input_gate, output, forget, cell, axis=0)
