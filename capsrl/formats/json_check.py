"""Check the values of decoded JSON: strings, numbers, positions, and lists of them.

A check takes a value and the sentence around it. It returns the value as a Sentence holds it, or
raises Mistake, to which the containers of the value add their places. `fields` says which check
each field has.
"""

from collections.abc import Callable
from types import NoneType
from typing import Any, NamedTuple

Check = Callable[..., Any]


class Around(NamedTuple):
    """The sentence that a value is part of."""

    words: tuple[str, ...] = ()
    text: str | None = None


class Mistake(Exception):
    """A value that is wrong.

    path  leads to it: .propositions[0].sense
    """

    path = ""

    def inside(self, place: str) -> "Mistake":
        """The mistake seen from the container of its value."""
        self.path = place + self.path
        return self


def wrong(expected: str, value: object) -> Mistake:
    """The mistake of a value that is not what was expected."""
    return Mistake(f"expected {expected}, got {shown(value)}")


def shown(value: object) -> str:
    """A value as messages show it: short and on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _typed(expected: str, *types: type) -> Check:
    def check(value: object, around: Around) -> object:
        if not isinstance(value, types):
            raise wrong(expected, value)
        return value

    return check


string = _typed("a string", str)
string_or_null = _typed("a string or null", str, NoneType)
flag = _typed("true or false", bool)
array = _typed("an array", list)
mapping = _typed("an object", dict)


def list_of(check: Check) -> Check:
    """The check of an array whose items have this check."""

    def check_list(value: object, around: Around, **more: Any) -> tuple[Any, ...]:  # noqa: ANN401
        items, found = array(value, around), []
        try:
            for item in items:
                found.append(check(item, around, **more))
        except Mistake as mistake:
            raise mistake.inside(f"[{len(found)}]") from None
        return tuple(found)

    return check_list


def one_per_word(check: Check) -> Check:
    """The check of a list, which also must have one entry for each word."""

    def check_length(value: object, around: Around) -> tuple[Any, ...]:
        found: tuple[Any, ...] = check(value, around)
        if len(found) != len(around.words):
            n_words = len(around.words)
            raise Mistake(f"expected {n_words} entries, one per word, got {len(found)}")
        return found

    return check_length


def offset(value: object, around: Around) -> int:
    """An offset or a position; JSON has one type of number, so 3.0 is the integer 3."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    # True is an int in Python, not in JSON.
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise wrong("an integer from 0", value)
    return value


def word(value: object, around: Around) -> int:
    """The position of a word."""
    position, n_words = offset(value, around), len(around.words)
    if position >= n_words:
        raise wrong(f"a position of one of {n_words} words, counted from 0", position)
    return position


def head(value: object, around: Around) -> int | None:
    """The position of the head of a word; None at a root."""
    return None if value is None else word(value, around)


def probability(value: object, around: Around) -> float:
    """A number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise wrong("a number from 0 to 1", value)
    return float(value)


def pair(value: object, around: Around) -> tuple[int, int]:
    """The start and end of a word."""
    found = list_of(offset)(value, around)
    if len(found) != 2:
        raise Mistake(f"expected [start, end], got {len(found)} entries")
    start, end = found
    order(start, end, around)
    return start, end


def order(start: int, end: int, around: Around) -> None:
    """Check that a start and an end are in order, and in the text."""
    text = around.text
    if start > end or (text is not None and end > len(text)):
        limit = "" if text is None else f" <= {len(text)}, the length of the text"
        raise Mistake(f"expected start <= end{limit}, got {start} and {end}")


def strings(value: object, around: Around) -> tuple[str, ...]:
    """The strings of an array."""
    if isinstance(value, list) and set(map(type, value)) <= {str}:  # nearly always, and fast
        return tuple(value)
    found: tuple[str, ...] = list_of(string)(value, around)
    return found


string_per_word = one_per_word(strings)


def columns(value: object, around: Around) -> dict[str, tuple[str, ...]]:
    """Columns by their names, each with one string per word."""
    found = {}
    for name, column in mapping(value, around).items():
        try:
            found[name] = string_per_word(column, around)
        except Mistake as mistake:
            raise mistake.inside(f"[{name!r}]") from None
    return found


def roles(value: object, around: Around) -> tuple[str, ...]:
    """The roles of a trace."""
    found = strings(value, around)
    if "_" not in found:
        raise Mistake(f"expected '_' among them, got {list(found)}")
    if found[0] != "_":
        raise wrong("'_', which means no role", found[0]).inside("[0]")
    return found


def beliefs(value: object, around: Around) -> tuple[Any, ...]:
    """The probabilities of a trace, by iteration, word and role."""
    found: tuple[Any, ...] = list_of(one_per_word(list_of(list_of(probability))))(value, around)
    if not found:
        raise Mistake("expected one array per iteration, got none")
    return found
