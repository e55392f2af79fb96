"""Sentence, Proposition, Argument and Phrase: the data types that all parts of capsrl exchange.

Readers make them, the model adds propositions, the scorer compares them, writers write them.
All are immutable: labeling a sentence gives a new one (`Sentence.with_propositions`).
Positions are 0-based; character offsets are half-open and count into `Sentence.text`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # numpy is only needed by those who ask for traces
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of an argument, of which one is its head: *her old bicycle*.

    first, last  positions of the first and last word in the sentence, both included
    start, end   character offsets of the phrase in the sentence's text, when that is known
    text         the phrase itself; set by the Sentence that the phrase is in
    """

    first: int
    last: int
    start: int | None = None
    end: int | None = None
    text: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """One word that fills one role of a proposition, and the phrase around it.

    role         A0, AM-TMP, C-A1, ... A word with two roles is two arguments.
    word         position of the head word in the sentence
    probability  that word and role are right; None when read from a corpus
    start, end   character offsets of the head word in the sentence's text, when that is known
    form         the head word itself; set by the Sentence that the argument is in
    phrase       the whole phrase, when the corpus or the model gives it
    meaning      what the role means for this sense: seller, or Agent; None when unknown
    """

    role: str
    word: int
    probability: float | None = None
    start: int | None = None
    end: int | None = None
    form: str | None = field(default=None, compare=False)
    phrase: Phrase | None = None
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """The role probabilities of a proposition before and after each of N routing iterations.

    roles     the R roles, `_` (none) first
    beliefs   N+1 T R  the probability of each role for each word
    capsules  N R D    the role capsules; None for variants that do not iterate
    nodes     N D      the global node; None without one
    """

    roles: tuple[str, ...]
    beliefs: "NDArray[np.float32]"
    capsules: "NDArray[np.float32] | None" = None
    nodes: "NDArray[np.float32] | None" = None


