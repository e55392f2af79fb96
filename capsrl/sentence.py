"""Sentence, with its propositions: the data type that all parts of capsrl exchange.

Readers make sentences, the model adds propositions, the scorer compares them, writers write them.
All are immutable: labeling a sentence gives a new one (`Sentence.with_propositions`).
Positions are 0-based; character offsets are half-open and count into `Sentence.text`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from typing import Annotated, Any, TypeVar

from capsrl import facts
from capsrl.facts import Words
from capsrl.proposition import (
    About,
    Argument,
    Offsets,
    Phrase,
    Proposition,
    Strings,
    Trace,
    documented,
    has_markup,
    phrase_at,
)

__all__ = [
    "About",
    "Argument",
    "Offsets",
    "Phrase",
    "Proposition",
    "Sentence",
    "Trace",
    "has_markup",
    "phrase_at",
]

_Plain = dict[str, Any]
_Part = TypeVar("_Part", Proposition, Argument)


@documented
@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence, their annotation, and the sentence's propositions.

    Raises ValueError for a proposition at a word that the sentence does not have.
    """

    words: Annotated[Strings, About("strings", 4, (1, "words")), "the words as written"]
    propositions: Annotated[
        tuple[Proposition, ...],
        About("objects", 60, always=True),
        "predicates and their arguments; absent means none",
    ] = ()
    lemmas: Annotated[Strings | None, About("per word", 6), "dictionary form of each word"] = None
    tags: Annotated[
        Strings | None, About("per word", 7, (2, "tags")), "part of speech of each word"
    ] = None
    heads: Annotated[
        tuple[int | None, ...] | None,
        About("heads", 8),
        "position of the syntactic head of each word, null at a root",
    ] = None
    relations: Annotated[
        Strings | None, About("per word", 9), "label of the dependency from that head"
    ] = None
    text: Annotated[str | None, About("text", 2), "the raw text of the words"] = None
    offsets: Annotated[
        Offsets | None,
        About("offsets", 5),
        "[start, end) of each word in text, counted in characters (Unicode code points)",
    ] = None
    id: Annotated[str | None, About("text", 1), "the name of the sentence in its corpus"] = None
    columns: Annotated[
        Mapping[str, Strings],
        About("columns", 70),
        "other columns of the corpus file: name and one string per word",
    ] = field(default_factory=dict, hash=False)
    comments: Annotated[
        Strings, About("strings", 80), "comment lines above the sentence in its file"
    ] = ()
    start: Annotated[
        int | None,
        About("offset", 3),
        "offset of text in the longer text it was cut from, in characters",
    ] = None

    def __post_init__(self) -> None:
        if isinstance(self.words, str):
            raise TypeError(f"words: expected a sequence of words, got the string {self.words!r}")
        object.__setattr__(self, "words", tuple(self.words))
        around = Words(self.words, self.tags, self.lemmas, self.text, self.offsets)
        filled = (_place(_complete(each, self, None), around) for each in self.propositions)
        object.__setattr__(self, "propositions", _join_nouns(tuple(filled)))

    def __len__(self) -> int:
        return len(self.words)

    def __str__(self) -> str:
        from capsrl.show import sentence_table

        return sentence_table(self)

    @property
    def predicates(self) -> tuple[int, ...]:
        """Positions of the predicates."""
        return tuple(proposition.predicate for proposition in self.propositions)

    @property
    def facts(self) -> tuple[Proposition, ...]:
        """The propositions, those of light verbs and their nouns as one: that of the verb."""
        joined = {each.noun.predicate for each in self.propositions if each.noun}
        return tuple(each for each in self.propositions if each.predicate not in joined)

    @property
    def extent(self) -> tuple[int, int] | None:
        """Where its words begin and end in the text; None without offsets or words."""
        if not self.offsets:
            return None
        return min(start for start, _ in self.offsets), max(end for _, end in self.offsets)

    def with_propositions(self, propositions: Iterable[Proposition]) -> "Sentence":
        """The same sentence with other propositions, by predicate, with offsets where known."""
        filled = (_complete(each, self, self.offsets) for each in propositions)
        ordered = sorted(filled, key=lambda proposition: proposition.predicate)
        return replace(self, propositions=tuple(ordered))

    def with_tags(self, tags: Iterable[str]) -> "Sentence":
        """The same sentence with other parts of speech."""
        return replace(self, tags=tuple(tags))

    def standalone(self) -> "Sentence":
        """The same sentence with only its own part of the text.

        Offsets then count from the first word, and `start` is where that is in the whole text:
        `start + offset` counts into the whole text. Without this, writing the sentences of a long
        text would write the whole text with each. A sentence without text or words is unchanged.
        """
        if self.text is None or self.offsets is None or self.extent is None:
            return self
        first, last = self.extent
        if (first, last) == (0, len(self.text)):  # the most frequent case, where offsets stay
            return replace(self, start=self.start or 0)
        offsets = tuple((start - first, end - first) for start, end in self.offsets)
        text, start = self.text[first:last], (self.start or 0) + first
        bare = replace(self, text=text, start=start, offsets=offsets, propositions=())
        return bare.with_propositions(self.propositions)

    def to_dict(self) -> _Plain:
        """The sentence as plain lists, dicts, strings and numbers, as `to_json` writes it."""
        from capsrl.formats.jsonl import sentence_to_dict

        return sentence_to_dict(self)

    def to_json(self) -> str:
        """One line of JSON, without its line end; see `capsrl.formats.jsonl.json_schema`."""
        from capsrl.formats.jsonl import format_jsonl

        return format_jsonl(self).removesuffix("\n")

    def to_rows(self, *, document: object = None, number: int | None = None) -> list[_Plain]:
        """Rows of a table, one per argument; `capsrl.tables.columns` says what the columns are.

        A proposition without arguments has a row too, and so does a sentence without propositions.
        Offsets count into the whole text that the sentence was found in.

        document  what the column "document" has
        number    of the sentence in its document, for the column "sentence"
        """
        from capsrl.tables.cells import argument_rows

        return argument_rows(self, document=document, number=number)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        from capsrl.show import html_fragment

        return html_fragment(self)


