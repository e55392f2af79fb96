"""Build the network of a recipe from its corpus, and the training step."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from capsrl.config import Recipe
from capsrl.frames.descriptions import NO_DESCRIPTIONS, Descriptions
from capsrl.frames.index import NO_FRAMES
from capsrl.frames.user import load_frames
from capsrl.models import find_model
from capsrl.network.build import make_network
from capsrl.network.loss import Losses, compute_loss
from capsrl.network.network import Network
from capsrl.predict.inventory import Inventory, build_inventory
from capsrl.text.lemmatizer import learn_lemmas
from capsrl.train.corpus import Corpus
from capsrl.train.optim import make_groups, make_optimizer, trained_parameters
from capsrl.train.processes import Processes
from capsrl.train.start import start_network
from capsrl.train.step import TrainingStep


def build_network(recipe: Recipe, corpus: Corpus, processes: Processes) -> Network:
    """Build the network on the device of the process; sets the seed of all random generators.

    Its weights are random, except for pretrained word vectors, or those of the model that the run
    starts from.
    """
    _seed(recipe.train.seed)
    inventory, words = _build_inventory(recipe, corpus), corpus.count_words()
    if recipe.train.from_ is None:
        file = recipe.data.descriptions
        descriptions = NO_DESCRIPTIONS if file is None else Descriptions.load(file)
        network = make_network(recipe.model, inventory, words=words, descriptions=descriptions)
    else:
        folder = find_model(recipe.train.from_)
        network = start_network(folder, recipe.model, inventory, words=words)
    if not processes.is_main:  # the same weights, but each process its own dropout
        _seed(recipe.train.seed + 1_000_003 * processes.rank)
    return network.to(processes.device)


def _build_inventory(recipe: Recipe, corpus: Corpus) -> Inventory:
    frames = load_frames(recipe.data.frames) if recipe.data.frames else NO_FRAMES
    inventory = build_inventory(
        corpus.train, partial=corpus.partial, frames=frames, source=recipe.data.train
    )
    if recipe.data.language == "en":  # the lemmatizer's rules are those of English
        inventory = replace(inventory, lemmatizer=learn_lemmas(corpus.train))
    return inventory


def build_step(recipe: Recipe, network: Network, processes: Processes) -> TrainingStep:
    """Build the training step of a network that is on the device of the process."""
    train = recipe.train
    groups = make_groups(
        trained_parameters(network),
        network.parameter_layers(),
        learning_rate=train.learning_rate,
        transformer_rate=train.transformer_rate,
        layer_decay=train.layer_decay,
        weight_decay=train.weight_decay,
    )
    return TrainingStep(
        network,
        make_optimizer(groups, l2=recipe.loss.l2),
        _make_loss(recipe),
        processes,
        clip_norm=train.clip_norm,
        clip_each=train.clip_each,
        max_spike=train.max_spike,
        ema_decay=train.ema_decay,
        bf16=train.bf16,
    )


def _make_loss(recipe: Recipe) -> Callable[..., Losses]:
    """The loss with its weights."""
    loss, distill = recipe.loss, recipe.distill
    return partial(
        compute_loss,
        sense_weight=loss.sense,
        predicate_weight=loss.predicates,
        tag_weight=loss.tags,
        phrase_weight=loss.phrases,
        uniqueness_weight=loss.uniqueness,
        intermediate_weight=loss.intermediate_weight,
        gumbel=loss.gumbel,
        soft_weight=distill.weight,
        temperature=distill.temperature,
    )


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - libraries may draw from it
    torch.manual_seed(seed)
