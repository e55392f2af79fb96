"""How to label: the options that library, command line, server and spaCy component share.

A new option is one field of `Options` and one of `OptionKeywords` here, and the code that uses it.
The command line, the server and the spaCy component are built from the fields.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from types import UnionType
from typing import Any, Literal, TypedDict, Unpack, get_args

from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.text import Layout

PredicateSource = Literal["auto", "marked", "found"]
PredicatePos = Literal["verb", "noun", "adjective"]
PREDICATE_POS: tuple[PredicatePos, ...] = get_args(PredicatePos)
TEXT_LAYOUT = ("html", "one_sentence_per_line")  # options that matter only for raw text
AUTO_SENTENCES = 2048  # at the start of the input: they decide where `auto` takes predicates from


class OptionKeywords(TypedDict, total=False):
    """The fields of `Options` as keyword arguments."""

    predicates: PredicateSource
    pos: Collection[PredicatePos] | None
    iterations: int | None
    threshold: float
    sense_threshold: float
    proposition_threshold: float
    trace: bool
    phrases: bool
    html: bool
    one_sentence_per_line: bool
    uncalibrated: bool
    consistent: bool


def _option(default: object, help: str) -> Any:  # noqa: ANN401
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """How to label; raises ConfigError for a value that is out of range.

    predicates  marked: only the predicates that the sentences mark. found: the model finds them.
                auto: marked if one of the first 2,048 sentences marks any, else found
    pos         keep only predicates of these parts of speech: verb, noun, adjective; None for all
    iterations  number of routing iterations; None for as many as in training
    threshold   leave out arguments that are less probable than this
    sense_threshold        leave out propositions whose sense is less probable than this
    proposition_threshold  leave out propositions that are less probable than this, as a whole:
                           sense and all arguments right (`Proposition.joint_probability`)
    trace       keep the role probabilities of every iteration in `Proposition.trace`
    phrases     give the phrase of each argument; False: head words only
    html        raw text has HTML tags and entities, which are not words
    one_sentence_per_line  every line of raw text is a sentence
    uncalibrated  give the probabilities of the network as they are
    consistent  numbered roles once and only those of the roleset, R- and C- roles only with what
                they belong to, phrases that do not overlap; False: each word by itself
    """

    predicates: PredicateSource = _option(
        "auto", "Marked in the corpus or found by the model; auto: marked if any are."
    )
    pos: Collection[PredicatePos] | None = _option(
        None, "Only predicates of these parts of speech."
    )
    iterations: int | None = _option(None, "Routing iterations (default: as trained).")
    threshold: float = _option(0.0, "Minimum probability of an argument.")
    sense_threshold: float = _option(0.0, "Minimum probability of a sense.")
    proposition_threshold: float = _option(0.0, "Minimum probability of a whole proposition.")
    trace: bool = _option(False, "Keep the role probabilities of every iteration.")
    phrases: bool = _option(True, "Phrases of arguments, or only head words (default: phrases).")
    html: bool = _option(False, "Skip HTML tags and decode entities; offsets count into the HTML.")
    one_sentence_per_line: bool = _option(False, "Treat every line as a sentence.")
    uncalibrated: bool = _option(False, "Report uncalibrated probabilities.")
    consistent: bool = _option(True, "Roles that fit each other (default: consistent).")

    def __post_init__(self) -> None:
        if self.predicates not in get_args(PredicateSource):
            _reject("predicates", "auto, marked or found", self.predicates)
        if self.pos is not None:
            given = (self.pos,) if isinstance(self.pos, str) else self.pos
            is_list = isinstance(given, Collection) and not isinstance(given, Mapping)
            if not is_list or not given or any(name not in PREDICATE_POS for name in given):
                got = ", ".join(map(str, given)) if is_list and given else repr(given)
                raise ConfigError(f"pos: expected some of {', '.join(PREDICATE_POS)}, got {got}")
            ordered = tuple(name for name in PREDICATE_POS if name in given)
            object.__setattr__(self, "pos", ordered)  # hashable, whatever collection came
        turns = self.iterations
        if turns is not None and not (_is_number(turns, int) and 1 <= turns <= 100):
            _reject("iterations", "an integer from 1 to 100", self.iterations)
        for name in ("threshold", "sense_threshold", "proposition_threshold"):
            if not (_is_number(value := getattr(self, name), int | float) and 0 <= value <= 1):
                _reject(name, "a number from 0 to 1", value)
        for name in ("trace", "phrases", *TEXT_LAYOUT, "uncalibrated", "consistent"):
            if not isinstance(value := getattr(self, name), bool):
                _reject(name, "True or False", value)

    def layout(self, language: str = "") -> Layout:
        """How raw text is laid out, and its language."""
        return Layout(self.html, self.one_sentence_per_line, language)


def make_options(base: Options | None = None, **keywords: Unpack[OptionKeywords]) -> Options:
    """The options `base`, or the defaults, with some of them changed."""
    try:
        return replace(base or Options(), **keywords)
    except TypeError as error:  # a keyword that is not a field, named by Python
        raise TypeError(str(error).replace("Options.__init__()", "label()")) from None


def decide_predicates(options: Options, sentences: Iterable[Sentence]) -> Options:
    """Replace `auto`: marked if one of the first AUTO_SENTENCES sentences marks any, else found."""
    if options.predicates != "auto":
        return options
    first = islice(sentences, AUTO_SENTENCES)
    marked = any(sentence.propositions for sentence in first)
    return replace(options, predicates="marked" if marked else "found")


def _is_number(value: object, kind: type | UnionType) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _reject(name: str, expected: str, value: object) -> None:
    raise ConfigError(f"{name}: expected {expected}, got {value!r}")
