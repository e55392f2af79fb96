"""Turn sentences into padded batches of tensors.

`index_sentence` looks everything up once per sentence, `bucket` groups sentences of similar length,
and `collate` pads a group to a `Batch`.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from capsrl.model.candidates import Candidates
from capsrl.model.embeddings import WordVectors
from capsrl.model.embeddings.source import Inputs
from capsrl.model.inventory import Inventory, lemma_of
from capsrl.sentence import Sentence

IGNORED = -100  # the target that torch's losses ignore


@dataclass(frozen=True)
class IndexedSentence:
    """One sentence as numbers, computed once and reused in every epoch.

    length        positions it takes in a padded batch: its words, or its subwords if more
    source_items  source of word vectors -> the sentence as that source reads it
    predicates    n    positions
    lemmas        n    of the predicates
    candidates    n    their possible senses in this sentence; empty in training, where the senses
                       of the lemma are the candidates
    roles         n T  gold role of each word for each predicate
    senses        n    index of the gold sense among the candidates of the lemma, or IGNORED
    patterns      n    the pattern of that sense, or IGNORED
    tags          T    part-of-speech ids, None if unknown
    firsts, lasts n T  first and last word of the phrase of each argument, IGNORED at other words
                       and where the phrase is unknown
    partial       only some of its predicates are annotated
    """

    n_words: int
    length: int
    source_items: Mapping[str, Any]
    predicates: tuple[int, ...]
    lemmas: tuple[str, ...]
    roles: NDArray[np.int64]
    senses: NDArray[np.int64]
    patterns: NDArray[np.int64]
    tags: NDArray[np.int64] | None
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    partial: bool = False
    candidates: tuple[Candidates, ...] = ()


@dataclass(frozen=True)
class Predicates:
    """The predicates of a batch, one row each.

    rows          P    row of the sentence in the batch
    positions     P    position of the predicate in its sentence
    lemmas        P    lemma ids, for predicates that are embedded by lemma
    candidates    P C  ids of the senses of the lemma, then padding
    n_candidates  P    number of candidates; 0 for a lemma that training did not have
    """

    rows: Tensor
    positions: Tensor
    lemmas: Tensor
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


def bucket(lengths: Sequence[int], *, batch_words: int, seed: int | None) -> list[list[int]]:
    """Group sentences of similar length into batches of about `batch_words` words.

    The longest sentence of a batch times its number of sentences is at most `batch_words`, unless
    it has a single sentence. With a seed, the composition and the order of the batches are
    shuffled, the same way for the same seed; without one, batches are sorted by falling length.
    -> the numbers of the sentences of each batch
    """
    order = list(range(len(lengths)))
    if seed is None:
        order.sort(key=lambda i: -lengths[i])
    else:
        rng = random.Random(seed)
        # Noise on the lengths: similar sentences share a batch, but not the same in every epoch.
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


def group_predicates(
    items: Sequence[IndexedSentence], *, max_pairs: int
) -> Iterator[tuple[list[int], list[IndexedSentence]]]:
    """Split the predicates of a batch into groups of bounded size, longest sentences first.

    A group has at most `max_pairs` pairs of a predicate and a word, padding included, or a single
    predicate.
    -> indices in `items` of the sentences of the group, and those sentences with only the
       predicates that are in the group; a sentence of many predicates may be in several groups
    """
    numbers: list[int] = []
    group: list[IndexedSentence] = []
    room = 0  # predicates that the group can still take
    for number in sorted(range(len(items)), key=lambda number: -items[number].n_words):
        item = items[number]
        done = 0
        while done < len(item.predicates):
            if room == 0:
                if group:
                    yield numbers, group
                numbers, group = [], []
                # Sentences come by falling length, so this one decides how far the group is padded.
                room = max(max_pairs // item.n_words, 1)
            taken = slice(done, done + room)
            part = replace(
                item,
                predicates=item.predicates[taken],
                lemmas=item.lemmas[taken],
                candidates=item.candidates[taken],
            )
            numbers.append(number)
            group.append(part)
            room -= len(part.predicates)
            done += len(part.predicates)
    if group:
        yield numbers, group


def index_sentence(
    sentence: Sentence,
    vectors: WordVectors,
    inventory: Inventory,
    *,
    gold: bool = True,
    partial: bool = False,
) -> IndexedSentence:
    """Look up everything that the network needs from a sentence.

    gold     with lemmas and gold answers, for a loss; else with only the positions of its
             predicates
    partial  only some predicates are annotated, and tags may differ from those of the training
             corpus: which words are predicates, tags, and roles that the inventory lacks are
             IGNORED
    """
    n_words = len(sentence.words)
    source_items = vectors.index(sentence)
    none = np.zeros(0, dtype=np.int64)
    indexed = IndexedSentence(
        n_words=n_words,
        length=max(n_words, vectors.length(source_items)),
        source_items=source_items,
        predicates=sentence.predicates,
        lemmas=(),
        roles=none,
        senses=none,
        patterns=none,
        tags=None,
        firsts=none,
        lasts=none,
        partial=partial,
    )
    return _with_gold(indexed, sentence, inventory) if gold else indexed


def _with_gold(
    indexed: IndexedSentence, sentence: Sentence, inventory: Inventory
) -> IndexedSentence:
    lemmas = tuple(lemma_of(sentence, position) for position in sentence.predicates)
    senses = [proposition.sense for proposition in sentence.propositions]
    roles = np.zeros((len(sentence.propositions), indexed.n_words), dtype=np.int64)
    firsts, lasts = (np.full_like(roles, IGNORED) for _ in range(2))
    for row, proposition in enumerate(sentence.propositions):
        # A softmax gives one answer: the first of several roles of a word (A0|AM-LOC) counts.
        for argument in reversed(proposition.arguments):
            ignored = indexed.partial and argument.role not in inventory.roles
            roles[row, argument.word] = IGNORED if ignored else inventory.role_id(argument.role)
            if argument.phrase is not None:
                firsts[row, argument.word] = argument.phrase.first
                lasts[row, argument.word] = argument.phrase.last
    pairs = list(zip(senses, lemmas, strict=True))
    tags = None if indexed.partial else sentence.tags
    return replace(
        indexed,
        lemmas=lemmas,
        roles=roles,
        senses=_array([_sense_index(sense, lemma, inventory) for sense, lemma in pairs]),
        patterns=_array([_pattern_id(sense, lemma, inventory) for sense, lemma in pairs]),
        tags=_array(inventory.tags.ids(tags)) if tags else None,
        firsts=firsts,
        lasts=lasts,
    )


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
    rows = [number for number, item in enumerate(items) for _ in item.predicates]
    if first_copy is not None:
        rows = list(range(first_copy, first_copy + len(rows)))
    positions = [position for item in items for position in item.predicates]
    lemmas = [lemma for item in items for lemma in item.lemmas]
    candidates = [each.ids for item in items for each in item.candidates]
    candidates = candidates or [inventory.candidates_of(lemma) for lemma in lemmas]
    padded = np.zeros((len(rows), max((len(ids) for ids in candidates), default=0) or 1), np.int64)
    for row, ids in enumerate(candidates):
        padded[row, : len(ids)] = ids
    return Predicates(
        rows=torch.tensor(rows, dtype=torch.long),
        positions=torch.tensor(positions, dtype=torch.long),
        lemmas=torch.tensor(inventory.lemmas.ids(lemmas), dtype=torch.long),
        candidates=torch.from_numpy(padded),
        n_candidates=torch.tensor([len(ids) for ids in candidates], dtype=torch.long),
    )


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


def _sense_index(sense: str | None, lemma: str, inventory: Inventory) -> int:
    names = [inventory.senses[i] for i in inventory.candidates_of(lemma)]
    return names.index(sense) if sense in names else IGNORED


def _pattern_id(sense: str | None, lemma: str, inventory: Inventory) -> int:
    pattern = None if sense is None else inventory.pattern_id(sense, lemma)
    return IGNORED if pattern is None else pattern


def _array(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
