"""Make a Sentence of decoded JSON, checking every part.

`schema.json` says which keys there are. Beyond the schema this checks that positions are in range,
that lists about words have one entry per word, and that forms are the words at their positions.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import numpy as np

from capsrl.errors import DataError
from capsrl.sentence import Argument, Phrase, Proposition, Sentence, Trace

T = TypeVar("T")


def json_schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a sentence."""
    text = Path(__file__).with_name("schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def schema_components(ref: str) -> dict[str, Any]:
    """The schema of a sentence and those of its parts, each with its name as title.

    ref  a reference to one of them, with a place for its name: #/components/schemas/{model}
    """

    def component(found: re.Match[str]) -> str:
        return ref.format(model=found[1].capitalize())

    schema = json.loads(re.sub(r"#/\$defs/(\w+)", component, json.dumps(json_schema())))
    del schema["$schema"]
    parts = {name.capitalize(): part for name, part in schema.pop("$defs").items()}
    return {name: part | {"title": name} for name, part in (parts | {"Sentence": schema}).items()}


def sentence_from_dict(data: object, *, where: str = "sentence") -> Sentence:
    """Return the sentence of a decoded JSON object; unknown keys are refused.

    Raises DataError whose message begins with `where` and the path inside the object.
    """
    checked = _object(data, "sentence", where)
    words = _strings(checked["words"], f"{where}: words")
    n = len(words)
    text = _optional(checked, "text", _string, f"{where}: ")

    def per_word(key: str, check: Callable[[object, str], tuple[T, ...]]) -> tuple[T, ...] | None:
        found = _optional(checked, key, check, f"{where}: ")
        return None if found is None else _one_per_word(found, n, f"{where}: {key}")

    def heads(value: object, path: str) -> tuple[int | None, ...]:
        return tuple(
            None if head is None else _position(head, n, f"{path}[{k}]")
            for k, head in enumerate(_array(value, path))
        )

    def offsets(value: object, path: str) -> tuple[tuple[int, int], ...]:
        return tuple(
            _offset_pair(pair, text, f"{path}[{k}]") for k, pair in enumerate(_array(value, path))
        )

    columns = checked.get("columns", {})
    if not isinstance(columns, dict):
        _refuse(f"{where}: columns", "an object", columns)
    propositions = _array(checked.get("propositions", []), f"{where}: propositions")
    return Sentence(
        words,
        tuple(
            _proposition(each, words, text, f"{where}: propositions[{k}]")
            for k, each in enumerate(propositions)
        ),
        lemmas=per_word("lemmas", _strings),
        tags=per_word("tags", _strings),
        heads=per_word("heads", heads),
        relations=per_word("relations", _strings),
        text=text,
        offsets=per_word("offsets", offsets),
        id=_optional(checked, "id", _string, f"{where}: "),
        columns={
            name: _one_per_word(_strings(column, path), n, path)
            for name, column in columns.items()
            for path in [f"{where}: columns[{name!r}]"]
        },
        comments=_strings(checked.get("comments", []), f"{where}: comments"),
        start=_optional(checked, "start", _integer, f"{where}: "),
    )


def _proposition(data: object, words: tuple[str, ...], text: str | None, where: str) -> Proposition:
    checked = _object(data, "proposition", where)
    sense = checked.get("sense")
    if sense is not None and not isinstance(sense, str):
        _refuse(f"{where}.sense", "a string or null", sense)
    arguments = tuple(
        _argument(each, words, text, f"{where}.arguments[{k}]")
        for k, each in enumerate(_array(checked.get("arguments", []), f"{where}.arguments"))
    )
    trace = None
    if "trace" in checked:
        trace = _trace(checked["trace"], arguments, len(words), f"{where}.trace")
    predicate = _word(checked, "predicate", words, where)

    def probability(name: str) -> float | None:
        return _optional(checked, name, _probability, f"{where}.")

    start, end = _span(checked, text, where)
    return Proposition(
        predicate,
        sense,
        arguments,
        start=start,
        end=end,
        trace=trace,
        guessed=_boolean(checked.get("guessed", False), f"{where}.guessed"),
        definition=_optional(checked, "definition", _string, f"{where}."),
        frames=_strings(checked.get("frames", []), f"{where}.frames"),
        probability=probability("probability"),
        predicate_probability=probability("predicate_probability"),
        joint_probability=probability("joint_probability"),
    )


def _argument(data: object, words: tuple[str, ...], text: str | None, where: str) -> Argument:
    checked = _object(data, "argument", where)
    start, end = _span(checked, text, where)
    word = _word(checked, "word", words, where)
    phrase = _phrase(checked["phrase"], words, text, where) if "phrase" in checked else None
    if phrase is not None and not phrase.first <= word <= phrase.last:
        raise DataError(
            f"{where}.phrase: expected a phrase that contains word {word}, "
            f"got words {phrase.first} to {phrase.last}"
        )
    return Argument(
        _string(checked["role"], f"{where}.role"),
        word,
        _optional(checked, "probability", _probability, f"{where}."),
        start,
        end,
        phrase=phrase,
        meaning=_optional(checked, "meaning", _string, f"{where}."),
    )


def _phrase(data: object, words: tuple[str, ...], text: str | None, where: str) -> Phrase:
    where = f"{where}.phrase"
    checked = _object(data, "phrase", where)
    first, last = (
        _position(checked[name], len(words), f"{where}.{name}") for name in ("first", "last")
    )
    if first > last:
        raise DataError(f"{where}: expected first <= last, got {first} and {last}")
    start, end = _span(checked, text, where)
    return Phrase(first, last, start, end, _optional(checked, "text", _string, f"{where}."))


def _trace(data: object, arguments: tuple[Argument, ...], n: int, where: str) -> Trace:
    checked = _object(data, "trace", where)
    roles = _strings(checked["roles"], f"{where}.roles")
    for role in ("_", *(argument.role for argument in arguments)):
        if role not in roles:
            raise DataError(f"{where}.roles: expected {role!r} among them, got {list(roles)}")
    if roles[0] != "_":
        _refuse(f"{where}.roles[0]", "'_', which means no role", roles[0])
    steps = _array(checked["beliefs"], f"{where}.beliefs")
    if not steps:
        raise DataError(f"{where}.beliefs: expected one array per iteration, got none")
    for i, step in enumerate(steps):
        path = f"{where}.beliefs[{i}]"
        for k, probs in enumerate(_one_per_word(tuple(_array(step, path)), n, path)):
            if len(_array(probs, f"{path}[{k}]")) != len(roles):
                raise DataError(
                    f"{path}[{k}]: expected {len(roles)} entries, one per role, got {len(probs)}"
                )
            for prob in probs:
                _probability(prob, f"{path}[{k}]")
    return Trace(roles, np.array(steps, dtype=np.float32).reshape(len(steps), n, len(roles)))


def _word(data: Mapping[str, Any], key: str, words: tuple[str, ...], where: str) -> int:
    """Return the position under a key, checked against the form beside it."""
    word = _position(data[key], len(words), f"{where}.{key}")
    if data.get("form", words[word]) != words[word]:
        _refuse(f"{where}.form", f"{words[word]!r}, word {word}", data["form"])
    return word


def _span(
    data: Mapping[str, Any], text: str | None, where: str
) -> tuple[int, int] | tuple[None, None]:
    if "start" not in data and "end" not in data:
        return None, None
    if "start" not in data or "end" not in data:
        raise DataError(f"{where}: expected start and end together, got one of them")
    return _offset_pair([data["start"], data["end"]], text, where)


def _offset_pair(pair: object, text: str | None, where: str) -> tuple[int, int]:
    offsets = _array(pair, where)
    if len(offsets) != 2:
        raise DataError(f"{where}: expected [start, end], got {len(offsets)} entries")
    start, end = _integer(offsets[0], f"{where}.start"), _integer(offsets[1], f"{where}.end")
    if start > end or (text is not None and end > len(text)):
        limit = "" if text is None else f" <= {len(text)}, the length of the text"
        raise DataError(f"{where}: expected start <= end{limit}, got {start} and {end}")
    return start, end


@cache
def _keys(kind: str) -> tuple[Mapping[str, object], Collection[str]]:
    """Return the known keys of an object, in a mapping, and the required ones."""
    schema = json_schema()
    found = schema if kind == "sentence" else schema["$defs"][kind]
    return found["properties"], found["required"]


def _object(data: object, kind: str, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(where, "an object", data)
    known, required = _keys(kind)
    if not data.keys() <= known.keys():
        unknown = next(key for key in data if key not in known)
        raise DataError(f"{where}: expected the keys {', '.join(known)}, got {unknown!r}")
    for key in required:
        if key not in data:
            got = ", ".join(map(repr, data)) or "none"
            raise DataError(f"{where}: expected the key {key!r}, got {got}")
    return data


def _optional(
    data: Mapping[str, Any], key: str, check: Callable[[object, str], T], where: str
) -> T | None:
    return check(data[key], where + key) if key in data else None


def _one_per_word(values: tuple[T, ...], n: int, where: str) -> tuple[T, ...]:
    if len(values) != n:
        raise DataError(f"{where}: expected {n} entries, one per word, got {len(values)}")
    return values


def _array(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, "an array", value)
    return value


def _strings(value: object, where: str) -> tuple[str, ...]:
    strings = tuple(_array(value, where))
    for k, item in enumerate(strings):
        if not isinstance(item, str):
            _refuse(f"{where}[{k}]", "a string", item)
    return strings


def _string(value: object, where: str) -> str:
    if not isinstance(value, str):
        _refuse(where, "a string", value)
    return value


def _boolean(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        _refuse(where, "true or false", value)
    return value


def _integer(value: object, where: str) -> int:
    # JSON has one type of number: 3.0 is the integer 3. True is an int in Python, not in JSON.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _refuse(where, "an integer from 0", value)
    return value


def _position(value: object, n: int, where: str) -> int:
    position = _integer(value, where)
    if position >= n:
        _refuse(where, f"a position of one of {n} words, counted from 0", position)
    return position


def _probability(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        _refuse(where, "a number from 0 to 1", value)
    return float(value)


def _refuse(where: str, expected: str, value: object) -> NoReturn:
    raise DataError(f"{where}: expected {expected}, got {shown(value)}")


def shown(value: object) -> str:
    """Return a value as a message shows it: short and on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
