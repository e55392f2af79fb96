"""The graph that scores propositions against the network."""

import numpy as np
import pytest
import torch

from capsrl.network.batches import Predicates
from tests.helpers.tiny_networks import make_config, make_labeler

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.builder import Builder  # noqa: E402
from capsrl.export.propositions import propositions_graph  # noqa: E402
from capsrl.predict.folder import find_stored  # noqa: E402
from tests.helpers.graphs import run_model  # noqa: E402

# Two sentences, of 40 and 3 words: farther apart than any distance that has its own embedding.
N_WORDS = (40, 3)
MASK = torch.arange(40) < torch.tensor(N_WORDS)[:, None]
ROWS, POSITIONS = torch.tensor([0, 0, 1]), torch.tensor([0, 39, 1])
VARIANTS = {
    "views and phrases": {"encoder": {"predicate_width": 6}, "phrase_width": 5, "form": "factored"},
    "phrases without views": {"phrase_width": 3},
    "lemmas looked up": {"predicate": "lookup", "lookup_width": 7},
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_same_as_torch(tmp_path, name, traced):
    config = make_config(**VARIANTS[name])
    labeler = make_labeler(config)
    labeler.save(tmp_path / "model")
    network, n_iterations = labeler.network.eval(), 4 if traced else None
    width = network.encoder.width
    states = torch.randn(2, 40, width, generator=torch.Generator().manual_seed(1)) * MASK[..., None]
    predicates = Predicates(
        rows=ROWS,
        positions=POSITIONS,
        lemmas=torch.tensor([1, 0, 2]),
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
        lemmas=predicates.lemmas.numpy(),
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
    if expected.spans is None:
        assert "firsts" not in found
        return
    for edge in ("firsts", "lasts"):
        words = getattr(expected.spans, edge).argmax(-1)
        np.testing.assert_array_equal(found[edge][mask], words[mask])
