"""Capsules and routing in graphs against those of the network."""

import numpy as np
import pytest
import torch

from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.routing import Routing
from tests.helpers.tiny_networks import make_config

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.routing import capsules, route, route_in_loop  # noqa: E402
from tests.helpers.graphs import run_graph  # noqa: E402

R, D, M, H, V = 4, 3, 7, 8, 4  # V: width of the views
LENGTHS = np.array([5, 2, 5])
ROWS = torch.tensor([0, 1, 0])  # two predicates of the first sentence, one of the second
WORDS = np.array([[0, 1, 2, 3, 4], [5, 6, 6, 6, 6], [0, 1, 2, 3, 4]])  # rows of the states
MASK = torch.arange(5) < torch.tensor(LENGTHS)[:, None]


def random(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def both(folder, *, traced, n_iterations, with_views=False, **settings):
    """What torch and the graph make of the same words."""
    settings = {"size": D, "rank": M, "iterations": n_iterations, **settings}
    config = make_config(encoder={"predicate_width": V // 2 if with_views else 0}, **settings)
    torch.manual_seed(7)
    layer = WordCapsuleLayer(
        word_width=H + V * with_views,
        predicate_width=H,
        n_roles=R,
        size=D,
        rank=M,
        form=config.capsules.form,
    )
    routing = Routing(
        variant=config.capsules.variant,
        n_roles=R,
        size=D,
        global_from=config.capsules.global_from,
    )
    for parameter in [*layer.parameters(), *routing.parameters()]:
        torch.nn.init.normal_(parameter, std=0.25)
    states, predicates = random(7, H), random(3, H)
    views = random(3, 5, V).tanh() if with_views else None

    def build(builder):
        words = capsules(builder, config, "views" if with_views else None, "predicates")
        if not traced:
            return {"logits": route(builder, words, config)}
        logits, more = route_in_loop(builder, words, config)
        return {"logits": logits, **more}

    weights = {f"forms.{name}": each for name, each in layer.state_dict().items()}
    weights |= {f"routing.{name}": each for name, each in routing.state_dict().items()}
    inputs = {"states": states.numpy(), "predicates": predicates.numpy()}
    inputs |= {"words": WORDS, "lengths": LENGTHS, "n_iterations": np.array(n_iterations)}
    inputs |= {} if views is None else {"views": views.numpy()}
    found = run_graph(folder, weights, build, **inputs)
    padded = states[torch.from_numpy(WORDS[:2])]  # B T H
    with torch.no_grad():
        shared = layer.forward_shared(padded, views, ROWS, predicates)
        return found, routing(shared, MASK, n_iterations=n_iterations)


@pytest.mark.parametrize("with_views", [False, True])
@pytest.mark.parametrize("form", ["dense", "factored"])
@pytest.mark.parametrize("variant", ["capsule+global", "capsule", "word", "baseline"])
def test_same_as_torch(tmp_path, variant, form, with_views):
    found, expected = both(
        tmp_path / "model",
        traced=False,
        n_iterations=3,
        variant=variant,
        form=form,
        with_views=with_views,
    )
    np.testing.assert_allclose(found["logits"][MASK], expected.final[MASK], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n_iterations", [1, 4])
@pytest.mark.parametrize("global_from", ["intermediate", "squashed"])
def test_values_after_every_iteration(tmp_path, global_from, n_iterations):
    found, expected = both(
        tmp_path / "model", traced=True, n_iterations=n_iterations, global_from=global_from
    )
    np.testing.assert_allclose(found["logits"][MASK], expected.final[MASK], rtol=1e-4, atol=1e-4)
    assert len(found["steps"]) == len(found["capsules"]) == len(found["nodes"]) == n_iterations
    for number in range(n_iterations):
        steps = expected.logits[number + 1]
        np.testing.assert_allclose(found["steps"][number][MASK], steps[MASK], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(
            found["capsules"][number], expected.capsules[number], rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(
            found["nodes"][number], expected.nodes[number], rtol=1e-4, atol=1e-4
        )
