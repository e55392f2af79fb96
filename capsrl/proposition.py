"""Proposition, Argument and Phrase: who did what to whom in a sentence.

Every field is described once, where it is defined: `capsrl.formats.fields` derives from that the
keys of JSON with their checks and schema, the columns of tables, and what spaCy Docs store.
A new field needs its description here, and the code that fills it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from capsrl import facts
from capsrl.facts import Words

if TYPE_CHECKING:  # numpy is only needed by those who ask for traces
    import numpy as np
    from numpy.typing import NDArray

    from capsrl.sentence import Sentence

_T = TypeVar("_T")
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


def documented(described: type[_T]) -> type[_T]:
    """Add the help of its fields to the docstring of a class."""
    about = described.__annotations__
    width = max(map(len, about))
    lines = (f"    {name:{width}}  {each.__metadata__[-1]}" for name, each in about.items())
    described.__doc__ = "\n".join([described.__doc__ or "", "", *lines])
    return described


def _context() -> Any:  # noqa: ANN401
    """A field that `Sentence` fills in; it is neither compared nor written."""
    return field(default=None, compare=False, repr=False)


@documented
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


@documented
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


@documented
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


@documented
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


def phrase_at(sentence: "Sentence | Words", first: int, last: int) -> Phrase:
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
