"""Noise for soft labels: a student reads noisy words with the teachers' answers for clean ones.

casual     typed in haste: *i dont know if ill come*, with *u* and *gonna*, with typos, without
           commas or final punctuation
headlines  without determiners and forms of *be*, with *to* for *will*: *Mayor accused of lying*,
           *Apple to open store*

A word that is left out takes its tag and roles along, a predicate its proposition. Phrases that
began or ended with it now do so with the next or the previous word.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from capsrl.train.soft_labels import SPARSE, Array, SoftLabels, SparseProbs
from teachers.noisy_words import Clean, Noisy, make_casual, make_headline

_TO = "TO"  # the tag of *to*


@dataclass(frozen=True)
class Noise:
    """Shares of the sentences that are replaced by noisy ones."""

    casual: float = 0.0
    headlines: float = 0.0


NO_NOISE = Noise()


def add_noise(
    labels: SoftLabels,
    noise: Noise,
    *,
    seed: int,
    tags: Sequence[str],
    find_lemma: Callable[[str, str], str],
    length_of: Callable[[Sequence[str]], int],
) -> SoftLabels:
    """Replace some sentences by noisy ones; the same seed gives the same.

    tags        names of the tags, by id
    find_lemma  finds the lemma of a predicate by word and tag, as for clean text. If it is not
                that of the clean word, the predicate has no senses: ids count the candidates of a
                lemma
    length_of   positions that some words take in a batch
    """
    rng = random.Random(seed)
    clean, noisy = _Clean(labels, tags), {}
    for number in range(len(labels)):
        draw = rng.random()
        if draw < noise.casual + noise.headlines:
            sentence = clean.sentence(number)
            made = make_casual(sentence, rng) if draw < noise.casual else make_headline(sentence)
            if made != sentence.words:
                noisy[number] = made
    return _replace(clean, noisy, find_lemma, length_of) if noisy else labels


class _Clean:
    """Soft labels of sentences, with what is needed to find words in their flat arrays.

    first_words  number of the first word of each sentence, then of all words
    sentences    P  of each predicate
    places       P  number of the word of each predicate
    """

    def __init__(self, labels: SoftLabels, tags: Sequence[str]) -> None:
        self.labels = labels
        self.first_words = np.cumsum([0, *(len(words) for words in labels.words)])
        self.sentences = np.repeat(np.arange(len(labels)), labels.n_predicates)
        self.places = self.first_words[self.sentences] + labels.positions
        self.tags = list(tags)
        self._is_predicate, self._is_argument = np.zeros((2, self.first_words[-1]), bool)
        self._is_predicate[self.places] = True
        last = max((name for name in labels.sparse if name.startswith("roles.")), key=_iteration)
        roles = labels.sparse[last]
        self._is_argument[self.places_of(last)[roles.probs >= 0.5]] = True
        self._tag_ids: Array | None = None
        if "tags" in labels.sparse:
            found = labels.sparse["tags"]
            order = np.argsort(found.probs, kind="stable")  # the last assignment counts
            self._tag_ids = np.zeros(self.first_words[-1], np.int64)
            self._tag_ids[self.places_of("tags")[order]] = found.ids[order]

    def sentences_of(self, name: str) -> Array:
        """The numbers of the sentences that probabilities belong to."""
        owners = self.labels.sparse[name].owners
        found: Array = owners if name == "tags" else self.sentences[owners]
        return found

    def places_of(self, name: str) -> Array:
        """The numbers of the words that probabilities belong to."""
        places: Array = self.first_words[self.sentences_of(name)] + self.labels.sparse[name].words
        return places

    def tag(self, place: int) -> str:
        return "" if self._tag_ids is None else self.tags[self._tag_ids[place]]

    def sentence(self, number: int) -> Clean:
        first, end = self.first_words[number : number + 2].tolist()
        return Clean(
            self.labels.words[number],
            [self.tag(place) for place in range(first, end)],
            self._is_predicate[first:end].tolist(),
            self._is_argument[first:end].tolist(),
        )


def _iteration(name: str) -> int:
    return int(name.removeprefix("roles."))


def _replace(
    clean: _Clean,
    noisy: Mapping[int, Noisy],
    find_lemma: Callable[[str, str], str],
    length_of: Callable[[Sequence[str]], int],
) -> SoftLabels:
    """The soft labels with noisy sentences in place of the clean ones of the same numbers."""
    labels = clean.labels
    words, lengths = list(labels.words), labels.lengths.copy()
    is_kept = np.ones(clean.first_words[-1], bool)
    is_new, is_to = np.zeros((2, len(is_kept)), bool)
    for number, made in noisy.items():
        pairs = list(zip(labels.words[number], made, strict=True))
        words[number] = [new for new in made if new is not None]
        lengths[number] = length_of(words[number])
        places = slice(*clean.first_words[number : number + 2])
        is_kept[places] = [new is not None for new in made]
        is_new[places] = [old != new for old, new in pairs]
        is_to[places] = [old.lower() == "will" and new == "to" for old, new in pairs]
    moves = _Moves(clean, is_kept, is_to)
    positions = moves.before[clean.places]
    lemmas = list(labels.lemmas)
    for number in np.flatnonzero(is_new[clean.places] & moves.stays).tolist():
        word = words[clean.sentences[number]][positions[number]]
        lemmas[number] = find_lemma(word, clean.tag(clean.places[number]))
    is_same = np.array([old == new for old, new in zip(labels.lemmas, lemmas, strict=True)], bool)
    return SoftLabels(
        words=words,
        lemmas=[lemma for lemma, stays in zip(lemmas, moves.stays, strict=True) if stays],
        lengths=lengths,
        predicate_probs=labels.predicate_probs[is_kept],
        n_predicates=np.bincount(clean.sentences[moves.stays], minlength=len(labels)).astype(
            labels.n_predicates.dtype
        ),
        positions=positions[moves.stays].astype(labels.positions.dtype),
        sparse={name: moves.apply(name, is_same) for name in labels.sparse},
    )


class _Moves:
    """Where the words and the predicates of clean sentences are in the noisy ones.

    is_kept  whether each word is in the noisy sentence
    is_to    whether it was *will* and is *to*, which has no role
    before   number of words that are kept before each word: the position of a kept word, and that
             of the next kept one for others
    stays    P  whether each predicate is in the noisy sentence
    """

    def __init__(self, clean: _Clean, is_kept: Array, is_to: Array) -> None:
        self._clean = clean
        self._is_kept, self._is_to = is_kept, is_to
        counts = np.concatenate([[0], np.cumsum(is_kept)])
        firsts = counts[clean.first_words]
        self._n_words = np.diff(firsts)
        self.before = counts[:-1] - np.repeat(firsts[:-1], np.diff(clean.first_words))
        self.stays = is_kept[clean.places]
        self._numbers = np.cumsum(self.stays) - 1

    def apply(self, name: str, is_same: Array) -> SparseProbs:
        """The probabilities of what stays.

        is_same  P  whether the lemma of each predicate is as before
        """
        sparse = self._clean.labels.sparse[name]
        if name == "tags":
            return self._tags(sparse)
        keep, owners = self.stays[sparse.owners], self._numbers[sparse.owners]
        if name in ("senses", "patterns"):
            if name == "senses":
                keep &= is_same[sparse.owners]
            return _select(sparse, keep, owners, sparse.words, sparse.ids)
        places = self._clean.places_of(name)
        keep &= self._is_kept[places] & ~self._is_to[places]
        ids = sparse.ids
        if name in ("firsts", "lasts"):  # the classes are positions of words
            sentences = self._clean.sentences_of(name)
            ids = self.before[self._clean.first_words[sentences] + ids]
            if name == "lasts":
                ids = ids - ~self._is_kept[self._clean.first_words[sentences] + sparse.ids]
            ids = ids.clip(0, self._n_words[sentences] - 1)
        return _join(_select(sparse, keep, owners, self.before[places], ids))

    def _tags(self, sparse: SparseProbs) -> SparseProbs:
        """The probabilities of tags; that of *to* is certain."""
        places = self._clean.places_of("tags")
        is_to = self._is_to if _TO in self._clean.tags else np.zeros_like(self._is_to)
        keep = self._is_kept[places] & ~is_to[places]
        kept = _select(sparse, keep, sparse.owners, self.before[places], sparse.ids)
        new = np.flatnonzero(is_to)
        owners = np.searchsorted(self._clean.first_words, new, side="right") - 1
        ids = np.full(len(new), self._clean.tags.index(_TO) if len(new) else 0)
        added = (owners, self.before[new], ids, np.ones(len(new)))
        columns = [
            np.concatenate([getattr(kept, part), column.astype(getattr(kept, part).dtype)])
            for part, column in zip(SPARSE, added, strict=True)
        ]
        order = np.lexsort((columns[1], columns[0]))
        return SparseProbs(*(column[order] for column in columns))


def _select(
    sparse: SparseProbs, keep: Array, owners: Array, words: Array, ids: Array
) -> SparseProbs:
    """The entries to keep, with other owners, words and classes."""
    return SparseProbs(
        owners[keep].astype(sparse.owners.dtype),
        words[keep].astype(sparse.words.dtype),
        ids[keep].astype(sparse.ids.dtype),
        sparse.probs[keep],
    )


def _join(sparse: SparseProbs) -> SparseProbs:
    """Add up the probabilities of the same class, which are neighbors: no order has changed."""
    columns = np.stack([sparse.owners, sparse.words, sparse.ids])
    is_first = np.append(True, (np.diff(columns) != 0).any(0))[: columns.shape[1]]
    if is_first.all():
        return sparse
    probs = np.add.reduceat(sparse.probs.astype(np.float32), np.flatnonzero(is_first))
    return SparseProbs(
        sparse.owners[is_first],
        sparse.words[is_first],
        sparse.ids[is_first],
        probs.clip(max=1).astype(sparse.probs.dtype),
    )
