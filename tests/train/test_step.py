"""One training step: losses, moving average, and what it restores."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from capsrl.config import Recipe
from capsrl.errors import ConfigError, ModelError
from capsrl.network.batches import Batch
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


def make_batch(step: TrainingStep, recipe: Recipe, *, n: int = 4) -> Batch:
    sentences = read_corpus(recipe.data).train[:n]
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
        small.restore(large.tensors(), path=Path("run/x"))


def test_restored_step_continues_exactly():
    # Learned vectors are dropped at random; nothing else here is random.
    settings = (
        "train.ema_decay=0.5",
        "train.max_spike=1.01",
        "model.encoder.dropout=0.0",
        "model.embeddings.learned=0",
    )
    recipe = read_tiny(*settings)
    step = make_step(recipe)
    small, large = make_batch(step, recipe), make_batch(step, recipe, n=1)
    step.run(small, 1.0, 1)
    step.run(large, 1.0, 101)  # the gradient of one sentence is larger: a spike
    tensors = {name: tensor.clone() for name, tensor in step.tensors().items()}
    assert tensors["spikes"] == 1
    step.run(large, 0.5, 102)
    other = make_step(read_tiny(*settings, "train.seed=9"))
    other.restore(tensors, path=Path("x"))
    other.run(large, 0.5, 102)
    assert step.spikes() == other.spikes() == 2
    for name, tensor in step.tensors().items():
        assert torch.equal(other.tensors()[name], tensor), name


def swap_roles(batch: Batch) -> Batch:
    """Give the first role to all words that have none, and the reverse."""
    assert batch.gold is not None
    roles = batch.gold.roles
    swapped = torch.where(roles == 0, 1, torch.where(roles == 1, 0, roles))
    return replace(batch, gold=replace(batch.gold, roles=swapped))


def losses_around_a_spike(*settings: str) -> tuple[float, float, int]:
    """Train with wrong roles in step 121; role loss before, maximum after, spikes."""
    fixed = ("train.learning_rate=1e-2", "model.encoder.dropout=0.0", "model.embeddings.learned=0")
    recipe = read_tiny(*fixed, *settings)
    step = make_step(recipe)
    batch = make_batch(step, recipe, n=28)
    losses = []
    for number in range(1, 127):
        step.run(swap_roles(batch) if number == 121 else batch, 1.0, number)
        losses.append(step.losses(epoch=False)["loss_roles"])
    return losses[119], max(losses[121:]), step.spikes()


def test_training_survives_a_spike():
    before, after, spikes = losses_around_a_spike("train.max_spike=10")
    assert spikes > 0
    assert after < 20 * before
    before, after, spikes = losses_around_a_spike("train.max_spike=0")
    assert spikes == 0
    assert after > 200 * before


def test_process_without_sentences():
    recipe = read_tiny()
    step = make_step(recipe)
    step.run(None, 1.0, 1)
    assert step.losses(epoch=False)["loss"] == 0
