"""The graphs and the LSTM in them against the network."""

import dataclasses

import numpy as np
import pytest
import torch

from capsrl.network.batches import Predicates
from capsrl.network.encoder import BiLSTM
from capsrl.network.save import load_weights
from capsrl.predict.folder import find_stored
from capsrl.predict.subwords import SubwordReader, read_encoder_config
from tests.helpers.tiny_networks import (
    SENTENCES,
    UNSEEN,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.builder import Builder  # noqa: E402
from capsrl.export.graphs import (  # noqa: E402
    bilstm,
    propositions_graph,  # noqa: E402
    quantized_bilstm,
    sentences_graph,  # noqa: E402
)
from tests.helpers.graphs import (
    run_graph,  # noqa: E402
    run_model,  # noqa: E402
)

# Two sentences, of 40 and 3 words: farther apart than any distance that has its own embedding.
N_WORDS = (40, 3)
MASK = torch.arange(40) < torch.tensor(N_WORDS)[:, None]
ROWS, POSITIONS = torch.tensor([0, 0, 1]), torch.tensor([0, 39, 1])
VARIANTS = {
    "views and phrases": {"encoder": {"predicate_width": 6}, "phrase_width": 5, "form": "factored"},
    "phrases without views": {"phrase_width": 3},
    "frames": {"form": "factored", "frames": {"roles": "first", "descriptions": 3}},
    "frames in every iteration, dense": {"frames": {"roles": "every"}},
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_propositions_are_scored_as_by_torch(tmp_path, name, traced):
    config = make_config(**VARIANTS[name])
    labeler = make_labeler(config)
    labeler.save(tmp_path / "model")
    network, n_iterations = labeler.network.eval(), 4 if traced else None
    width = network.encoder.width
    states = torch.randn(2, 40, width, generator=torch.Generator().manual_seed(1)) * MASK[..., None]
    predicates = Predicates(
        rows=ROWS,
        positions=POSITIONS,
        candidates=torch.tensor([[0, 1], [2, 0], [0, 0]]),
        n_candidates=torch.tensor([2, 1, 0]),
    )
    with torch.no_grad():
        expected = network.score_propositions(states, MASK, predicates, n_iterations)
    starts = np.array([0, N_WORDS[0]])[ROWS]
    graph = propositions_graph(
        Builder(find_stored(tmp_path / "model"), int8=None), config, traced=traced
    )
    found = run_model(
        graph,
        tmp_path / "model",
        states=states[MASK].numpy(),  # one sentence after the other
        words=np.minimum(starts[:, None] + np.arange(40), sum(N_WORDS) - 1),
        lengths=np.array(N_WORDS)[ROWS],
        positions=POSITIONS.numpy(),
        candidates=predicates.candidates.numpy(),
        n_candidates=predicates.n_candidates.numpy(),
        n_iterations=np.array(4),
    )
    mask = MASK[ROWS]
    roles = expected.routing.final
    np.testing.assert_allclose(found["roles"][mask], roles[mask], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found["senses"], expected.senses, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found["patterns"], expected.patterns, rtol=1e-4, atol=1e-4)
    assert ("steps" in found) == traced
    if expected.phrases is None:
        assert "firsts" not in found
        return
    for edge in ("firsts", "lasts"):
        words = getattr(expected.phrases, edge).argmax(-1)
        np.testing.assert_array_equal(found[edge][mask], words[mask])


# Longer than the encoder accepts, so that it is read in several windows.
LONG = sentence("the old man saw no end to all these long long words")


@pytest.mark.parametrize("fine_tune", [False, True])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_sentences_are_read_as_by_torch(tmp_path, layers, fine_tune):
    write_encoder(tmp_path / "encoder", limit=24)
    config = make_config(
        embeddings={"transformer": str(tmp_path / "encoder"), "fine_tune": fine_tune},
        encoder={"layers": layers},
    )
    config, folder = dataclasses.replace(config, tagger=True), tmp_path / "model"
    labeler = make_labeler(config)
    labeler.save(folder)
    settings = read_encoder_config(folder / "transformer")
    reader = SubwordReader(folder / "transformer", settings)
    graph = sentences_graph(Builder(find_stored(folder), int8=None), config, settings)
    network = labeler.network.eval()
    for each in (*SENTENCES, UNSEEN, LONG):
        subwords, words = reader.windows(reader.read(each))
        found = run_model(graph, folder, subwords=subwords, words=words)
        with torch.no_grad():
            [states] = network.encode(network.collate([network.index(each)]))
            tags, predicates = network.tagger(states).argmax(-1), network.finder(states)
        np.testing.assert_allclose(found["states"], states, atol=1e-4)
        np.testing.assert_allclose(found["predicates"], predicates, rtol=1e-4, atol=1e-3)
        assert found["tags"].tolist() == tags.tolist()
        assert "exact" not in found  # only of graphs in 8 bits


LSTM_LENGTHS = np.array([4, 1, 3])
LSTM_MASK = torch.arange(4) < torch.tensor(LSTM_LENGTHS)[:, None]


@pytest.fixture
def layers():
    torch.manual_seed(1)
    return BiLSTM(6, width=5, n_layers=2, dropout=0.0).eval()


@pytest.fixture
def words():
    """B T E, 0 at padding."""
    return torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(2)) * LSTM_MASK[..., None]


def weights(layers):
    return {f"lstm.{name}": weight for name, weight in layers.state_dict().items()}


def by_steps(words):
    return words.transpose(0, 1).contiguous().numpy()  # T B E


def test_lstm_is_that_of_torch(layers, words, tmp_path):
    """Two layers: in the second, the inputs are the states of both directions."""

    def build(builder):
        first = bilstm(builder, "steps", "lstm", 0, "lengths")  # T 2 B H
        first = builder.op("Transpose", first, perm=[0, 2, 1, 3])
        joined = builder.op("Reshape", first, builder.ints(0, 0, -1))  # T B 2H
        return {"states": bilstm(builder, joined, "lstm", 1, "lengths")}

    found = run_graph(
        tmp_path / "model", weights(layers), build, steps=by_steps(words), lengths=LSTM_LENGTHS
    )["states"]
    states = found.transpose(2, 0, 1, 3).reshape(3, 4, 10)
    with torch.no_grad():
        expected = layers(words, LSTM_MASK)
    np.testing.assert_allclose(states[LSTM_MASK], expected[LSTM_MASK], atol=1e-5)


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
    found = quantized(tmp_path / "model", layers, words, LSTM_LENGTHS)
    stored = load_weights(tmp_path / "model")
    rounded = BiLSTM(6, width=5, n_layers=1, dropout=0.0).eval()
    rounded.load_state_dict({name: stored[f"lstm.{name}"] for name in rounded.state_dict()})
    with torch.no_grad():
        expected = rounded(words, LSTM_MASK)
    np.testing.assert_allclose(found[LSTM_MASK], expected[LSTM_MASK], atol=0.02)


def test_a_sequence_has_the_same_states_alone_and_among_others(layers, words, tmp_path):
    together = quantized(tmp_path / "all", layers, words, LSTM_LENGTHS)
    for number, length in enumerate(LSTM_LENGTHS):
        one = words[number : number + 1, :length]
        alone = quantized(tmp_path / str(number), layers, one, LSTM_LENGTHS[number : number + 1])
        np.testing.assert_array_equal(alone[0], together[number, :length])
