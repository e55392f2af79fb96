"""The BiLSTM of graphs against that of the network."""

import numpy as np
import pytest
import torch

from capsrl.network.encoder import BiLSTM
from capsrl.network.save import load_weights

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.lstm import bilstm, quantized_bilstm  # noqa: E402
from tests.helpers.graphs import run_graph  # noqa: E402

LENGTHS = np.array([4, 1, 3])
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]


@pytest.fixture
def layers():
    torch.manual_seed(1)
    return BiLSTM(6, width=5, n_layers=2, dropout=0.0).eval()


@pytest.fixture
def words():
    """B T E, 0 at padding."""
    return torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(2)) * MASK[..., None]


def weights(layers):
    return {f"lstm.{name}": weight for name, weight in layers.state_dict().items()}


def by_steps(words):
    return words.transpose(0, 1).contiguous().numpy()  # T B E


def test_same_as_torch(layers, words, tmp_path):
    """Two layers: in the second, the inputs are the states of both directions."""

    def build(builder):
        first = bilstm(builder, "steps", "lstm", 0, "lengths")  # T 2 B H
        first = builder.op("Transpose", first, perm=[0, 2, 1, 3])
        joined = builder.op("Reshape", first, builder.ints(0, 0, -1))  # T B 2H
        return {"states": bilstm(builder, joined, "lstm", 1, "lengths")}

    found = run_graph(
        tmp_path / "model", weights(layers), build, steps=by_steps(words), lengths=LENGTHS
    )["states"]
    states = found.transpose(2, 0, 1, 3).reshape(3, 4, 10)
    with torch.no_grad():
        expected = layers(words, MASK)
    np.testing.assert_allclose(states[MASK], expected[MASK], atol=1e-5)


def quantized(folder, layers, words, lengths):
    return run_graph(
        folder,
        weights(layers),
        lambda builder: {"states": quantized_bilstm(builder, "steps", "lstm", 0, "lengths")},
        precision="compact",
        int8="unsigned",
        steps=by_steps(words),
        lengths=lengths,
    )["states"]


def test_integers_are_near_floats(layers, words, tmp_path):
    found = quantized(tmp_path / "model", layers, words, LENGTHS)
    stored = load_weights(tmp_path / "model")
    rounded = BiLSTM(6, width=5, n_layers=1, dropout=0.0).eval()
    rounded.load_state_dict({name: stored[f"lstm.{name}"] for name in rounded.state_dict()})
    with torch.no_grad():
        expected = rounded(words, MASK)
    np.testing.assert_allclose(found[MASK], expected[MASK], atol=0.02)


def test_a_sequence_has_the_same_states_alone_and_among_others(layers, words, tmp_path):
    together = quantized(tmp_path / "all", layers, words, LENGTHS)
    for number, length in enumerate(LENGTHS):
        one = words[number : number + 1, :length]
        alone = quantized(tmp_path / str(number), layers, one, LENGTHS[number : number + 1])
        np.testing.assert_array_equal(alone[0], together[number, :length])
