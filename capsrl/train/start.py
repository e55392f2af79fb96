"""Build the network that a run starts with: a new one, or that of a trained model.

Roles, senses and words of a trained model keep their ids and weights; those that only the corpus
has follow and get initial weights.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from capsrl.config import ModelConfig, Recipe
from capsrl.frames.descriptions import NO_DESCRIPTIONS, Descriptions
from capsrl.frames.index import NO_FRAMES
from capsrl.frames.user import load_frames
from capsrl.models import find_model
from capsrl.network.build import attach_files, make_network
from capsrl.network.embeddings.pretrained import check_weights
from capsrl.network.network import Network
from capsrl.network.save import load_weights
from capsrl.predict.folder import read_inventory
from capsrl.predict.inventory import Inventory, Vocab, build_inventory
from capsrl.predict.manifest import check_manifest
from capsrl.text.lemmatizer import Lemmatizer, learn_lemmas
from capsrl.train.corpus import Corpus

_CAPSULES, _NODE = "forms.weight", "routing.node.weight"
_PATTERNS = ("senses.patterns.weight", "senses.pattern_prior")  # last: senses without pattern
_PATTERN_OF = "senses.pattern_of"
_WORD_COUNTS = "vectors.sources.learned.counts"
# The dimension of a tensor that grows with the labels.
_GROWING = {
    _CAPSULES: 0,
    _NODE: 1,
    "senses.senses.weight": 0,
    "senses.prior": 0,
    "frames.column_of": 0,
    "frames.of_role": 0,  # senses that the model does not have are unknown to its frames
    _PATTERN_OF: 0,
    **dict.fromkeys(_PATTERNS, 0),
    "tagger.score.weight": 0,
    "tagger.score.bias": 0,
    "vectors.sources.learned.vectors.weight": 0,
    _WORD_COUNTS: 0,
    "vectors.sources.characters.vectors.weight": 0,
    "vectors.sources.tags.vectors.weight": 0,
}
_TO_JOIN = ("roles", "patterns", "words", "characters", "tags")  # of an inventory
# The weights of a new role are this share of their usual initial values: the other roles are
# trained, and must not be disturbed by one that is not.
_NEW_ROLE_SCALE = 0.1


def build_network(recipe: Recipe, corpus: Corpus, *, rank: int = 0) -> Network:
    """Build the network of a run; sets the seed of all random generators.

    Its weights are random, except for pretrained word vectors, or those of the model that the run
    starts from.

    rank  of the process; all have the same weights, but each its own dropout
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
    if rank:
        _seed(recipe.train.seed + 1_000_003 * rank)
    return network


def _build_inventory(recipe: Recipe, corpus: Corpus) -> Inventory:
    frames = load_frames(recipe.data.frames) if recipe.data.frames else NO_FRAMES
    inventory = build_inventory(
        corpus.train, partial=corpus.partial, frames=frames, source=recipe.data.train
    )
    inventory = replace(inventory, language=recipe.data.language)
    if recipe.data.language == "en":  # the lemmatizer's rules are those of English
        inventory = replace(inventory, lemmatizer=learn_lemmas(corpus.train))
    return inventory