def _place(proposition: Proposition, around: Words) -> Proposition:
    """The proposition in a sentence: itself if it was in none, or in one with the same words."""
    if proposition.around is not None and proposition.around != around:
        arguments = tuple(replace(each, around=around) for each in proposition.arguments)
        return replace(proposition, around=around, arguments=arguments, noun=None)
    for part in (proposition, *proposition.arguments):
        object.__setattr__(part, "around", around)
    return proposition


def _join_nouns(propositions: tuple[Proposition, ...]) -> tuple[Proposition, ...]:
    """Give light verbs the propositions of their nouns."""
    for verb in propositions:
        if verb.sense and verb.sense.endswith(".LV"):
            object.__setattr__(verb, "noun", facts.noun_of(verb, propositions))
    return propositions


def _complete(proposition: Proposition, sentence: Sentence, offsets: Offsets | None) -> Proposition:
    """The proposition with the forms of its words and phrases, and with these offsets if given.

    Itself if it has them, as those of the model do. Raises ValueError for a word out of range.
    """
    _check_positions(proposition, sentence.words)
    found, known = [], proposition.arguments
    for each in known:
        phrase = each.phrase and _complete_phrase(each.phrase, sentence, offsets)
        found.append(_complete_part(each, each.word, sentence, offsets, "phrase", phrase))
    arguments = known if all(map(is_, found, known)) else tuple(found)
    at = proposition.predicate
    return _complete_part(proposition, at, sentence, offsets, "arguments", arguments)


def _complete_part(
    part: _Part, word: int, sentence: Sentence, offsets: Offsets | None, name: str, inner: object
) -> _Part:
    """A proposition or argument with form and offsets of its word, and one more changed field."""
    form = sentence.words[word]
    start, end = (part.start, part.end) if offsets is None else offsets[word]
    is_same = (part.form, part.start, part.end) == (form, start, end)
    changes: dict[str, Any] = {"form": form, "start": start, "end": end, name: inner}
    return part if is_same and getattr(part, name) is inner else replace(part, **changes)


def _complete_phrase(phrase: Phrase, sentence: Sentence, offsets: Offsets | None) -> Phrase:
    if offsets is None and phrase.text is not None:
        return phrase
    found = phrase_at(sentence, phrase.first, phrase.last)
    start, end = (phrase.start, phrase.end) if offsets is None else (found.start, found.end)
    is_same = (phrase.start, phrase.end, phrase.text) == (start, end, found.text)
    return phrase if is_same else replace(phrase, start=start, end=end, text=found.text)


def _check_positions(proposition: Proposition, words: Strings) -> None:
    """Raise ValueError if a word or phrase of a proposition is not among the words."""
    positions = [proposition.predicate]
    for argument in proposition.arguments:
        phrase = argument.phrase
        positions += [argument.word, *((phrase.first, phrase.last) if phrase else ())]
    if min(positions) < 0 or max(positions) >= len(words):
        raise ValueError(
            f"propositions: expected positions of {len(words)} words, got {positions} "
            f"in {' '.join(words[:5])!r}"
        )
