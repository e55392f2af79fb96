"""Sentence, Proposition, Argument and Phrase: the data types that all parts of capsrl exchange.

Readers make them, the model adds propositions, the scorer compares them, writers write them.
All are immutable: labeling a sentence gives a new one (`Sentence.with_propositions`).
Positions are 0-based; character offsets are half-open and count into `Sentence.text`.

Every field is described once, where it is defined: `capsrl.formats.fields` derives from that the
keys of JSON with their checks and schema, the columns of tables, and what spaCy Docs store.
A new field needs its description here, and the code that fills it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from operator import is_
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from capsrl import facts
from capsrl.facts import Words

if TYPE_CHECKING:  # numpy is only needed by those who ask for traces
    import numpy as np
    from numpy.typing import NDArray

_Plain = dict[str, Any]
_T = TypeVar("_T")
_Part = TypeVar("_Part", "Proposition", "Argument")
Offsets = tuple[tuple[int, int], ...]
Strings = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class About:
    """How a field is written and checked; the string after it says what it holds.

    kind    one of `capsrl.formats.fields.FIELD_KINDS`
    json    its place among the keys of its JSON object
    column  place and name of its column in tables
    always  it is in JSON even if it has its default
    misc    its name in the MISC column of CoNLL-U
    """

    kind: str
    json: int = 50
    column: tuple[int, str] | None = None
    always: bool = False
    misc: str | None = None


def _documented(described: type[_T]) -> type[_T]:
    """Add the help of its fields to the docstring of a class."""
    about = described.__annotations__
    width = max(map(len, about))
    lines = (f"    {name:{width}}  {each.__metadata__[-1]}" for name, each in about.items())
    described.__doc__ = "\n".join([described.__doc__ or "", "", *lines])
    return described


def _context() -> Any:  # noqa: ANN401
    """A field that `Sentence` fills in; it is neither compared nor written."""
    return field(default=None, compare=False, repr=False)


@_documented
@dataclass(frozen=True, slots=True)
class Phrase:
    """The words of an argument, of which one is its head: *her old bicycle*."""

    first: Annotated[int, About("word", 1, (2, "phrase_first")), "position of its first word"]
    last: Annotated[int, About("word", 2, (3, "phrase_last")), "position of its last word"]
    start: Annotated[
        int | None, About("offset", 4, (4, "phrase_start")), "offset of the phrase in text"
    ] = None
    end: Annotated[int | None, About("offset", 5, (5, "phrase_end")), "offset of its end"] = None
    text: Annotated[str | None, About("form", 3, (1, "phrase")), "the phrase itself"] = field(
        default=None, compare=False
    )


@_documented
@dataclass(frozen=True, slots=True)
class Argument:
    """One word that fills one role of a proposition, and the phrase around it.

    A word with two roles is two arguments.
    """

    role: Annotated[str, About("text", 1, (1, "role")), "A0, AM-TMP, C-A1, ..."]
    word: Annotated[int, About("word", 3, (5, "head_word")), "position of the head word"]
    probability: Annotated[
        float | None,
        About("probability", 5, (3, "argument_probability"), misc="ArgumentProbability"),
        "that word and role are right",
    ] = None
    start: Annotated[
        int | None, About("offset", 6, (6, "head_start")), "offset of the head word in text"
    ] = None
    end: Annotated[int | None, About("offset", 7, (7, "head_end")), "offset of its end"] = None
    form: Annotated[str | None, About("form", 4, (4, "head")), "the word at that position"] = field(
        default=None, compare=False
    )
    phrase: Annotated[
        Phrase | None, About("object", 60), "the words of the argument, of which one is its head"
    ] = None
    meaning: Annotated[
        str | None,
        About("text", 2, (2, "meaning"), misc="Meaning"),
        "what the role means for this sense: seller, or Agent",
    ] = None
    around: Annotated[Words | None, "the words of its sentence"] = _context()
    rest: Annotated[
        "tuple[Argument, ...]", "the C- arguments that continue it, of those from Proposition.get"
    ] = field(default=(), compare=False, repr=False)

    @property
    def core(self) -> Phrase:
        """The phrase without its preposition or subordinator: *DHL* of *by DHL*."""
        first, last, length = self._edges()
        if self.around is None:
            return self.phrase or Phrase(self.word, self.word, self.start, self.end, self.form)
        return phrase_at(self.around, first + length, last)

    @property
    def text(self) -> str:
        """The words of `core`, and of the arguments that continue it."""
        return " ".join([self.core.text or "", *(each.text for each in self.rest)])

    @property
    def marker(self) -> str | None:
        """The preposition or subordinator of the phrase in lower case: *by*, *because of*."""
        first, _, length = self._edges()
        words = self.around.words[first : first + length] if self.around else ()
        return " ".join(words).lower() or None

    def _edges(self) -> tuple[int, int, int]:
        """First and last word of the phrase, and how many words are its marker."""
        found = self.phrase or Phrase(self.word, self.word)
        if self.around is None:
            return found.first, found.last, 0
        first, last = facts.trimmed(self.around, found.first, found.last, self.word)
        return first, last, facts.marker_length(self.around, first, last, self.word, self.role)


@_documented
@dataclass(frozen=True, slots=True)
class Trace:
    """The role probabilities of a proposition before and after each of N routing iterations."""

    roles: Annotated[
        Strings,
        About("roles", 1),
        "_ (none) first, then the roles that any word had at any iteration",
    ]
    beliefs: Annotated[
        "NDArray[np.float32]",
        About("beliefs", 2),
        "beliefs[i][t][r] is the probability of roles[r] for word t after iteration i; "
        "0 is the start",
    ]
    capsules: Annotated[
        "NDArray[np.float32] | None", "N R D: the role capsules; None without iterations"
    ] = None
    nodes: Annotated["NDArray[np.float32] | None", "N D: the global node; None without one"] = None
    senses: Annotated[
        tuple[tuple[str, float], ...],
        "the most probable senses, best first, each with the network's own probability",
    ] = ()


@_documented
@dataclass(frozen=True, slots=True)
class Proposition:
    """A predicate, its sense and its arguments; in corpora they have no probabilities."""

    predicate: Annotated[int, About("word", 1, (2, "predicate_word")), "position of the predicate"]
    sense: Annotated[
        str | None,
        About("sense", 3, (6, "sense"), always=True),
        "the roleset (sign.01); null where only the position is known",
    ] = None
    arguments: Annotated[
        tuple[Argument, ...],
        About("objects", 60, always=True),
        "one per word and role; absent means none",
    ] = ()
    probability: Annotated[
        float | None,
        About("probability", 7, (7, "sense_probability"), misc="SenseProbability"),
        "that the sense is right",
    ] = None
    start: Annotated[
        int | None, About("offset", 10, (3, "predicate_start")), "offset of the predicate in text"
    ] = None
    end: Annotated[int | None, About("offset", 11, (4, "predicate_end")), "offset of its end"] = (
        None
    )
    trace: Annotated[
        Trace | None,
        About("trace", 70),
        "probabilities of the roles before and after each routing iteration",
    ] = field(default=None, compare=False, repr=False)
    form: Annotated[str | None, About("form", 2, (1, "predicate")), "the word at that position"] = (
        field(default=None, compare=False)
    )
    guessed: Annotated[
        bool,
        About("flag", 6, (8, "guessed"), misc="Guessed"),
        "true if neither frame files nor training corpus have the lemma; absent means false",
    ] = False
    definition: Annotated[
        str | None,
        About("text", 4, (9, "definition"), misc="Definition"),
        "what the sense means, from frame files of the user",
    ] = None
    frames: Annotated[
        Strings,
        About("strings", 5, (10, "frames"), misc="Frame"),
        "linked frames of other lexicons: verbnet:give-13.1, framenet:Giving",
    ] = ()
    predicate_probability: Annotated[
        float | None,
        About("probability", 8, (5, "predicate_probability"), misc="PredicateProbability"),
        "that the word is a predicate; absent where predicates were given",
    ] = None
    joint_probability: Annotated[
        float | None,
        About("probability", 9, (11, "joint_probability"), misc="JointProbability"),
        "that the sense and all arguments are right",
    ] = None
    around: Annotated[Words | None, "the words of its sentence"] = _context()
    noun: Annotated[
        "Proposition | None", "that of the noun of a light verb: *speech* of *gave a speech*"
    ] = _context()

    def get(self, role: str) -> Argument | None:
        """The first argument of a role, with what continues it (C-), or None.

        A light verb also has the arguments of its noun.
        """
        known = self.all_arguments
        rest = tuple(each for each in known if each.role == f"C-{role}")
        found = next((each for each in known if each.role == role), None)
        return replace(found, rest=rest) if found and rest else found

    @property
    def all_arguments(self) -> tuple[Argument, ...]:
        """The arguments, and those of the noun if it is a light verb."""
        return self.arguments + (self.noun.arguments if self.noun else ())

    def probability_with_noun(self, name: str) -> float | None:
        """One of its probabilities, by name; of a light verb, times that of its noun."""
        own, noun = getattr(self, name), self.noun and getattr(self.noun, name)
        of_noun = noun if self.noun else 1.0
        return None if own is None or of_noun is None else own * of_noun

    def __getitem__(self, role: str) -> Argument:
        found = self.get(role)
        if found is None:
            raise KeyError(role)
        return found

    def __contains__(self, role: object) -> bool:
        return isinstance(role, str) and self.get(role) is not None

    @property
    def lemma(self) -> str:
        """The sense without its number (*give_up*); a light verb has its noun: *give_speech*."""
        return facts.lemma_of(self)

    @property
    def negated(self) -> bool:
        """Whether it is denied: by AM-NEG, *not*, *never*, or an argument such as *nobody*."""
        return facts.is_negated(self) or (self.noun is not None and facts.is_negated(self.noun))

    @property
    def modal(self) -> str | None:
        """The modal verb: *can* of *can't*."""
        return facts.modal_of(self) or (facts.modal_of(self.noun) if self.noun else None)

    @property
    def voice(self) -> str | None:
        """Active or passive; None if it is not a verb."""
        return facts.voice_of(self)

    @property
    def tense(self) -> str | None:
        """Past, present or future; None if it is not finite, or has another modal than *will*."""
        return facts.tense_of(self)


@_documented
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
        if self.propositions:
            around = Words(self.words, self.tags, self.lemmas, self.text, self.offsets)
            filled = (_place(_complete(each, self, None), around) for each in self.propositions)
            object.__setattr__(self, "propositions", _join_nouns(tuple(filled)))
        else:
            object.__setattr__(self, "propositions", ())

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


def phrase_at(sentence: Sentence | Words, first: int, last: int) -> Phrase:
    """The phrase of some words of a sentence, with its text, and with offsets where known."""
    words, offsets = sentence.words[first : last + 1], sentence.offsets
    if offsets is None:
        return Phrase(first, last, text=" ".join(words))
    start, end = offsets[first][0], offsets[last][1]
    text = None if sentence.text is None else sentence.text[start:end]
    if text is None or has_markup(text, words):
        text = " ".join(words)
    return Phrase(first, last, start, end, text)


def has_markup(text: str, words: Iterable[str]) -> bool:
    """Whether the text of some words has HTML tags or entities besides the words themselves."""
    return ("<" in text or "&" in text) and "".join(text.split()) != "".join("".join(words).split())


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
            noun = facts.noun_of(verb, propositions)
            object.__setattr__(verb, "noun", noun)
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
