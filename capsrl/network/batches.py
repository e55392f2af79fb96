"""Pad sentences that `capsrl.predict.indexing` has indexed to batches of tensors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

from capsrl.network.embeddings.source import Inputs, WordVectors
from capsrl.predict.indexing import IGNORED, IndexedSentence, predicate_arrays
from capsrl.predict.inventory import Inventory


@dataclass(frozen=True)
class Predicates:
    """The predicates of a batch, one row each.

    rows          P    row of the sentence in the batch
    positions     P    position of the predicate in its sentence
    candidates    P C  ids of the senses of the lemma, then padding
    n_candidates  P    number of candidates; 0 for a lemma that training did not have
    """

    rows: Tensor
    positions: Tensor
    candidates: Tensor
    n_candidates: Tensor

    def to(self, device: torch.device) -> "Predicates":
        """The same tensors on a device."""
        return map_leaves(self, Tensor, lambda tensor: tensor.to(device, non_blocking=True))


@dataclass(frozen=True)
class Gold:
    """The targets of training; IGNORED where the answer is unknown or there is no word.

    roles         P T  role ids
    senses        P    index among the candidates
    patterns      P    pattern ids
    firsts, lasts P T  first and last word of the phrase of each argument
    is_predicate  B T  1 at predicates, 0 at other words
    tags          B T  part-of-speech ids
    """

    roles: Tensor
    firsts: Tensor
    lasts: Tensor
    senses: Tensor
    patterns: Tensor
    is_predicate: Tensor
    tags: Tensor


@dataclass(frozen=True)
class SparseTargets:
    """Probabilities of classes, one entry for each that is not 0.

    rows   n  index of the word or predicate that the probability belongs to
    ids    n  class
    probs  n
    """

    rows: Tensor
    ids: Tensor
    probs: Tensor


@dataclass(frozen=True)
class SoftTargets:
    """The predictions of teachers, as probabilities.

    predicate_probs   B T
    tags              rows are B T flattened; None if the teachers have no tagger
    senses, patterns  rows are P; classes are candidates of the lemma, or patterns
    roles             rows are P T flattened, after each iteration; without NO_ROLE, which has the
                      rest of the probability
    firsts, lasts     rows are P T flattened, classes are positions of words; only for words that
                      have a role. None if the teachers do not score phrases
    """

    predicate_probs: Tensor
    tags: SparseTargets | None
    senses: SparseTargets
    patterns: SparseTargets
    roles: tuple[SparseTargets, ...]
    firsts: SparseTargets | None = None
    lasts: SparseTargets | None = None


@dataclass(frozen=True)
class Batch:
    """Some sentences as tensors.

    inputs      source of word vectors -> its tensors
    mask        B T  True at words
    n_unmarked  how many rows have no marked predicate. If the network marks predicates, the first
                rows are the sentences without a mark, in which predicates are found; copies of the
                sentences follow, one per predicate, with that predicate marked. Else all rows
    n_words     words of the sentences, without padding and copies
    soft        the targets of distillation, instead of gold
    """

    inputs: Mapping[str, Inputs]
    mask: Tensor
    n_unmarked: int
    n_words: int
    predicates: Predicates
    gold: Gold | None
    soft: SoftTargets | None = None

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        return map_leaves(self, Tensor, lambda tensor: tensor.to(device, non_blocking=True))

    def pin(self) -> "Batch":
        """The same batch in page-locked memory, from which a GPU copies while it computes."""
        return map_leaves(self, Tensor, Tensor.pin_memory) if torch.cuda.is_available() else self


Value = TypeVar("Value")


def map_leaves(value: Value, kind: type, function: Callable[[Any], Any]) -> Value:
    """Apply a function to everything of a type in nested dataclasses, mappings and tuples."""
    found: Any = value
    if isinstance(found, kind):
        found = function(found)
    elif is_dataclass(found) and not isinstance(found, type):
        parts = {f.name: map_leaves(getattr(found, f.name), kind, function) for f in fields(found)}
        found = replace(found, **parts)
    elif isinstance(found, Mapping):
        found = {key: map_leaves(part, kind, function) for key, part in found.items()}
    elif isinstance(found, tuple):
        found = tuple(map_leaves(part, kind, function) for part in found)
    result: Value = found
    return result


def collate(
    items: Sequence[IndexedSentence],
    vectors: WordVectors,
    inventory: Inventory,
    *,
    mark_predicate: bool,
    gold: bool = True,
    unmarked: bool = True,
) -> Batch:
    """Pad sentences together to a batch, on the CPU.

    mark_predicate  add a copy of its sentence for each predicate, with that predicate marked
    gold            with gold answers, for a loss
    unmarked        if predicates are marked: also the sentences without a mark
    """
    sentences = list(items) if unmarked or not mark_predicate else []
    marked: list[int | None] = [None] * len(sentences)
    first_copy = None
    if mark_predicate:
        first_copy = len(sentences)
        sentences += [item for item in items for _ in item.predicates]
        marked += [position for item in items for position in item.predicates]
    lengths = torch.tensor([item.n_words for item in sentences], dtype=torch.long)
    n_words = int(lengths.max()) if len(sentences) else 0
    return Batch(
        inputs=vectors.collate([item.source_items for item in sentences], marked=marked),
        mask=torch.arange(n_words) < lengths[:, None],
        n_unmarked=len(items) if unmarked else 0,
        n_words=sum(item.n_words for item in items),
        predicates=collate_predicates(items, inventory, first_copy=first_copy),
        gold=collate_gold(items, n_words) if gold else None,
    )


def collate_predicates(
    items: Sequence[IndexedSentence], inventory: Inventory, *, first_copy: int | None = None
) -> Predicates:
    """The predicates of some sentences, which are the rows of a batch.

    first_copy  the row of the first marked copy, if every predicate has a copy of its sentence
    """
    arrays = predicate_arrays(items, inventory)
    if first_copy is not None:
        arrays["rows"] = np.arange(first_copy, first_copy + len(arrays["rows"]))
    return Predicates(**{name: torch.from_numpy(array) for name, array in arrays.items()})


def collate_gold(items: Sequence[IndexedSentence], n_words: int) -> Gold:
    """The gold answers of some sentences, padded to `n_words`."""
    n_predicates = sum(len(item.predicates) for item in items)
    pairs = {
        name: np.full((n_predicates, n_words), IGNORED, dtype=np.int64)
        for name in ("roles", "firsts", "lasts")
    }
    words = {
        name: np.full((len(items), n_words), IGNORED, dtype=np.int64)
        for name in ("is_predicate", "tags")
    }
    first = 0
    for number, item in enumerate(items):
        for name, array in pairs.items():
            array[first : first + len(item.predicates), : item.n_words] = getattr(item, name)
        first += len(item.predicates)
        # Of a partial annotation only positive examples are known, which alone would teach the
        # network that most words are predicates.
        if not item.partial:
            words["is_predicate"][number, : item.n_words] = 0
            words["is_predicate"][number, list(item.predicates)] = 1
        if item.tags is not None:
            words["tags"][number, : item.n_words] = item.tags
    none = [np.zeros(0, dtype=np.int64)]
    return Gold(
        senses=torch.from_numpy(np.concatenate([item.senses for item in items] or none)),
        patterns=torch.from_numpy(np.concatenate([item.patterns for item in items] or none)),
        **{name: torch.from_numpy(array) for name, array in (pairs | words).items()},
    )
