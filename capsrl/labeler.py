"""Labeler: text or sentences in, sentences with propositions out."""

import dataclasses
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from capsrl.config import ModelConfig
from capsrl.errors import ConfigError
from capsrl.model.batches import Indexed, bucket, share_out
from capsrl.model.decode import decode
from capsrl.model.folder import load_network, save_network
from capsrl.model.inventory import Inventory
from capsrl.model.network import Network
from capsrl.model.weights import Precision
from capsrl.sentence import Proposition, Sentence
from capsrl.text.lemmatizer import kind_of
from capsrl.text.sentences import read_text

CHUNK = 2048  # sentences read ahead, to be batched by length
PAIRS = 8192  # of a predicate and a word that are looked at together

PredicateSource = Literal["given", "predicted"]
Kind = Literal["verb", "noun", "adjective"]


@dataclasses.dataclass(frozen=True)
class Options:
    """How to label; the arguments of `Labeler.label_sentences` say what each means."""

    predicates: PredicateSource
    kinds: Collection[Kind] | None
    iterations: int | None
    threshold: float
    trace: bool


class Labeler:
    """A trained network with all it needs to label.

    Every way to predict goes through `label_sentences`: raw text, dev scoring, the command line.
    """

    def __init__(
        self, network: Network, config: ModelConfig, *, device: str | torch.device = "cpu"
    ) -> None:
        self.network = network.to(device)
        self.config = config
        self.device = torch.device(device)

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words the model knows."""
        return self.network.inventory

    def label(
        self,
        text: str | Sequence[str],
        *,
        predicates: Literal["predicted"] | Collection[int] = "predicted",
        kinds: Collection[Kind] | None = None,
        iterations: int | None = None,
        threshold: float = 0.0,
        trace: bool = False,
    ) -> list[Sentence]:
        """Label raw text, or the words of one sentence.

        predicates  predicted: found by the model; or where they are: offsets of characters in a
                    text, positions of words in a sentence that comes as words
        The other arguments are those of `label_sentences`.
        """
        if predicates == "predicted":
            source: PredicateSource = "predicted"
            sentences = sentences_of(text)
        else:
            source = "given"
            sentences = mark_predicates(text, [int(position) for position in predicates])
        return list(
            self.label_sentences(
                sentences,
                predicates=source,
                kinds=kinds,
                iterations=iterations,
                threshold=threshold,
                trace=trace,
            )
        )

    def label_many(
        self,
        texts: Iterable[str | Sequence[str]],
        *,
        kinds: Collection[Kind] | None = None,
        iterations: int | None = None,
        threshold: float = 0.0,
        trace: bool = False,
    ) -> Iterator[list[Sentence]]:
        """Label a stream of texts, in their order: for each, its sentences.

        Sentences of different texts share batches, so this is much faster than one `label` after
        the other; only some of them are held at a time.
        """
        counts: deque[int] = deque()  # of sentences of the texts read so far

        def stream() -> Iterator[Sentence]:
            for text in texts:
                sentences = sentences_of(text)
                counts.append(len(sentences))
                yield from sentences

        done: list[Sentence] = []
        for sentence in self.label_sentences(
            stream(),
            predicates="predicted",
            kinds=kinds,
            iterations=iterations,
            threshold=threshold,
            trace=trace,
        ):
            while counts[0] == 0:
                yield done[: counts.popleft()]
            done.append(sentence)
            if len(done) == counts[0]:
                counts.popleft()
                yield done
                done = []
        for _ in counts:
            yield []

    def label_sentences(
        self,
        sentences: Iterable[Sentence],
        *,
        predicates: PredicateSource = "given",
        kinds: Collection[Kind] | None = None,
        iterations: int | None = None,
        threshold: float = 0.0,
        trace: bool = False,
        batch_words: int = 2000,
    ) -> Iterator[Sentence]:
        """Label sentences, in their order, holding only some of them at a time.

        predicates  given: at the positions of the sentence's propositions; predicted: found
        kinds       of predicates to keep: verb, noun, adjective; None for all
        iterations  of routing, if not as many as in training
        threshold   arguments less probable than this are left out
        trace       keep what was believed after every iteration, in `Proposition.trace`

        A sentence without tags gets those the model predicts, if it has a tagger.
        """
        if iterations is not None and iterations < 1:
            raise ValueError(f"expected at least 1 iteration, got {iterations}")
        options = Options(predicates, kinds, iterations, threshold, trace)
        stream = iter(sentences)
        while chunk := list(islice(stream, CHUNK)):
            yield from self._label_chunk(chunk, options, batch_words)

    def _label_chunk(
        self, chunk: list[Sentence], options: Options, batch_words: int
    ) -> list[Sentence]:
        labelled = [sentence.with_propositions(()) for sentence in chunk]
        busy = [
            number
            for number, sentence in enumerate(chunk)
            if sentence.words and (options.predicates == "predicted" or sentence.predicates)
        ]
        items = [self.network.index(chunk[number], gold=False) for number in busy]
        lengths = [item.length for item in items]
        for members in bucket(lengths, batch_words=batch_words, seed=None):
            numbers = [busy[member] for member in members]
            answers = self._label_batch(
                [chunk[number] for number in numbers], [items[m] for m in members], options
            )
            for number, answer in zip(numbers, answers, strict=True):
                labelled[number] = answer
        return labelled

    @torch.inference_mode()
    def _label_batch(
        self, sentences: Sequence[Sentence], items: Sequence[Indexed], options: Options
    ) -> list[Sentence]:
        network = self.network.eval()
        if options.predicates == "predicted" or not network.mark_predicate:
            blind = [_with_predicates(item, ()) for item in items]
            batch = network.collate(blind, gold=False).to(self.device)
            states = network.encode(batch)
            sentences = self._tagged(sentences, states)
        if options.predicates == "predicted":
            found = ((network.finder(states) > 0) & batch.mask).cpu().numpy()  # B T
            items = [
                _with_predicates(item, np.flatnonzero(row).tolist())
                for item, row in zip(items, found, strict=True)
            ]
        items = [
            self._with_lemmas(_of_kinds(item, sentence, options.kinds), sentence)
            for item, sentence in zip(items, sentences, strict=True)
        ]
        answers: list[list[Proposition]] = [[] for _ in items]
        for numbers, parts in share_out(items, most=PAIRS):
            if network.mark_predicate:
                marked = network.collate(parts, gold=False, blind=False).to(self.device)
                near, mask, predicates = network.encode(marked), marked.mask, marked.predicates
            else:
                here, longest = torch.tensor(numbers, device=self.device), parts[0].n_words
                near, mask = states[here, :longest], batch.mask[here, :longest]
                predicates = network.collate_predicates(parts).to(self.device)
            propositions = decode(
                network.relate(near, mask, predicates, options.iterations),
                positions=[position for item in parts for position in item.predicates],
                lemmas=[lemma for item in parts for lemma in item.lemmas],
                lengths=[item.n_words for item in parts for _ in item.predicates],
                inventory=self.inventory,
                threshold=options.threshold,
                trace=options.trace,
            )
            owners = [n for n, item in zip(numbers, parts, strict=True) for _ in item.predicates]
            for owner, proposition in zip(owners, propositions, strict=True):
                answers[owner].append(proposition)
        return [s.with_propositions(a) for s, a in zip(sentences, answers, strict=True)]

    def _tagged(self, sentences: Sequence[Sentence], states: Tensor) -> Sequence[Sentence]:
        """The sentences with parts of speech, predicted where there were none.

        states  B T H
        """
        if self.network.tagger is None or all(sentence.tags for sentence in sentences):
            return sentences
        tags = list(self.inventory.tags)
        best = self.network.tagger(states).argmax(-1).tolist()  # B T
        return [
            sentence
            if sentence.tags
            else dataclasses.replace(
                sentence, tags=tuple(tags[tag] for tag in row[: len(sentence.words)])
            )
            for sentence, row in zip(sentences, best, strict=True)
        ]

    def _with_lemmas(self, item: Indexed, sentence: Sentence) -> Indexed:
        """The lemma of each predicate: what the sentence says, else what its form and tag say."""
        if sentence.lemmas is not None:
            lemmas = [sentence.lemmas[position].lower() for position in item.predicates]
        elif self.inventory.lemmatiser is None:
            lemmas = [sentence.words[position].lower() for position in item.predicates]
        else:
            tags = sentence.tags or (None,) * len(sentence.words)
            lemmas = [
                self.inventory.lemmatiser.find(sentence.words[position], tags[position])
                for position in item.predicates
            ]
        return dataclasses.replace(item, lemmas=tuple(lemmas))

    def save(self, folder: str | Path, *, precision: Precision = "full") -> None:
        """Write the model folder, replacing a model that was there."""
        save_network(self.network, self.config, Path(folder), precision=precision)

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "Labeler":
        """Read a model folder; raises ModelError naming what is missing, damaged or too new.

        A model trained with fastText vectors looks for their file where its config.json says, and
        warns if it is gone: words that the data of training did not have are then unknown.
        """
        network, config = load_network(Path(folder))
        return cls(network, config, device=device)


def sentences_of(text: str | Sequence[str]) -> list[Sentence]:
    """The sentences of raw text, or the one sentence that comes as words."""
    if isinstance(text, str):
        return read_text(text)
    words = tuple(text)
    for position, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise TypeError(f"expected words that are strings, got {word!r} as word {position}")
    return [Sentence(words)]


def mark_predicates(text: str | Sequence[str], places: Sequence[int]) -> list[Sentence]:
    """The sentences of a text with a bare proposition at every place.

    places  offsets of characters in a text, positions of words in a sentence that comes as words
    Raises ValueError for a place that is not in a word.
    """
    sentences = sentences_of(text)
    missed = set(places)
    marked: list[Sentence] = []
    for sentence in sentences:
        spans = sentence.offsets or tuple((i, i + 1) for i in range(len(sentence.words)))
        hit = {
            position: [place for place in places if start <= place < end]
            for position, (start, end) in enumerate(spans)
        }
        missed -= {place for at in hit.values() for place in at}
        marked.append(sentence.with_propositions(Proposition(p) for p, at in hit.items() if at))
    if missed:
        what = "an offset inside a word" if isinstance(text, str) else "the position of a word"
        raise ValueError(f"expected {what}, got {min(missed)}")
    return marked


def _with_predicates(item: Indexed, positions: Sequence[int]) -> Indexed:
    return dataclasses.replace(item, predicates=tuple(positions), lemmas=())


def _of_kinds(item: Indexed, sentence: Sentence, kinds: Collection[Kind] | None) -> Indexed:
    """Only the predicates of some kinds, by their tags."""
    if kinds is None:
        return item
    tags = sentence.tags
    if tags is None:
        raise ConfigError(
            "kinds: expected words with tags, or a model with a tagger, to choose predicates by, "
            "got neither"
        )
    return _with_predicates(item, [p for p in item.predicates if kind_of(tags[p]) in kinds])
