"""Run parts of the exported graphs over weights that are saved for a test."""

import numpy as np
from onnx import helper
from onnxruntime import InferenceSession, SessionOptions

from capsrl.export.builder import FLOAT, Builder
from capsrl.network.save import save_weights
from capsrl.predict.folder import find_stored


def run_graph(folder, weights, build, *, precision="full", int8=None, **inputs):
    """The outputs of a graph, one array for each value that `build(builder)` returns by name.

    folder   a new one, for the weights
    weights  tensors by name
    inputs   arrays by the names of the inputs
    """
    folder.mkdir(parents=True)
    save_weights(weights, folder, precision=precision)
    builder = Builder(find_stored(folder), int8=int8)
    outputs = {name: (value, (FLOAT, None)) for name, value in build(builder).items()}
    kinds = {
        name: (helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim)
        for name, array in inputs.items()
    }
    return run_model(builder.model(kinds, outputs), folder, **inputs)


def run_model(model, folder, **inputs):
    """The outputs of a finished graph over the weights of a folder, by name."""
    file = folder / "test.onnx"
    file.write_bytes(model.SerializeToString())
    options = SessionOptions()
    options.log_severity_level = 3
    session = InferenceSession(str(file), options, ["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    feed = {each.name: np.asarray(inputs[each.name]) for each in session.get_inputs()}
    return dict(zip(names, session.run(None, feed), strict=True))