def _seed(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002 - libraries may draw from it
    torch.manual_seed(seed)


def start_network(
    folder: Path, config: ModelConfig, added: Inventory, *, words: Mapping[str, int]
) -> Network:
    """Make a network with the weights of a model folder, whatever their precision there.

    config  that of the model, except for settings on which no weight depends
    added   the inventory of the corpus
    words   frequency of each word in the corpus, for words that the model does not have
    Raises ModelError if the folder is damaged.
    """
    check_manifest(folder)
    inventory = merge_inventories(read_inventory(folder), added)
    network = make_network(config, inventory, folder=folder, words=words)
    grown = grow_weights(load_weights(folder), network.state_dict(), source=folder)
    network.load_state_dict(grown)
    attach_files(network, config.embeddings)
    return network


def merge_inventories(known: Inventory, added: Inventory) -> Inventory:
    """The labels of a model, with the same ids, followed by those that only a corpus has.

    Counts of senses are added up. The model's frames are kept if the corpus comes without.
    """
    senses = _join_vocabs(known.senses, added.senses)
    counts = [0] * len(senses)
    for inventory in (known, added):
        for sense, count in zip(inventory.senses, inventory.sense_counts, strict=True):
            counts[senses.id(sense)] += count
    candidates = dict(known.candidates)
    for lemma, ids in added.candidates.items():
        more = (senses.id(added.senses[i]) for i in ids)
        candidates[lemma] = tuple(dict.fromkeys((*candidates.get(lemma, ()), *more)))
    return Inventory(
        senses=tuple(senses),
        sense_counts=tuple(counts),
        candidates=dict(sorted(candidates.items())),
        lemmatizer=_join_lemmatizers(known.lemmatizer, added.lemmatizer),
        language=added.language or known.language,
        frames=known.frames if added.frames is NO_FRAMES else added.frames,
        **{name: _join_vocabs(getattr(known, name), getattr(added, name)) for name in _TO_JOIN},
    )


def grow_weights(
    saved: Mapping[str, Tensor], initial: Mapping[str, Tensor], *, source: Path
) -> dict[str, Tensor]:
    """The saved weights, with rows for the labels that only the network has.

    saved    of the model to start from
    initial  of a network whose labels are those of the model and more
    Raises ModelError naming `source` if a tensor is missing or has another shape.
    """
    shapes = {name: _shape_before(name, tensor, saved) for name, tensor in initial.items()}
    check_weights(saved, shapes, source=source)
    grown = {name: _grow(name, saved[name], tensor) for name, tensor in initial.items()}
    for name in _PATTERNS:
        before, after = saved[name], initial[name]
        grown[name] = torch.cat([before[:-1], after[len(before) - 1 : -1], before[-1:]])
    last_before, last = (len(weights[_PATTERNS[0]]) - 1 for weights in (saved, initial))
    patterns = grown[_PATTERN_OF][: len(saved[_PATTERN_OF])]
    patterns[patterns == last_before] = last
    if _WORD_COUNTS in grown:
        grown[_WORD_COUNTS][: len(saved[_WORD_COUNTS])] += initial[_WORD_COUNTS][
            : len(saved[_WORD_COUNTS])
        ]
    return grown


def _shape_before(name: str, tensor: Tensor, saved: Mapping[str, Tensor]) -> Tensor:
    """A tensor of the shape that a saved one must have: fewer labels, the rest the same."""
    if name not in _GROWING or name not in saved or saved[name].dim() != tensor.dim():
        return tensor
    dim = _GROWING[name]
    return tensor.narrow(dim, 0, min(saved[name].shape[dim], tensor.shape[dim]))


def _grow(name: str, saved: Tensor, initial: Tensor) -> Tensor:
    """The saved tensor, followed by the initial values of new labels."""
    if name not in _GROWING:
        return saved
    dim = _GROWING[name]
    n_saved = saved.shape[dim]
    new = initial.narrow(dim, n_saved, initial.shape[dim] - n_saved)
    if name == _CAPSULES:
        new = _NEW_ROLE_SCALE * new
    elif name == _NODE:  # the global node does not see a new role at first
        new = torch.zeros_like(new)
    return torch.cat([saved, new], dim)


def _join_vocabs(first: Iterable[str], second: Iterable[str]) -> Vocab:
    return Vocab(dict.fromkeys((*first, *second)))


def _join_lemmatizers(known: Lemmatizer | None, added: Lemmatizer | None) -> Lemmatizer | None:
    """What both know; where they differ the model, which has seen more, decides."""
    if known is None or added is None:
        return known or added
    parts = known.exceptions.keys() | added.exceptions.keys()
    exceptions = {
        part: {**added.exceptions.get(part, {}), **known.exceptions.get(part, {})} for part in parts
    }
    return replace(known, known=known.known | added.known, exceptions=exceptions)
