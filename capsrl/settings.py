"""Settings as annotated dataclass fields: describe, check and build them.

A setting is one field of a class in config.py, annotated with its allowed range, its marks and a
description:

    epochs: Annotated[int, AT_LEAST_1, "maximum number of epochs"] = 100
"""

import dataclasses
import difflib
import enum
import json
import keyword
import math
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

REQUIRED = dataclasses.MISSING  # the default of a setting that has none


@dataclass(frozen=True)
class Range:
    """The allowed values of a number; `text` continues "expected ..." in error messages."""

    text: str
    allows: Callable[[float], bool]  # must be false for NaN


NOT_NEGATIVE = Range("at least 0", lambda value: 0 <= value < math.inf)
POSITIVE = Range("above 0", lambda value: 0 < value < math.inf)
AT_LEAST_1 = Range("at least 1", lambda value: 1 <= value < math.inf)
UP_TO_100 = Range("from 1 to 100", lambda value: 1 <= value <= 100)
ABOVE_1_OR_0 = Range("above 1, or 0", lambda value: value == 0 or 1 < value < math.inf)
FRACTION = Range("at least 0 and below 1", lambda value: 0 <= value < 1)
FACTOR = Range("above 0 and at most 1", lambda value: 0 < value <= 1)


class Mark(enum.Enum):
    """Properties of a setting other than its type and range."""

    PATH = "a file or folder, relative to the recipe that names it"
    PATH_OR_PACKAGE = "a folder, or the name of an installed Python package"
    PATH_OR_MODEL = "a model folder, or the name of a model that ships with capsrl"
    COSMETIC = "does not affect what is learned: may change when a run is resumed"


PATH, PATH_OR_PACKAGE, PATH_OR_MODEL, COSMETIC = Mark


@dataclass(frozen=True)
class Setting:
    """One setting of a tree of dataclasses.

    key      dotted path of the field, such as train.epochs
    type     its type without annotations
    default  REQUIRED where there is none
    """

    key: str
    type: Any
    default: Any
    meaning: str = ""
    range: Range | None = None
    marks: frozenset[Mark] = frozenset()

    @property
    def is_path(self) -> bool:
        """Whether it names a file or folder."""
        return bool(self.marks & {PATH, PATH_OR_PACKAGE, PATH_OR_MODEL})


def list_settings(kind: type, prefix: str = "") -> Iterator[Setting]:
    """Yield every setting of a config class and of the classes nested in it, in order."""
    hints = typing.get_type_hints(kind, include_extras=True)
    for field in dataclasses.fields(kind):
        key, hint = prefix + _name_of(field.name), hints[field.name]
        if dataclasses.is_dataclass(hint):
            yield from list_settings(typing.cast("type", hint), f"{key}.")
        else:
            yield _make_setting(key, hint, field)


def _make_setting(key: str, hint: Any, field: dataclasses.Field[Any]) -> Setting:  # noqa: ANN401
    base, *notes = typing.get_args(hint) if typing.get_origin(hint) is Annotated else (hint,)
    factory = field.default_factory
    return Setting(
        key,
        base,
        field.default if factory is dataclasses.MISSING else factory(),
        meaning=" ".join(note for note in notes if isinstance(note, str)),
        range=next((note for note in notes if isinstance(note, Range)), None),
        marks=frozenset(note for note in notes if isinstance(note, Mark)),
    )


def find_mistakes(kind: type, values: Mapping[str, Any]) -> dict[str, str]:
    """Check nested values against a config class; gives a message for every bad key."""
    settings = {setting.key: setting for setting in list_settings(kind)}
    tables = {key[:end] for key in settings for end, char in enumerate(key) if char == "."}
    mistakes: dict[str, str] = {}

    def check(table: Mapping[str, Any], prefix: str) -> None:
        for name, value in table.items():
            key = prefix + name
            if key in settings:
                mistakes.update(_check_value(settings[key], value))
            elif key not in tables:
                mistakes[key] = f"unknown key {key}{_suggest(key, settings)}"
            elif isinstance(value, Mapping):
                check(value, f"{key}.")
            else:
                mistakes[key] = f"{key}: expected a table, got {_quoted(value)}"

    check(values, "")
    named = flatten(values).keys()
    for key, setting in settings.items():
        if setting.default is REQUIRED and key not in named:
            mistakes[key] = f"{key} is missing"
    return mistakes


def _check_value(setting: Setting, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401
    key = setting.key
    if isinstance(value, Mapping) and typing.get_origin(setting.type) is dict:
        for name, item in value.items():
            yield from _check_value(Setting(f"{key}.{name}", str, REQUIRED), item)
    elif not _fits(value, setting.type):
        yield key, f"{key}: expected {describe_type(setting.type)}, got {_quoted(value)}"
    elif setting.range is not None and not setting.range.allows(value):
        yield key, f"{key}: expected {setting.range.text}, got {value}"


def _fits(value: object, kind: Any) -> bool:  # noqa: ANN401
    if kind in (int, float):
        return isinstance(value, int | kind) and not isinstance(value, bool)
    origin = typing.get_origin(kind)
    if origin is Literal:
        return value in typing.get_args(kind)
    if origin is list:
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    return origin is not dict and isinstance(value, kind)  # tables are checked item by item


def describe_type(kind: Any) -> str:  # noqa: ANN401
    """The type of a setting in words, such as "an integer"."""
    if typing.get_origin(kind) is Literal:
        *others, last = (repr(choice) for choice in typing.get_args(kind))
        return f"{', '.join(others)} or {last}"
    names = {int: "an integer", float: "a number", bool: "true or false"}
    names |= {dict: "a table", list: "a list of strings"}
    return names.get(typing.get_origin(kind) or kind, "a string")


def _suggest(key: str, known: Mapping[str, Setting]) -> str:
    """Suggest the key with the nearest last part, in the same table first: keys get misplaced."""
    table, _, last = key.rpartition(".")
    names = sorted(known, key=lambda name: name.rpartition(".")[0] != table)
    lasts = [name.rpartition(".")[2] for name in names]
    near = difflib.get_close_matches(last, lasts, n=1, cutoff=0.7)
    return f"; did you mean {names[lasts.index(near[0])]}?" if near else ""


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


Config = typing.TypeVar("Config")


def build(kind: type[Config], values: Mapping[str, Any]) -> Config:
    """Build a config class from checked values; settings that are not named keep their default."""
    hints = typing.get_type_hints(kind)
    named = {_field_of(name): value for name, value in values.items()}
    return kind(
        **{
            field: build(hints[field], value) if dataclasses.is_dataclass(hints[field]) else value
            for field, value in named.items()
        }
    )


def to_values(config: Any) -> dict[str, Any]:  # noqa: ANN401 - any config class
    """All settings of a config class as nested tables, the inverse of `build`."""
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    return {
        _name_of(field): to_values(value) if dataclasses.is_dataclass(value) else value
        for field, value in values.items()
    }


def _name_of(field: str) -> str:
    """The name of a setting: `from` of the field `from_`, as `from` is a word of Python."""
    return field.removesuffix("_")


def _field_of(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def flatten(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into one table with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value
    return flat
