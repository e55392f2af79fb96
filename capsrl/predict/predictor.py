"""Predict the propositions of sentences, batch by batch."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from capsrl.device import default_threads
from capsrl.errors import ConfigError, DataError
from capsrl.frames.index import NO_FRAMES, FrameIndex
from capsrl.options import AUTO_SENTENCES, Options, decide_predicates
from capsrl.predict import Ids
from capsrl.predict.backend import Backend, EncodedBatch
from capsrl.predict.calibration import Calibration, counts_of_senses, group_of, sigmoid
from capsrl.predict.candidates import CandidateFinder
from capsrl.predict.consistency import Consistency
from capsrl.predict.decode import Decoded, build_propositions, check_scores, decode
from capsrl.predict.indexing import IndexedSentence, bucket, group_predicates, with_predicates
from capsrl.predict.inventory import Inventory, lemma_of
from capsrl.sentence import Proposition, Sentence
from capsrl.text.lemmatizer import predicate_pos

LIGHT_VERB = ".LV"  # ends the senses of light verbs: give.LV
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


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
        self._light_verbs = {
            sense.removesuffix(LIGHT_VERB)
            for sense in backend.inventory.senses
            if sense.endswith(LIGHT_VERB)
        }
        self._consistency = Consistency(backend.inventory)

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words of the network."""
        return self.backend.inventory

    def label_stream(
        self,
        sentences: Iterable[Sentence],
        options: Options,
        *,
        batch_size: int | None = None,
        threads: int | None = None,
    ) -> Iterator[Sentence]:
        """Label a stream of sentences in order; the backend decides how many are read ahead.

        batch_size  maximum number of sentences in a batch; default: limited by words
        threads     maximum number of CPU threads; default: chosen by how busy the machine is
        """
        decided = None
        # `auto` is decided by the first AUTO_SENTENCES, however few the backend reads ahead.
        for chunk in _read_ahead(sentences, max(self.backend.chunk_sentences, AUTO_SENTENCES)):
            decided = decided or decide_predicates(options, chunk)
            if options.predicates == "auto" and decided.predicates == "found":
                if any(sentence.propositions for sentence in chunk):
                    warnings.warn(
                        f"predicates: none of the first {AUTO_SENTENCES:,} sentences marks any, so "
                        "those of all are found; predicates='marked' takes the marks of later ones",
                        stacklevel=2,
                    )
                    options = decided  # one warning is enough
            yield from self.label(chunk, decided, batch_size, threads or default_threads())

    def label(
        self,
        sentences: Sequence[Sentence],
        options: Options,
        batch_size: int | None = None,
        threads: int = 1,
    ) -> list[Sentence]:
        """Label sentences in batches of similar length.

        options  with `predicates` marked or found; `auto` has been decided before
        """
        labeled = list(sentences)
        items: dict[int, IndexedSentence] = {}
        for number, sentence in enumerate(sentences):
            if sentence.words and (options.predicates == "found" or sentence.propositions):
                items[number] = self.backend.index(sentence)
            else:
                labeled[number] = sentence.with_propositions(())
        batches = _make_batches(items, self.backend.batch_words, batch_size)

        def label(batch: Sequence[int]) -> list[Sentence]:
            members = [items[number] for number in batch]
            with self.backend.prepare(sum(item.length for item in members), threads):
                return self.label_batch([sentences[n] for n in batch], members, options)

        concurrent = threads if self.backend.concurrent is None else self.backend.concurrent
        for batch, answers in zip(batches, _map(label, batches, concurrent), strict=True):
            for number, answer in zip(batch, answers, strict=True):
                labeled[number] = answer
        return labeled

    def label_batch(
        self, sentences: Sequence[Sentence], items: Sequence[IndexedSentence], options: Options
    ) -> list[Sentence]:
        """Label sentences that fit into memory together.

        items    the sentences, indexed by the backend
        """
        encoded = predicate_probs = None
        # A network that marks predicates encodes each group again; it needs the unmarked
        # sentences only to find predicates and tags.
        untagged = self.backend.has_tagger and not all(s.tags for s in sentences)
        if options.predicates == "found" or untagged or not self.backend.marks_predicates:
            encoded = self.backend.encode(items)
            is_word = np.arange(encoded.predicates.shape[1]) < [[each.n_words] for each in items]
            check_scores(encoded.predicates[is_word])
            if encoded.tags is not None:
                sentences = add_tags(sentences, encoded.tags, self.inventory)
        positions: list[Sequence[int]] = [item.predicates for item in items]
        if options.predicates == "found":
            assert encoded is not None
            predicate_probs = sigmoid(encoded.predicates)
            positions = find_predicates(encoded.predicates > 0)
        items = [
            self._with_candidates(
                item, self._keep_pos(chosen, sentence, options), sentence, options
            )
            for item, chosen, sentence in zip(items, positions, sentences, strict=True)
        ]
        propositions: list[list[Proposition]] = [[] for _ in items]
        for numbers, group in group_predicates(items, max_pairs=self.backend.max_pairs):
            owners = [n for n, item in zip(numbers, group, strict=True) for _ in item.predicates]
            decoded = self._label_group(encoded, group, numbers, predicate_probs, owners, options)
            of_predicates = [sentences[owner] for owner in owners]
            found = build_propositions(decoded, of_predicates, options, self.frames)
            for owner, proposition in zip(owners, found, strict=True):
                if proposition is not None:
                    propositions[owner].append(proposition)
        lemmatizer = self.inventory.lemmatizer
        return [
            replace(
                sentence,
                propositions=_without_others(each, sentence, options),
                lemmas=sentence.lemmas if lemmatizer is None else lemmatizer.lemmas(sentence),
            )
            for sentence, each in zip(sentences, propositions, strict=True)
        ]

    def _label_group(
        self,
        encoded: EncodedBatch | None,
        group: Sequence[IndexedSentence],
        numbers: Sequence[int],
        predicate_probs: NDArray[np.float64] | None,
        owners: Sequence[int],
        options: Options,
    ) -> Decoded:
        """The senses and arguments of some predicates of a batch, with calibrated probabilities.

        numbers          the sentences of the group
        predicate_probs  B T  how likely each word is a predicate; None if predicates are marked
        owners           P    the sentence of each predicate
        """
        scores = self.backend.score(
            encoded, group, numbers, n_iterations=options.iterations, trace=options.trace
        )
        positions = [position for item in group for position in item.predicates]
        decoded = decode(
            scores,
            positions=positions,
            candidates=[each for item in group for each in item.candidates],
            lengths=[item.n_words for item in group for _ in item.predicates],
            inventory=self.inventory,
            consistency=self._consistency if options.consistent else None,
            trace=options.trace,
        )
        found = decoded.confidences
        if predicate_probs is not None:
            found = replace(found, predicates=predicate_probs[owners, positions])
        if self.calibration is not None and not options.uncalibrated:
            groups = [
                group_of(sense, self._sense_counts, is_only=prob == 1, guessed=guessed)
                for sense, prob, guessed in zip(
                    decoded.senses, found.senses.tolist(), decoded.guessed, strict=True
                )
            ]
            found = self.calibration.calibrate(found, groups, decoded.roles)
        return replace(decoded, confidences=found)

    def _with_candidates(
        self,
        item: IndexedSentence,
        positions: Sequence[int],
        sentence: Sentence,
        options: Options,
    ) -> IndexedSentence:
        """Add lemmas and candidate senses; leave out found words that cannot be predicates."""
        lemmas = find_lemmas(sentence, positions, self.inventory)
        kept = [
            (position, lemma, candidates)
            for position, lemma in zip(positions, lemmas, strict=True)
            for candidates in [self._candidates.find(sentence, position, lemma)]
            if options.predicates == "marked"
            or self._candidates.is_predicate(sentence, position, candidates)
        ]
        positions, lemmas, found = zip(*kept, strict=True) if kept else ((), (), ())
        return with_predicates(item, positions, lemmas, found)

    def _keep_pos(
        self, positions: Sequence[int], sentence: Sentence, options: Options
    ) -> Sequence[int]:
        """Only the predicates with the requested parts of speech.

        With a verb that may be a light one (*give*), nouns are kept until its sense is known:
        the arguments of a light verb are those of its noun.
        """
        if options.pos is None:
            return positions
        tags = sentence.tags
        if tags is None:
            raise ConfigError(
                "pos: predicates are selected by the tags of words; give words with tags, or use a "
                "model with a tagger"
            )
        kept = [each for each in positions if predicate_pos(tags[each]) in options.pos]
        if "verb" not in options.pos or "noun" in options.pos:
            return kept
        if self._light_verbs.isdisjoint(find_lemmas(sentence, kept, self.inventory)):
            return kept
        return [each for each in positions if predicate_pos(tags[each]) in (*options.pos, "noun")]


