"""Predict the propositions of one batch of sentences."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsrl.data.frame_index import NO_FRAMES, FrameIndex
from capsrl.errors import ConfigError
from capsrl.model.backend import Backend, Ids
from capsrl.model.calibration import Calibration, counts_of_senses, sigmoid
from capsrl.model.candidates import CandidateFinder
from capsrl.model.decode import decode
from capsrl.model.indexing import IndexedSentence, group_predicates, with_predicates
from capsrl.model.inventory import Inventory
from capsrl.options import Options
from capsrl.sentence import Proposition, Sentence
from capsrl.text.lemmatizer import predicate_pos


class Predictor:
    """Turns what a network makes of sentences into propositions.

    backend      runs the network
    frames       say what senses and roles mean
    calibration  of the probabilities; None leaves them as the network gives them
    """

    def __init__(
        self,
        backend: Backend,
        frames: FrameIndex = NO_FRAMES,
        calibration: Calibration | None = None,
    ) -> None:
        self.backend = backend
        self.frames = frames
        self.calibration = calibration
        self._sense_counts = counts_of_senses(backend.inventory)
        self._candidates = CandidateFinder(backend.inventory)

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words of the network."""
        return self.backend.inventory

    def label_batch(
        self, sentences: Sequence[Sentence], items: Sequence[IndexedSentence], options: Options
    ) -> list[Sentence]:
        """Label sentences that fit into memory together.

        items    the sentences, indexed by the backend
        options  with `predicates` marked or found; `auto` has been decided before
        """
        reading = predicate_probs = None
        # A network that marks predicates encodes each group again; it needs the unmarked
        # sentences only to find predicates and tags.
        untagged = self.backend.has_tagger and not all(s.tags for s in sentences)
        if options.predicates == "found" or untagged or not self.backend.marks_predicates:
            reading = self.backend.read(items)
            if reading.tags is not None:
                sentences = add_tags(sentences, reading.tags, self.inventory)
        if options.predicates == "found":
            assert reading is not None
            predicate_probs = sigmoid(reading.predicates)
            items = [
                with_predicates(item, np.flatnonzero(row > 0).tolist())
                for item, row in zip(items, reading.predicates, strict=True)
            ]
        items = [
            self._with_candidates(_keep_pos(item, sentence, options), sentence, options)
            for item, sentence in zip(items, sentences, strict=True)
        ]
        propositions: list[list[Proposition]] = [[] for _ in items]
        for numbers, group in group_predicates(items, max_pairs=self.backend.max_pairs):
            decoded = decode(
                self.backend.score(
                    reading, group, numbers, n_iterations=options.iterations, trace=options.trace
                ),
                positions=[position for item in group for position in item.predicates],
                candidates=[each for item in group for each in item.candidates],
                lengths=[item.n_words for item in group for _ in item.predicates],
                inventory=self.inventory,
                trace=options.trace,
                frames=self.frames,
            )
            owners = [n for n, item in zip(numbers, group, strict=True) for _ in item.predicates]
            if predicate_probs is not None:
                decoded = _with_predicate_probs(decoded, owners, predicate_probs)
            if self.calibration is not None and not options.raw:
                decoded = self.calibration.apply(decoded, self._sense_counts)
            for owner, proposition in zip(owners, decoded, strict=True):
                if _is_probable(proposition, options):
                    kept = _with_probable_arguments(proposition, options.threshold)
                    propositions[owner].append(kept)
        return [s.with_propositions(p) for s, p in zip(sentences, propositions, strict=True)]

    def _with_candidates(
        self, item: IndexedSentence, sentence: Sentence, options: Options
    ) -> IndexedSentence:
        """Add lemmas and candidate senses; leave out found words that cannot be predicates."""
        item = add_lemmas(item, sentence, self.inventory)
        kept = [
            (position, lemma, candidates)
            for position, lemma in zip(item.predicates, item.lemmas, strict=True)
            for candidates in [self._candidates.find(sentence, position, lemma)]
            if options.predicates == "marked"
            or self._candidates.is_predicate(sentence, position, candidates)
        ]
        positions, lemmas, found = zip(*kept, strict=True) if kept else ((), (), ())
        return replace(item, predicates=positions, lemmas=lemmas, candidates=found)


def add_tags(sentences: Sequence[Sentence], ids: Ids, inventory: Inventory) -> Sequence[Sentence]:
    """The sentences with predicted tags, except for those that have tags.

    ids  B T
    """
    if all(sentence.tags for sentence in sentences):
        return sentences
    tags = list(inventory.tags)
    return [
        sentence
        if sentence.tags
        else replace(sentence, tags=tuple(tags[tag] for tag in row[: len(sentence.words)]))
        for sentence, row in zip(sentences, ids.tolist(), strict=True)
    ]


def add_lemmas(item: IndexedSentence, sentence: Sentence, inventory: Inventory) -> IndexedSentence:
    """Add the lemmas of the predicates: those of the sentence, or found by form and tag."""
    if sentence.lemmas is not None:
        lemmas = [sentence.lemmas[position].lower() for position in item.predicates]
    elif inventory.lemmatizer is None:
        lemmas = [sentence.words[position].lower() for position in item.predicates]
    else:
        tags = sentence.tags or (None,) * len(sentence.words)
        lemmas = [
            inventory.lemmatizer.find(sentence.words[position], tags[position])
            for position in item.predicates
        ]
    return replace(item, lemmas=tuple(lemmas))


def _with_predicate_probs(
    propositions: Sequence[Proposition], rows: Sequence[int], probs: NDArray[np.float64]
) -> list[Proposition]:
    """The propositions with the probabilities of their predicates.

    rows   P    the row of each proposition in `probs`
    probs  B T  how likely each word is a predicate
    """
    return [
        replace(each, predicate_probability=float(probs[row, each.predicate]))
        for row, each in zip(rows, propositions, strict=True)
    ]


def _is_probable(proposition: Proposition, options: Options) -> bool:
    """Whether the probabilities of sense and whole proposition reach their thresholds."""
    assert proposition.probability is not None and proposition.joint_probability is not None
    return (
        proposition.probability >= options.sense_threshold
        and proposition.joint_probability >= options.proposition_threshold
    )


def _with_probable_arguments(proposition: Proposition, threshold: float) -> Proposition:
    """The proposition with those arguments whose probability reaches the threshold."""
    if threshold == 0:
        return proposition
    kept = tuple(a for a in proposition.arguments if (a.probability or 0.0) >= threshold)
    return replace(proposition, arguments=kept)


def _keep_pos(item: IndexedSentence, sentence: Sentence, options: Options) -> IndexedSentence:
    """Only the predicates with the requested parts of speech."""
    if options.pos is None:
        return item
    tags = sentence.tags
    if tags is None:
        raise ConfigError(
            "pos: expected words with tags, or a model with a tagger, got neither; without tags "
            "predicates cannot be selected by part of speech"
        )
    return with_predicates(
        item, [p for p in item.predicates if predicate_pos(tags[p]) in options.pos]
    )
