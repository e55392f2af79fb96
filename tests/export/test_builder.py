"""Parts of graphs against torch, with the weights as they are stored."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from capsrl.network.save import load_weights
from capsrl.predict.folder import digest_of

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.builder import Builder  # noqa: E402
from tests.helpers.graphs import run_graph  # noqa: E402

PRECISIONS = pytest.mark.parametrize("precision", ["full", "half", "compact"])
torch.manual_seed(1)
WEIGHTS = {"layer.weight": torch.randn(5, 7), "layer.bias": torch.randn(5)}
VALUES = torch.rand(2, 3, 7) * 2 - 1


@PRECISIONS
def test_linear_layers_and_rows(tmp_path, precision):
    ids = np.array([[4, 0], [1, 1]])
    found = run_graph(
        tmp_path / "model",
        WEIGHTS,
        lambda builder: {
            "with_bias": builder.linear("values", "layer"),
            "without": builder.linear("values", "layer", bias=False),
            "rows": builder.rows("layer.weight", "ids"),
            "bounded": builder.bounded_product("values", "layer.weight", n_columns=7),
            "in_floats": builder.quantized_linear("values", "layer"),
        },
        precision=precision,
        values=VALUES.numpy(),
        ids=ids,
    )
    stored = load_weights(tmp_path / "model")
    weight, bias = stored["layer.weight"].float(), stored["layer.bias"].float()
    expected = {
        "with_bias": functional.linear(VALUES, weight, bias),
        "without": functional.linear(VALUES, weight),
        "rows": weight[ids],
        "bounded": functional.linear(VALUES, weight),
        "in_floats": functional.linear(VALUES, weight, bias),
    }
    assert found.keys() == expected.keys()
    for name, array in found.items():
        np.testing.assert_allclose(array, expected[name], atol=1e-5, err_msg=name)


def integer_products(folder, int8):
    return run_graph(
        folder,
        WEIGHTS,
        lambda builder: {
            "layer": builder.quantized_linear("values", "layer"),
            "bounded": builder.bounded_product("narrow", "layer.weight", n_columns=4),
        },
        precision="compact",
        int8=int8,
        values=VALUES.numpy(),
        narrow=VALUES[..., :4].contiguous().numpy(),
    )


def test_products_in_integers_are_near_those_in_floats(tmp_path):
    found = integer_products(tmp_path / "model", "unsigned")
    stored = load_weights(tmp_path / "model")
    weight = stored["layer.weight"]
    # Values are rounded by at most half a step: 2 / 255 of their range, or 1 / 127.
    steps = {"layer": 1 / 255, "bounded": 0.5 / 127}
    expected = {
        "layer": functional.linear(VALUES, weight, stored["layer.bias"]),
        "bounded": functional.linear(VALUES[..., :4], weight[:, :4]),
    }
    for name, array in found.items():
        bound = steps[name] * weight.abs().sum(1).max().item() + 1e-5
        np.testing.assert_allclose(array, expected[name], atol=bound)
        assert np.abs(array - expected[name].numpy()).max() > 1e-6  # they are rounded


def test_signed_weights_give_the_same_where_the_processor_is_exact(tmp_path):
    [exact] = run_graph(
        tmp_path / "exact",
        WEIGHTS,
        lambda builder: {"exact": builder.op("Cast", builder.multiplies_exactly(), to=1)},
    ).values()
    if not exact:
        pytest.skip("this processor adds products of 8-bit integers in 16 bits")
    signed, unsigned = (integer_products(tmp_path / kind, kind) for kind in ("signed", "unsigned"))
    for name, array in signed.items():
        np.testing.assert_allclose(array, unsigned[name], atol=1e-6)


def test_constants_are_shared_by_value_and_type():
    builder = Builder({}, int8=None)
    assert builder.ints(1, 2) == builder.constant([1, 2], np.int64)
    names = {builder.ints(1, 2), builder.ints(2, 1), builder.constant([1, 2], np.float32)}
    assert len(names) == 3


def test_graphs_name_their_weights(tmp_path):
    builder = Builder({}, int8=None)
    model = builder.model({}, {"one": (builder.constant(1, np.float32), (1, []))})
    assert {each.key: each.value for each in model.metadata_props} == {"weights": digest_of({})}