def _read_ahead(sentences: Iterable[Sentence], size: int) -> Iterator[list[Sentence]]:
    """Yield lists of `size` sentences; if reading raises, those read before are yielded first."""
    chunk: list[Sentence] = []
    try:
        for sentence in sentences:
            if not isinstance(sentence, Sentence):
                raise DataError(f"expected Sentences, got {sentence!r:.60}; label() takes raw text")
            chunk.append(sentence)
            if len(chunk) == size:
                yield chunk
                chunk = []
    except Exception:
        if chunk:
            yield chunk
        raise
    if chunk:
        yield chunk


def _make_batches(
    items: Mapping[int, IndexedSentence], batch_words: int, batch_size: int | None
) -> list[list[int]]:
    """Sentences of similar length together; they are identified by their numbers."""
    numbers, lengths = list(items), [item.length for item in items.values()]
    batches = []
    for group in bucket(lengths, batch_words=batch_words, seed=None):
        size = batch_size or len(group)
        for first in range(0, len(group), size):
            batches.append([numbers[member] for member in group[first : first + size]])
    return batches


def _map(
    function: Callable[[_Item], _Result], items: Sequence[_Item], concurrent: int
) -> Iterable[_Result]:
    """Apply a function to all items, up to `concurrent` at a time; results are in order."""
    if concurrent == 1 or len(items) < 2:
        return map(function, items)
    from concurrent.futures import ThreadPoolExecutor  # takes 5 ms to import

    with ThreadPoolExecutor(concurrent) as pool:
        return list(pool.map(function, items))


