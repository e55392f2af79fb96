"""A plain dict, as JSON gives it -> Sentence, with every part checked.

The checks are those of `schema.json`, plus those that a schema cannot express: positions in range,
lists as long as the sentence, forms that are the words they stand for.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence, Trace

_SENTENCE_KEYS = (
    "id", "text", "start", "words", "offsets", "lemmas", "tags", "heads", "relations",
    "propositions", "columns", "comments",
)  # fmt: skip
_PROPOSITION_KEYS = (
    "predicate", "form", "sense", "probability", "start", "end", "arguments", "trace",
)  # fmt: skip
_TRACE_KEYS = ("roles", "beliefs")
_ARGUMENT_KEYS = ("role", "word", "form", "probability", "start", "end")

T = TypeVar("T")


def sentence_from_dict(data: object, *, where: str = "sentence") -> Sentence:
    """The sentence of such a dict, every part checked; keys nobody knows are refused.

    Raises DataError whose message begins with `where` and the place inside the object.
    """
    checked = _object(data, _SENTENCE_KEYS, ("words",), where)
    words = _strings(checked["words"], f"{where}: words")
    n = len(words)
    text = _optional_string(checked, "text", where)
    columns = _object(checked.get("columns", {}), None, (), f"{where}: columns")
    place = f"{where}: propositions"
    sentence = Sentence(
        words,
        lemmas=_per_word(checked, "lemmas", n, where),
        tags=_per_word(checked, "tags", n, where),
        heads=_heads(checked, n, where),
        relations=_per_word(checked, "relations", n, where),
        text=text,
        offsets=_offsets(checked, n, text, where),
        id=_optional_string(checked, "id", where),
        columns={
            name: _same_length(_strings(column, f"{where}: column {name!r}"), n, where, repr(name))
            for name, column in columns.items()
        },
        comments=_strings(checked.get("comments", []), f"{where}: comments"),
        start=_integer(checked["start"], f"{where}: start") if "start" in checked else None,
    )
    propositions = _array(checked.get("propositions", []), place)
    return replace(
        sentence,
        propositions=tuple(
            _proposition(each, sentence, f"{place}[{k}]") for k, each in enumerate(propositions)
        ),
    )


def _proposition(data: object, sentence: Sentence, where: str) -> Proposition:
    checked = _object(data, _PROPOSITION_KEYS, ("predicate",), where)
    sense = checked.get("sense")
    if sense is not None and not isinstance(sense, str):
        _refuse(f"{where}.sense", "a string or null", sense)
    start, end = _span(checked, sentence, where)
    arguments = tuple(
        _argument(each, sentence, f"{where}.arguments[{k}]")
        for k, each in enumerate(_array(checked.get("arguments", []), f"{where}.arguments"))
    )
    trace = None
    if "trace" in checked:
        trace = _trace(checked["trace"], arguments, len(sentence), f"{where}.trace")
    return Proposition(
        _word(checked, "predicate", sentence, where),
        sense,
        arguments,
        _probability(checked, where),
        start,
        end,
        trace,
    )


def _trace(data: object, arguments: tuple[Argument, ...], n: int, where: str) -> Trace:
    import numpy as np  # the only thing here that needs it

    checked = _object(data, _TRACE_KEYS, _TRACE_KEYS, where)
    roles = _strings(checked["roles"], f"{where}.roles")
    for role in ("_", *(argument.role for argument in arguments)):
        if role not in roles:
            raise DataError(f"{where}.roles: expected {role!r} among them, got {list(roles)}")
    if roles[0] != "_":
        _refuse(f"{where}.roles[0]", "'_', which is no role", roles[0])
    steps = _array(checked["beliefs"], f"{where}.beliefs")
    if not steps:
        raise DataError(f"{where}.beliefs: expected one array per iteration, got an empty one")
    for i, step in enumerate(steps):
        place = f"{where}.beliefs[{i}]"
        if len(_array(step, place)) != n:
            raise DataError(f"{place}: expected {n} entries, one per word, got {len(step)}")
        for k, probs in enumerate(step):
            if len(_array(probs, f"{place}[{k}]")) != len(roles):
                raise DataError(
                    f"{place}[{k}]: expected {len(roles)} entries, one per role, got {len(probs)}"
                )
            for prob in probs:
                _check_probability(prob, f"{place}[{k}]")
    return Trace(roles, np.array(steps, dtype=np.float32).reshape(len(steps), n, len(roles)))


def _argument(data: object, sentence: Sentence, where: str) -> Argument:
    checked = _object(data, _ARGUMENT_KEYS, ("role", "word"), where)
    if not isinstance(checked["role"], str):
        _refuse(f"{where}.role", "a string", checked["role"])
    start, end = _span(checked, sentence, where)
    word = _word(checked, "word", sentence, where)
    return Argument(checked["role"], word, _probability(checked, where), start, end)


def _word(data: Mapping[str, Any], key: str, sentence: Sentence, where: str) -> int:
    """The position under a key, checked against the form beside it."""
    n = len(sentence)
    word = _integer(data[key], f"{where}.{key}")
    if word >= n:
        _refuse(f"{where}.{key}", f"a position of one of {n} words, counted from 0", word)
    form = data.get("form", sentence.words[word])
    if not isinstance(form, str) or form != sentence.words[word]:
        _refuse(f"{where}.form", f"{sentence.words[word]!r}, word {word}", form)
    return word


def _span(
    data: Mapping[str, Any], sentence: Sentence, where: str
) -> tuple[int, int] | tuple[None, None]:
    if "start" not in data and "end" not in data:
        return None, None
    if "start" not in data or "end" not in data:
        raise DataError(f"{where}: expected start and end together, got one of them")
    return _range(data["start"], data["end"], sentence.text, where)


def _range(start: object, end: object, text: str | None, where: str) -> tuple[int, int]:
    first, last = _integer(start, f"{where}.start"), _integer(end, f"{where}.end")
    if first > last or (text is not None and last > len(text)):
        limit = "" if text is None else f" <= {len(text)}, the length of the text"
        raise DataError(f"{where}: expected start <= end{limit}, got {first} and {last}")
    return first, last


def _probability(data: Mapping[str, Any], where: str) -> float | None:
    if "probability" not in data:
        return None
    return _check_probability(data["probability"], f"{where}.probability")


def _check_probability(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        _refuse(where, "a number from 0 to 1", value)
    return float(value)


def _heads(data: Mapping[str, Any], n: int, where: str) -> tuple[int | None, ...] | None:
    if "heads" not in data:
        return None
    place = f"{where}: heads"
    heads = tuple(
        None if head is None else _integer(head, f"{place}[{k}]")
        for k, head in enumerate(_array(data["heads"], place))
    )
    for k, head in enumerate(heads):
        if head is not None and head >= n:
            _refuse(f"{place}[{k}]", f"a position of one of {n} words, counted from 0", head)
    return _same_length(heads, n, where, "heads")


def _offsets(
    data: Mapping[str, Any], n: int, text: str | None, where: str
) -> tuple[tuple[int, int], ...] | None:
    if "offsets" not in data:
        return None
    pairs = []
    for k, pair in enumerate(_array(data["offsets"], f"{where}: offsets")):
        place = f"{where}: offsets[{k}]"
        if len(_array(pair, place)) != 2:
            raise DataError(f"{place}: expected [start, end], got {len(pair)} entries")
        pairs.append(_range(pair[0], pair[1], text, place))
    return _same_length(tuple(pairs), n, where, "offsets")


def _per_word(data: Mapping[str, Any], key: str, n: int, where: str) -> tuple[str, ...] | None:
    if key not in data:
        return None
    return _same_length(_strings(data[key], f"{where}: {key}"), n, where, key)


def _same_length(values: tuple[T, ...], n: int, where: str, key: str) -> tuple[T, ...]:
    if len(values) != n:
        raise DataError(f"{where}: {key}: expected {n} entries, one per word, got {len(values)}")
    return values


def _optional_string(data: Mapping[str, Any], key: str, where: str) -> str | None:
    if key not in data:
        return None
    value = data[key]
    if not isinstance(value, str):
        _refuse(f"{where}: {key}", "a string", value)
    return value


def _object(
    data: object, known: tuple[str, ...] | None, required: tuple[str, ...], where: str
) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(where, "an object", data)
    for key in data:
        if known is not None and key not in known:
            raise DataError(f"{where}: expected the keys {', '.join(known)}, got {key!r}")
    for key in required:
        if key not in data:
            got = ", ".join(map(repr, data)) or "none"
            raise DataError(f"{where}: expected the key {key!r}, got {got}")
    return data


def _array(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, "an array", value)
    return value


def _strings(value: object, where: str) -> tuple[str, ...]:
    for k, item in enumerate(_array(value, where)):
        if not isinstance(item, str):
            _refuse(f"{where}[{k}]", "a string", item)
    return tuple(_array(value, where))


def _integer(value: object, where: str) -> int:
    # JSON has one kind of number: 3.0 is the integer 3. Python's True is no number here.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(where, "an integer from 0", value)
    return value


def _refuse(where: str, expected: str, value: object) -> NoReturn:
    raise DataError(f"{where}: expected {expected}, got {shown(value)}")


def shown(value: object) -> str:
    """A value as a message shows it: short, on one line, whatever it holds."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
