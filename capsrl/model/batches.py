"""Sentences in, length-bucketed batches of named tensors out."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from capsrl.model.inventory import Inventory, lemma_of
from capsrl.sentence import Sentence

IGNORED = -100  # what torch's losses pass over


@dataclass(frozen=True)
class Indexed:
    """One sentence as numbers, made once and kept.

    length    what it costs in a batch: its words, or its pieces if those are more
    words     source of word vectors -> what it needs of the sentence
    roles     n T  gold role of each word for each of its n predicates
    senses    n    which of the candidates of its lemma each predicate has, or IGNORED
    patterns  n    which pattern makes that sense, or IGNORED
    """

    n_words: int
    length: int
    words: Mapping[str, Any]
    predicates: tuple[int, ...]
    lemmas: tuple[str, ...]
    roles: NDArray[np.int64]
    senses: NDArray[np.int64]
    patterns: NDArray[np.int64]
    tags: NDArray[np.int64] | None


@dataclass(frozen=True)
class Predicates:
    """The predicates of a batch, one row each.

    rows          P    the row of the word vectors each belongs to
    positions     P    where in it the predicate stands
    lemmas        P    lemma ids, for predicates that are looked up
    candidates    P C  ids of the senses of its lemma, 0 beyond them
    n_candidates  P    how many there are; 0 for a lemma never seen
    """

    rows: Tensor
    positions: Tensor
    lemmas: Tensor
    candidates: Tensor
    n_candidates: Tensor

    def to(self, device: torch.device) -> "Predicates":
        """The same tensors on a device."""
        return Predicates(**{f.name: _move(getattr(self, f.name), device) for f in fields(self)})


@dataclass(frozen=True)
class Gold:
    """What the network should answer; IGNORED where nothing is known.

    roles         P T  role ids
    senses        P    which of the candidates
    patterns      P    which of the patterns would make the sense
    is_predicate  B T  1 at predicates, 0 at other words
    tags          B T  part-of-speech ids
    """

    roles: Tensor
    senses: Tensor
    patterns: Tensor
    is_predicate: Tensor
    tags: Tensor

    def to(self, device: torch.device) -> "Gold":
        """The same tensors on a device."""
        return Gold(**{f.name: _move(getattr(self, f.name), device) for f in fields(self)})


@dataclass(frozen=True)
class Batch:
    """Some sentences as tensors.

    inputs      source of word vectors -> its tensors
    mask        B T  True at words
    n_blind     rows whose predicates are not marked: all, or the first ones where marked copies
                of the sentences follow, one per predicate
    """

    inputs: dict[str, dict[str, Tensor]]
    mask: Tensor
    n_blind: int
    n_words: int
    predicates: Predicates
    gold: Gold | None

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on a device."""
        device = torch.device(device)
        return replace(
            self,
            inputs={
                source: {name: _move(tensor, device) for name, tensor in tensors.items()}
                for source, tensors in self.inputs.items()
            },
            mask=_move(self.mask, device),
            predicates=self.predicates.to(device),
            gold=None if self.gold is None else self.gold.to(device),
        )

    def pin(self) -> "Batch":
        """The same batch in page-locked memory, from where a GPU fetches while it computes."""
        if not torch.cuda.is_available():
            return self
        pinned = {k: {n: t.pin_memory() for n, t in v.items()} for k, v in self.inputs.items()}
        return replace(
            self,
            inputs=pinned,
            mask=self.mask.pin_memory(),
            predicates=Predicates(**_pinned(self.predicates)),
            gold=None if self.gold is None else Gold(**_pinned(self.gold)),
        )


def bucket(lengths: Sequence[int], *, batch_words: int, seed: int | None) -> list[list[int]]:
    """Group sentences of like length into batches of about `batch_words` words.

    A batch is filled until its longest sentence times its number would pass `batch_words`. With a
    seed, both who meets whom and the order of the batches are shuffled, the same way for the same
    seed; without, batches come by falling length.
    """
    order = list(range(len(lengths)))
    if seed is None:
        order.sort(key=lambda i: -lengths[i])
    else:
        rng = random.Random(seed)
        # A little noise on the lengths: neighbours are alike, but not the same every epoch.
        noisy = [length + rng.uniform(-0.15, 0.15) * length + rng.random() for length in lengths]
        order.sort(key=lambda i: -noisy[i])
    batches: list[list[int]] = []
    longest = 0
    for i in order:
        longest = max(longest, lengths[i]) if batches and batches[-1] else lengths[i]
        if not batches or (len(batches[-1]) + 1) * longest > batch_words:
            batches.append([])
            longest = lengths[i]
        batches[-1].append(i)
    if seed is not None:
        rng.shuffle(batches)
    return batches