def find_predicates(chosen: NDArray[np.bool_]) -> list[Sequence[int]]:
    """The positions of the words of each sentence that are chosen.

    chosen  B T
    """
    return [np.flatnonzero(row).tolist() for row in chosen]


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
        else sentence.with_tags([tags[tag] for tag in row[: len(sentence.words)]])
        for sentence, row in zip(sentences, ids.tolist(), strict=True)
    ]


def find_lemmas(
    sentence: Sentence, positions: Sequence[int], inventory: Inventory
) -> Sequence[str]:
    """The lemmas of predicates: those of the sentence, or found by form and tag."""
    if sentence.lemmas is not None or inventory.lemmatizer is None:
        return [lemma_of(sentence, position) for position in positions]
    tags = sentence.tags or (None,) * len(sentence.words)
    return [inventory.lemmatizer.find(sentence.words[at], tags[at]) for at in positions]


def _without_others(
    found: Iterable[Proposition], sentence: Sentence, options: Options
) -> tuple[Proposition, ...]:
    """The propositions by predicate, without nouns that belong to none of the light verbs."""
    ordered = sorted(found, key=lambda one: one.predicate)
    if options.pos is None or "noun" in options.pos or sentence.tags is None:
        return tuple(ordered)
    light = {each.predicate for each in ordered if (each.sense or "").endswith(LIGHT_VERB)}
    return tuple(
        each
        for each in ordered
        if predicate_pos(sentence.tags[each.predicate]) in options.pos
        or any(part.role == "AM-LVB" and part.word in light for part in each.arguments)
    )
