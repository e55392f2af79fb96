"""One training step: losses, moving average, and what it restores."""

from pathlib import Path

import pytest
import torch

from capsrl.config import Recipe
from capsrl.errors import ConfigError, ModelError
from capsrl.model.batches import Batch
from capsrl.recipe import read_recipe
from capsrl.train.corpus import read_corpus
from capsrl.train.processes import Processes
from capsrl.train.setup import build_network, build_step
from capsrl.train.step import TrainingStep
from tests.helpers.tiny_runs import SETTINGS, TINY


def read_tiny(*settings: str) -> Recipe:
    return read_recipe(TINY, [*SETTINGS, *settings])


def make_step(recipe: Recipe) -> TrainingStep:
    processes = Processes("cpu")
    network = build_network(recipe, read_corpus(recipe.data), processes)
    return build_step(recipe, network, processes)


def make_batch(step: TrainingStep, recipe: Recipe) -> Batch:
    sentences = read_corpus(recipe.data).train[:4]
    return step.network.collate([step.network.index(sentence) for sentence in sentences])


def test_loss_falls_and_average_follows():
    recipe = read_tiny("train.ema_decay=0.5", "model.encoder.dropout=0.0")
    step = make_step(recipe)
    batch = make_batch(step, recipe)
    losses = []
    for number in range(1, 6):
        step.run(batch, 1.0, number)
        losses.append(step.losses(epoch=False)["loss"])
    assert losses == sorted(losses, reverse=True)
    assert step.losses(epoch=True)["loss"] == pytest.approx(sum(losses) / 5)
    weights = {k: v.clone() for k, v in step.tensors().items() if k.startswith("weight.")}
    average = {k: v.clone() for k, v in step.tensors().items() if k.startswith("average.")}
    with step.averaged_weights():
        assert not step.network.training
        for name, value in step.network.named_parameters():
            assert torch.equal(value, average[f"average.{name}"])
    assert step.network.training
    for name, value in step.network.named_parameters():
        assert torch.equal(value, weights[f"weight.{name}"])
    assert any(
        not torch.equal(value, average[name.replace("weight.", "average.", 1)])
        for name, value in weights.items()
    )


def test_terms_add_up():
    recipe = read_tiny("loss.uniqueness=0.5")
    step = make_step(recipe)
    step.run(make_batch(step, recipe), 1.0, 1)
    total, *terms = step.losses(epoch=True).values()
    assert total == pytest.approx(sum(terms))
    assert all(term > 0 for term in terms[:4])


def test_loss_that_is_not_finite():
    recipe = read_tiny()
    step = make_step(recipe)
    with torch.no_grad():
        next(step.network.parameters()).fill_(float("nan"))
    step.run(make_batch(step, recipe), 1.0, 1)
    with pytest.raises(ConfigError, match="expected a finite loss, got nan; lower train.learning"):
        step.losses(epoch=False)


def test_weights_of_another_recipe():
    small, large = make_step(read_tiny()), make_step(read_tiny("model.capsules.size=4"))
    message = r"run/x: expected \S+ of shape \(.*\), got \("
    with pytest.raises(ModelError, match=message):
        small.restore(large.tensors(), source=Path("run/x"))


def test_restored_step_continues_exactly():
    # Learned vectors are dropped at random; nothing else here is random.
    settings = ("train.ema_decay=0.5", "model.encoder.dropout=0.0", "model.embeddings.learned=0")
    recipe = read_tiny(*settings)
    step = make_step(recipe)
    batch = make_batch(step, recipe)
    step.run(batch, 1.0, 1)
    tensors = {name: tensor.clone() for name, tensor in step.tensors().items()}
    step.run(batch, 0.5, 2)
    other = make_step(read_tiny(*settings, "train.seed=9"))
    other.restore(tensors, source=Path("x"))
    other.run(batch, 0.5, 2)
    for name, tensor in step.tensors().items():
        assert torch.equal(other.tensors()[name], tensor), name


def test_process_without_sentences():
    recipe = read_tiny()
    step = make_step(recipe)
    step.run(None, 1.0, 1)
    assert step.losses(epoch=False)["loss"] == 0