def share_out(items: Sequence[Indexed], *, most: int) -> Iterator[tuple[list[int], list[Indexed]]]:
    """Group the predicates of a batch by the length of their sentences, longest first.

    A group has at most `most` pairs of a predicate and a word, padding counted, or one predicate.
    -> numbers of the sentences in `items`, and each with only those predicates that are in the
       group; a sentence of many predicates is in several
    """
    numbers: list[int] = []
    parts: list[Indexed] = []
    room = longest = 0  # for predicates; words of the first sentence of the group
    for number in sorted(range(len(items)), key=lambda number: -items[number].n_words):
        item = items[number]
        done = 0
        while done < len(item.predicates):
            if room == 0:
                if parts:
                    yield numbers, parts
                numbers, parts, longest = [], [], item.n_words
                room = max(most // longest, 1)
            numbers.append(number)
            if done == 0 and len(item.predicates) <= room:
                parts.append(item)
            else:
                taken = slice(done, done + room)
                parts.append(
                    replace(item, predicates=item.predicates[taken], lemmas=item.lemmas[taken])
                )
            room -= len(parts[-1].predicates)
            done += len(parts[-1].predicates)
    if parts:
        yield numbers, parts


def index_sentence(
    sentence: Sentence,
    inventory: Inventory,
    words: Mapping[str, Any],
    length: int,
    *,
    gold: bool = True,
) -> Indexed:
    """Look everything but the word vectors up, once and for all.

    words   what each source of word vectors needs of the sentence
    length  what it costs in a batch
    gold    with the answers; else only where the predicates are, not even their lemmas
    """
    n_words = len(sentence.words)
    if not gold:
        none = np.zeros(0, dtype=np.int64)
        return Indexed(
            n_words=n_words,
            length=length,
            words=words,
            predicates=sentence.predicates,
            lemmas=(),
            roles=none,
            senses=none,
            patterns=none,
            tags=None,
        )
    lemmas = tuple(lemma_of(sentence, position) for position in sentence.predicates)
    senses = [proposition.sense for proposition in sentence.propositions]
    roles = np.zeros((len(sentence.propositions), n_words), dtype=np.int64)
    for row, proposition in enumerate(sentence.propositions):
        # Of a word's several roles (A0|AM-LOC) the first counts: a softmax gives one answer.
        for argument in reversed(proposition.arguments):
            roles[row, argument.word] = inventory.role_id(argument.role)
    return Indexed(
        n_words=n_words,
        length=length,
        words=words,
        predicates=sentence.predicates,
        lemmas=lemmas,
        roles=roles,
        senses=_array(
            [_sense_index(*pair, inventory) for pair in zip(senses, lemmas, strict=True)]
        ),
        patterns=_array([_pattern(*pair, inventory) for pair in zip(senses, lemmas, strict=True)]),
        tags=_array(inventory.tags.ids(sentence.tags)) if sentence.tags else None,
    )


def collate_predicates(
    rows: Sequence[int], positions: Sequence[int], lemmas: Sequence[str], inventory: Inventory
) -> Predicates:
    """The tensors of predicates, each given by its row, its position and its lemma."""
    candidates = [inventory.candidates_of(lemma) for lemma in lemmas]
    padded = np.zeros((len(rows), max((len(ids) for ids in candidates), default=0) or 1), np.int64)
    for row, ids in enumerate(candidates):
        padded[row, : len(ids)] = ids
    return Predicates(
        rows=torch.tensor(rows, dtype=torch.long),
        positions=torch.tensor(positions, dtype=torch.long),
        lemmas=torch.tensor([inventory.lemmas.id(lemma) for lemma in lemmas], dtype=torch.long),
        candidates=torch.from_numpy(padded),
        n_candidates=torch.tensor([len(ids) for ids in candidates], dtype=torch.long),
    )


def collate_gold(items: Sequence[Indexed], n_words: int) -> Gold:
    """What the network should answer for these sentences, padded to `n_words`."""
    n_predicates = sum(len(item.predicates) for item in items)
    roles = np.full((n_predicates, n_words), IGNORED, dtype=np.int64)
    words = {
        name: np.full((len(items), n_words), IGNORED, dtype=np.int64)
        for name in ("is_predicate", "tags")
    }
    first = 0
    for number, item in enumerate(items):
        roles[first : first + len(item.predicates), : item.n_words] = item.roles
        first += len(item.predicates)
        words["is_predicate"][number, : item.n_words] = 0
        words["is_predicate"][number, list(item.predicates)] = 1
        if item.tags is not None:
            words["tags"][number, : item.n_words] = item.tags
    none = [np.zeros(0, dtype=np.int64)]
    return Gold(
        roles=torch.from_numpy(roles),
        senses=torch.from_numpy(np.concatenate([item.senses for item in items] or none)),
        patterns=torch.from_numpy(np.concatenate([item.patterns for item in items] or none)),
        **{name: torch.from_numpy(array) for name, array in words.items()},
    )


def _sense_index(sense: str | None, lemma: str, inventory: Inventory) -> int:
    names = [inventory.senses[i] for i in inventory.candidates_of(lemma)]
    return names.index(sense) if sense in names else IGNORED


def _pattern(sense: str | None, lemma: str, inventory: Inventory) -> int:
    pattern = None if sense is None else inventory.pattern_id(sense, lemma)
    return IGNORED if pattern is None else pattern


def _array(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def _move(tensor: Tensor, device: torch.device) -> Tensor:
    return tensor.to(device, non_blocking=True)


def _pinned(tensors: Predicates | Gold) -> dict[str, Tensor]:
    return {f.name: getattr(tensors, f.name).pin_memory() for f in fields(tensors)}
