"""The tables of a plan file: read and check them."""

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError
from capsrl.recipe import read_toml
from reproduce.results import VARIANTS

PAPER = ("", "ja", "es", "ca", "de", "cs", "zh", "en")  # languages of the paper's table 5
_NAME = re.compile(r"[\w.+-]+")  # of corpora, which become part of file names

Check = tuple[str, Callable[[Any], bool]]  # what is expected, and whether a value is that
_TEXT: Check = "a string", lambda value: isinstance(value, str)
_TABLE: Check = "a table", lambda value: isinstance(value, dict)
_CORPUS: Mapping[str, Check] = {
    "recipe": _TEXT,
    "train": _TEXT,
    "dev": _TEXT,
    "test": _TEXT,
    "ood": _TEXT,
    "set": _TABLE,
    "language": _TEXT,
    "annotation": _TEXT,
    "encoder": _TEXT,
    "paper": (f"one of {', '.join(PAPER[1:])}", lambda value: value in PAPER),
}


def _list_of(text: str, fits: Callable[[Any], bool]) -> Check:
    def check(value: object) -> bool:
        return isinstance(value, list) and bool(value) and all(map(fits, value))

    return f"a list of {text}", check


def _is_number(value: object, kind: Any = int, least: int = 0) -> bool:  # noqa: ANN401
    return isinstance(value, kind) and not isinstance(value, bool) and least <= value < float("inf")


_EXPERIMENT: Mapping[str, Check] = {
    "corpora": _list_of("corpora of the plan", lambda value: isinstance(value, str)),
    "variants": _list_of(f"some of {', '.join(VARIANTS)}", lambda value: value in VARIANTS),
    "seeds": _list_of("integers of at least 0", _is_number),
    "makes": _list_of("names such as table3", lambda value: isinstance(value, str)),
    "iterations": _list_of("integers of at least 1", lambda value: _is_number(value, least=1)),
    "uniqueness": _list_of(
        "numbers of at least 0", lambda value: _is_number(value, kind=int | float)
    ),
    "axes": _TABLE,
}


def read_tables(path: Path) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """The corpora and experiments of a plan; raises ConfigError naming all mistakes."""
    values = read_toml(path)
    top = {
        "corpora": _TABLE,
        "experiments": _list_of("tables", lambda value: isinstance(value, dict)),
    }
    mistakes = list(_mistakes(values, top, tuple(top), ""))
    corpora, experiments = (
        values[key] if key in values and top[key][1](values[key]) else () for key in top
    )
    for name in corpora:
        where, table = f"corpora.{name}", corpora[name]
        if not _NAME.fullmatch(name):
            mistakes.append(f"{where}: expected a name of letters, digits and . _ + -")
        if isinstance(table, dict):
            required = ["recipe", "train", "dev", "test"]
            mistakes += _mistakes(table, _CORPUS, required, f"{where}.")
        else:
            mistakes.append(f"{where}: expected a table, got {table!r}")
    for i, table in enumerate(experiments):
        required = ["corpora", "variants", "seeds"]
        mistakes += _mistakes(table, _EXPERIMENT, required, f"experiments.{i}.")
        named = table.get("corpora")
        mistakes += [
            f"experiments.{i}.corpora: expected one of {', '.join(corpora)}, got {name!r}"
            for name in (named if isinstance(named, list) else ())
            if name not in corpora
        ]
        mistakes += _mistakes_of_axes(table.get("axes", {}), f"experiments.{i}.axes")
    if mistakes:
        raise ConfigError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    return values["corpora"], values["experiments"]


def _mistakes(
    table: Mapping[str, Any], known: Mapping[str, Check], required: Sequence[str], where: str
) -> Iterator[str]:
    for key in required:
        if key not in table:
            yield f"{where}{key}: expected a value, got none"
    for key, value in table.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{where}{key}: expected one of {', '.join(known)}, got another key{hint}"
        elif not known[key][1](value):
            yield f"{where}{key}: expected {known[key][0]}, got {value!r}"


def _mistakes_of_axes(axes: object, where: str) -> Iterator[str]:
    for axis, values in flatten(axes) if isinstance(axes, dict) else ():
        if not isinstance(values, list) or not values:
            yield f"{where}.{axis}: expected a list of values, got {values!r}"
        elif "." not in axis and not all(_is_choice(axis, value) for value in values):
            what = 'numbers, "all" or tables' if axis == "sentences" else "tables"
            yield f"{where}.{axis}: expected {what} with a name and settings, got {values!r}"


def _is_choice(axis: str, value: object) -> bool:
    if isinstance(value, dict):
        sentences = value.get("sentences", 1)
        return isinstance(value.get("name"), str) and _is_number(sentences, least=1)
    return axis == "sentences" and (value == "all" or _is_number(value, least=1))


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested tables by dotted key."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