@dataclass(frozen=True, slots=True)
class Proposition:
    """A predicate, its sense and its arguments: who did what to whom.

    predicate    position of the predicate in the sentence
    sense        the roleset (sign.01); None where only the position is known (blind files)
    arguments    in the order of their words
    probability  of the sense; None when read from a corpus
    start, end   character offsets of the predicate in the sentence's text, when that is known
    trace        the probabilities of every iteration, if asked for; not compared
    form         the predicate word itself; set by the Sentence that the proposition is in
    guessed      the sense is a guess: neither frame files nor training corpus have the lemma
    definition   what the sense means, from frame files that the user has
    frames       the linked frames of other lexicons: verbnet:give-13.1, framenet:Giving
    predicate_probability  that the word is a predicate; None where it was marked or read
    joint_probability      that sense and all arguments are right; None when read from a corpus
    """

    predicate: int
    sense: str | None = None
    arguments: tuple[Argument, ...] = ()
    probability: float | None = None
    start: int | None = None
    end: int | None = None
    trace: Trace | None = field(default=None, compare=False, repr=False)
    form: str | None = field(default=None, compare=False)
    guessed: bool = False
    definition: str | None = None
    frames: tuple[str, ...] = ()
    predicate_probability: float | None = None
    joint_probability: float | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, their annotation, and the sentence's propositions.

    words         the forms
    propositions  in the order of their predicates
    lemmas, tags  dictionary form and part of speech of each word, None when unknown
    heads         position of each word's syntactic head, None at a root; None when unparsed
    relations     the label of the arc from that head
    text          the raw text the words stand in, when there is one
    offsets       (start, end) of each word in `text`
    id            the name of the sentence in its corpus
    columns       other columns of the file, name -> one string per word; kept for writing
    comments      lines that stood above the sentence; kept for writing
    start         offset of `text` in the longer text it was cut out of, see `standalone`

    Raises ValueError for a proposition at a word that the sentence does not have.
    """

    words: tuple[str, ...]
    propositions: tuple[Proposition, ...] = ()
    lemmas: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    heads: tuple[int | None, ...] | None = None
    relations: tuple[str, ...] | None = None
    text: str | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    id: str | None = None
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    comments: tuple[str, ...] = ()
    start: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TypeError(f"words: expected a sequence of words, got the string {self.words!r}")
        object.__setattr__(self, "words", tuple(self.words))
        with_forms = tuple(_with_forms(each, self.words) for each in self.propositions)
        object.__setattr__(self, "propositions", with_forms)

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        text: str = _show().sentence_table(self)
        return text

    @property
    def predicates(self) -> tuple[int, ...]:
        """Positions of the predicates."""
        return tuple(proposition.predicate for proposition in self.propositions)

    def with_propositions(self, propositions: Iterable[Proposition]) -> "Sentence":
        """The same sentence with other propositions, by predicate, with offsets where known."""
        ordered = sorted(propositions, key=lambda proposition: proposition.predicate)
        if self.offsets is not None:
            ordered = [_with_offsets(each, self) for each in ordered]
        return self._copy(tuple(ordered), self.tags)

    def with_tags(self, tags: Iterable[str]) -> "Sentence":
        """The same sentence with other parts of speech."""
        return self._copy(self.propositions, tuple(tags))

    def _copy(
        self, propositions: tuple[Proposition, ...], tags: tuple[str, ...] | None
    ) -> "Sentence":
        """What `replace` does, in a third of the time: every labeled sentence is copied twice."""
        return Sentence(
            words=self.words,
            propositions=propositions,
            lemmas=self.lemmas,
            tags=tags,
            heads=self.heads,
            relations=self.relations,
            text=self.text,
            offsets=self.offsets,
            id=self.id,
            columns=self.columns,
            comments=self.comments,
            start=self.start,
        )

    def standalone(self) -> "Sentence":
        """The same sentence with only its own part of the text.

        Offsets then count from the first word, and `start` is where that is in the whole text:
        `start + offset` counts into the whole text. Without this, writing the sentences of a long
        text would write the whole text with each. A sentence without text or words is unchanged.
        """
        if self.text is None or not self.offsets:
            return self
        first = min(start for start, _ in self.offsets)
        last = max(end for _, end in self.offsets)
        offsets = tuple((start - first, end - first) for start, end in self.offsets)
        shorter = replace(
            self, text=self.text[first:last], offsets=offsets, start=(self.start or 0) + first
        )
        return shorter.with_propositions(self.propositions)

    def to_dict(self) -> dict[str, Any]:
        """The sentence as plain lists, dicts, strings and numbers, as `to_json` writes it."""
        data: dict[str, Any] = _jsonl().sentence_to_dict(self)
        return data

    def to_json(self) -> str:
        """One line of JSON, without its line end; see `capsrl.formats.jsonl.json_schema`."""
        line: str = _jsonl().format_jsonl(self)
        return line.removesuffix("\n")

    def to_rows(
        self, *, document: object = None, number: int | None = None
    ) -> list[dict[str, Any]]:
        """Rows of a table, one per argument; `capsrl.tables.columns` says what the columns are.

        A proposition without arguments has a row too, and so does a sentence without propositions.
        Offsets count into the whole text that the sentence was found in.

        document  what the column "document" has
        number    of the sentence in its document, for the column "sentence"
        """
        rows: list[dict[str, Any]] = _cells().argument_rows(self, document=document, number=number)
        return rows

    def _repr_html_(self) -> str:
        """What notebooks show."""
        html: str = _show().html_fragment(self)
        return html


# The layers above this module import it, so they are imported only when they are used.


def _show() -> ModuleType:
    from capsrl import show

    return show


def _jsonl() -> ModuleType:
    from capsrl.formats import jsonl

    return jsonl


def _cells() -> ModuleType:
    from capsrl.tables import cells

    return cells


def _with_forms(proposition: Proposition, words: tuple[str, ...]) -> Proposition:
    """The proposition with the forms of its words, or itself if it has them already."""
    if not _is_inside(proposition, len(words)):
        positions = (proposition.predicate, *(each.word for each in proposition.arguments))
        phrases = [each.phrase for each in proposition.arguments if each.phrase]
        raise ValueError(
            f"propositions: expected positions of {len(words)} words, got {positions} "
            f"and phrases {[(phrase.first, phrase.last) for phrase in phrases]} "
            f"in {' '.join(words[:5])!r}"
        )
    form = words[proposition.predicate]
    if proposition.form == form and all(
        each.form == words[each.word] and (each.phrase is None or each.phrase.text is not None)
        for each in proposition.arguments
    ):
        return proposition
    arguments = tuple(
        Argument(
            each.role,
            each.word,
            each.probability,
            each.start,
            each.end,
            words[each.word],
            each.phrase and _with_text(each.phrase, words),
            each.meaning,
        )
        for each in proposition.arguments
    )
    return _copy(proposition, arguments, proposition.start, proposition.end, form)


def _is_inside(proposition: Proposition, n_words: int) -> bool:
    """Whether all words and phrases of a proposition are among this many words."""
    inside = 0 <= proposition.predicate < n_words
    for each in proposition.arguments:
        inside &= 0 <= each.word < n_words
        if each.phrase is not None:
            inside &= 0 <= each.phrase.first < n_words and 0 <= each.phrase.last < n_words
    return inside


def _copy(
    proposition: Proposition,
    arguments: tuple[Argument, ...],
    start: int | None,
    end: int | None,
    form: str,
) -> Proposition:
    """What `replace` does, in a third of the time."""
    return Proposition(
        proposition.predicate,
        proposition.sense,
        arguments,
        proposition.probability,
        start,
        end,
        proposition.trace,
        form,
        proposition.guessed,
        proposition.definition,
        proposition.frames,
        proposition.predicate_probability,
        proposition.joint_probability,
    )


def _with_text(phrase: Phrase, words: tuple[str, ...]) -> Phrase:
    """The phrase with its words as text, unless it has a text."""
    if phrase.text is not None:
        return phrase
    text = " ".join(words[phrase.first : phrase.last + 1])
    return Phrase(phrase.first, phrase.last, phrase.start, phrase.end, text)


def _with_offsets(proposition: Proposition, sentence: Sentence) -> Proposition:
    """The proposition with the offsets and forms of its words and phrases, in one copy."""
    words, offsets = sentence.words, sentence.offsets
    assert offsets is not None
    arguments = tuple(
        Argument(
            each.role,
            each.word,
            each.probability,
            *offsets[each.word],
            words[each.word],
            each.phrase and _phrase_with_offsets(each.phrase, sentence, offsets),
            each.meaning,
        )
        for each in proposition.arguments
    )
    start, end = offsets[proposition.predicate]
    return _copy(proposition, arguments, start, end, words[proposition.predicate])


def _phrase_with_offsets(
    phrase: Phrase, sentence: Sentence, offsets: tuple[tuple[int, int], ...]
) -> Phrase:
    start, end = offsets[phrase.first][0], offsets[phrase.last][1]
    words = sentence.words[phrase.first : phrase.last + 1]
    text = None if sentence.text is None else sentence.text[start:end]
    if text is None or has_markup(text, words):
        text = " ".join(words)
    return Phrase(phrase.first, phrase.last, start, end, text)


def has_markup(text: str, words: Iterable[str]) -> bool:
    """Whether the text of some words has HTML tags or entities besides the words themselves."""
    return ("<" in text or "&" in text) and "".join(text.split()) != "".join("".join(words).split())
