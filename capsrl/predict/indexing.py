"""Turn sentences into numbers: what labeling and training need of each, without torch.

`index_sentence` looks everything up once per sentence, `bucket` groups sentences of similar length,
and `group_predicates` their predicates.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from capsrl.predict import Ids, to_ids
from capsrl.predict.candidates import Candidates
from capsrl.predict.inventory import Inventory, lemma_of
from capsrl.sentence import Sentence

IGNORED = -100  # the target that torch's losses ignore
_NONE = np.zeros(0, np.int64)


def _none() -> Ids:
    return _NONE  # always the same array


@dataclass(frozen=True, slots=True)
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
    lemmas: tuple[str, ...] = ()
    candidates: tuple[Candidates, ...] = ()
    roles: Ids = field(default_factory=_none)
    senses: Ids = field(default_factory=_none)
    patterns: Ids = field(default_factory=_none)
    tags: Ids | None = None
    firsts: Ids = field(default_factory=_none)
    lasts: Ids = field(default_factory=_none)
    partial: bool = False


class WordIndex(Protocol):
    """What looks up the words of a sentence; see `WordVectors`."""

    def index(self, sentence: Sentence) -> Mapping[str, Any]:
        """What each source of word vectors needs from a sentence."""

    def length(self, items: Mapping[str, Any], /) -> int:
        """The most positions that any source needs for a sentence in a padded batch."""


def bucket(lengths: Sequence[int], *, batch_words: int, seed: int | None) -> list[list[int]]:
    """Group sentences of similar length into batches of about `batch_words` words.

    The longest sentence of a batch times its number of sentences is at most `batch_words`, unless
    it has a single sentence. With a seed, the composition and the order of the batches are
    shuffled, the same way for the same seed; without one, batches are sorted by decreasing length.
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
                # The longest sentence comes first, so this one decides how far the group is padded.
                room = max(max_pairs // item.n_words, 1)
            taken = slice(done, done + room)
            part = item
            if done or room < len(item.predicates):
                part = with_predicates(
                    item, item.predicates[taken], item.lemmas[taken], item.candidates[taken]
                )
            numbers.append(number)
            group.append(part)
            room -= len(part.predicates)
            done += len(part.predicates)
    if group:
        yield numbers, group


def with_predicates(
    item: IndexedSentence,
    positions: Sequence[int],
    lemmas: Sequence[str] = (),
    candidates: Sequence[Candidates] = (),
) -> IndexedSentence:
    """The same sentence, without gold answers, with predicates at these positions."""
    return IndexedSentence(  # `replace` takes three times as long
        item.n_words,
        item.length,
        item.source_items,
        tuple(positions),
        tuple(lemmas),
        tuple(candidates),
    )


def index_sentence(
    sentence: Sentence,
    vectors: WordIndex,
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
    length = max(n_words, vectors.length(source_items))
    indexed = IndexedSentence(n_words, length, source_items, sentence.predicates, partial=partial)
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
        senses=to_ids([_sense_index(sense, lemma, inventory) for sense, lemma in pairs]),
        patterns=to_ids([_pattern_id(sense, lemma, inventory) for sense, lemma in pairs]),
        tags=to_ids(inventory.tags.ids(tags)) if tags else None,
        firsts=firsts,
        lasts=lasts,
    )


def predicate_arrays(items: Sequence[IndexedSentence], inventory: Inventory) -> dict[str, Ids]:
    """The predicates of some sentences, one row each, as arrays; see `batches.Predicates`."""
    lemmas = [lemma for item in items for lemma in item.lemmas]
    candidates = [each.ids for item in items for each in item.candidates]
    candidates = candidates or [inventory.candidates_of(lemma) for lemma in lemmas]
    widest = max((len(ids) for ids in candidates), default=0) or 1
    padded = np.zeros((len(lemmas), widest), np.int64)
    for row, ids in enumerate(candidates):
        padded[row, : len(ids)] = ids
    return {
        "rows": to_ids([number for number, item in enumerate(items) for _ in item.predicates]),
        "positions": to_ids([position for item in items for position in item.predicates]),
        "candidates": padded,
        "n_candidates": to_ids([len(ids) for ids in candidates]),
    }


def _sense_index(sense: str | None, lemma: str, inventory: Inventory) -> int:
    names = [inventory.senses[i] for i in inventory.candidates_of(lemma)]
    return names.index(sense) if sense in names else IGNORED


def _pattern_id(sense: str | None, lemma: str, inventory: Inventory) -> int:
    pattern = None if sense is None else inventory.pattern_id(sense, lemma)
    return IGNORED if pattern is None else pattern
