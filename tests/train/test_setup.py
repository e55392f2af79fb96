"""The network and the training step are built from recipe and corpus."""

import pytest
import torch

from capsrl.recipe import read_recipe
from capsrl.train.corpus import read_corpus
from capsrl.train.processes import Processes
from capsrl.train.setup import build_network, build_step
from tests.helpers.tiny_runs import SETTINGS, TINY


def build(*settings: str):
    recipe = read_recipe(TINY, [*SETTINGS, *settings])
    return build_network(recipe, read_corpus(recipe.data), Processes("cpu"))


def test_seed_decides_the_weights():
    first, same, other = (build(f"train.seed={seed}").state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(value, same[name]) for name, value in first.items())
    assert not all(torch.equal(value, other[name]) for name, value in first.items())


def test_other_processes_draw_other_numbers():
    recipe = read_recipe(TINY, SETTINGS)
    corpus = read_corpus(recipe.data)
    weights, draws = [], []
    for rank in (0, 1):
        processes = Processes("cpu")
        processes.rank = rank
        weights.append(build_network(recipe, corpus, processes).state_dict())
        draws.append(torch.rand(4))
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())
    assert not torch.equal(*draws)


@pytest.mark.parametrize(("l2", "optimizer"), [(0.0, torch.optim.AdamW), (1e-4, torch.optim.Adam)])
def test_optimizer(l2, optimizer):
    recipe = read_recipe(TINY, [*SETTINGS, f"loss.l2={l2}"])
    processes = Processes("cpu")
    network = build_network(recipe, read_corpus(recipe.data), processes)
    step = build_step(recipe, network, processes)
    assert type(step._optimizer) is optimizer
