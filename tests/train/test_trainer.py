"""Training on batches: losses, moving average, and what is restored."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from capsrl.config import Recipe
from capsrl.errors import ConfigError, ModelError
from capsrl.network.batches import Batch
from capsrl.recipe import read_recipe
from capsrl.train.corpus import read_training_files
from capsrl.train.processes import Processes
from capsrl.train.start import build_network
from capsrl.train.trainer import Trainer, make_trainer
from tests.helpers.tiny_runs import SETTINGS, TINY


def read_tiny(*settings: str) -> Recipe:
    return read_recipe(TINY, [*SETTINGS, *settings])


def make_tiny(recipe: Recipe) -> Trainer:
    network = build_network(recipe, read_training_files(recipe.data))
    return make_trainer(recipe, network, Processes("cpu"))


@pytest.mark.parametrize(("l2", "optimizer"), [(0.0, torch.optim.AdamW), (1e-4, torch.optim.Adam)])
def test_optimizer(l2, optimizer):
    assert type(make_tiny(read_tiny(f"loss.l2={l2}"))._optimizer) is optimizer


def make_batch(trainer: Trainer, recipe: Recipe, *, n: int = 4) -> Batch:
    sentences = read_training_files(recipe.data).train[:n]
    return trainer.network.collate([trainer.network.index(sentence) for sentence in sentences])


def test_loss_falls_and_average_follows():
    recipe = read_tiny("train.ema_decay=0.5", "model.encoder.dropout=0.0")
    trainer = make_tiny(recipe)
    batch = make_batch(trainer, recipe)
    losses = []
    for number in range(1, 6):
        trainer.train_on(batch, 1.0, number)
        losses.append(trainer.losses(epoch=False)["loss"])
    assert losses == sorted(losses, reverse=True)
    assert trainer.losses(epoch=True)["loss"] == pytest.approx(sum(losses) / 5)
    weights = {k: v.clone() for k, v in trainer.tensors().items() if k.startswith("weight.")}
    average = {k: v.clone() for k, v in trainer.tensors().items() if k.startswith("average.")}
    with trainer.averaged_weights():
        assert not trainer.network.training
        for name, value in trainer.network.named_parameters():
            assert torch.equal(value, average[f"average.{name}"])
    assert trainer.network.training
    for name, value in trainer.network.named_parameters():
        assert torch.equal(value, weights[f"weight.{name}"])
    assert any(
        not torch.equal(value, average[name.replace("weight.", "average.", 1)])
        for name, value in weights.items()
    )


def test_terms_add_up():
    recipe = read_tiny("loss.uniqueness=0.5")
    trainer = make_tiny(recipe)
    trainer.train_on(make_batch(trainer, recipe), 1.0, 1)
    total, *terms = trainer.losses(epoch=True).values()
    assert total == pytest.approx(sum(terms))
    assert all(term > 0 for term in terms[:4])


def test_loss_that_is_not_finite():
    recipe = read_tiny()
    trainer = make_tiny(recipe)
    with torch.no_grad():
        next(trainer.network.parameters()).fill_(float("nan"))
    trainer.train_on(make_batch(trainer, recipe), 1.0, 1)
    with pytest.raises(ConfigError, match="the loss is nan; lower train.learning_rate or"):
        trainer.losses(epoch=False)


def test_weights_of_another_recipe():
    small, large = make_tiny(read_tiny()), make_tiny(read_tiny("model.capsules.size=4"))
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
    trainer = make_tiny(recipe)
    small, large = make_batch(trainer, recipe), make_batch(trainer, recipe, n=1)
    trainer.train_on(small, 1.0, 1)
    trainer.train_on(large, 1.0, 101)  # the gradient of one sentence is larger: a spike
    tensors = {name: tensor.clone() for name, tensor in trainer.tensors().items()}
    assert tensors["spikes"] == 1
    trainer.train_on(large, 0.5, 102)
    other = make_tiny(read_tiny(*settings, "train.seed=9"))
    other.restore(tensors, path=Path("x"))
    other.train_on(large, 0.5, 102)
    assert trainer.spikes() == other.spikes() == 2
    for name, tensor in trainer.tensors().items():
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
    trainer = make_tiny(recipe)
    batch = make_batch(trainer, recipe, n=28)
    losses = []
    for number in range(1, 127):
        trainer.train_on(swap_roles(batch) if number == 121 else batch, 1.0, number)
        losses.append(trainer.losses(epoch=False)["loss_roles"])
    return losses[119], max(losses[121:]), trainer.spikes()


def test_training_survives_a_spike():
    before, after, spikes = losses_around_a_spike("train.max_spike=10")
    assert spikes > 0
    assert after < 20 * before
    before, after, spikes = losses_around_a_spike("train.max_spike=0")
    assert spikes == 0
    assert after > 200 * before


def test_process_without_sentences():
    recipe = read_tiny()
    trainer = make_tiny(recipe)
    trainer.train_on(None, 1.0, 1)
    assert trainer.losses(epoch=False)["loss"] == 0
