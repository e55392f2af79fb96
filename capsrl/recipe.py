"""A recipe file and `--set a.b=c` in, a checked Recipe out.

    values = load_values(path, overrides)   TOML and overrides as one nested table, paths resolved
    check_values(values, source=path)       every bad key named in one ConfigError
    make_recipe(values)                     the frozen dataclasses of config.py
    read_recipe(path, overrides)            the three in a row

Only the check needs pydantic, so a recipe checked elsewhere can be run where it is not installed.
"""

import dataclasses
import os
import tomllib
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from capsrl.config import ROUTED, DataConfig, Recipe
from capsrl.errors import ConfigError
from capsrl.recipe_checks import check_values, flatten

# Keys that hold a file or folder. The transformer may also be the name of an installed package.
PATHS = (
    "data.train",
    "data.dev",
    "data.frames",
    "model.embeddings.transformer",
    "model.embeddings.elmo",
    "model.embeddings.fasttext",
)
# Keys that change nothing of what is learned, or next to nothing (kept states are rounded to half
# precision, on a GPU those of a transformer to bfloat16): a run may go on with others, and is the
# same run with others.
NO_MATTER = ("train.checkpoint_every", "train.keep_states", "data.name", "data.licence")
DEFAULTS = flatten(dataclasses.asdict(Recipe(data=DataConfig(train="", dev=""))))


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe; each override is `a.b=c`, where c is a TOML value or a bare word.

    Paths in the file are relative to the file, paths in overrides to the working directory.
    An override without a value (`a.b=`) takes the default back.
    Raises ConfigError with one line for every bad key.
    """
    values = load_values(path, overrides)
    check_values(values, source=str(path), overrides=overrides)
    return make_recipe(values)


def load_values(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The recipe's own lines and the overrides as nested dictionaries, nothing checked yet."""
    path = Path(path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: expected UTF-8 text, got other bytes") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: expected TOML, got a syntax error: {error}") from None
    resolve_paths(values, path.parent)
    for override in overrides:
        _override(values, override)
    return values


def make_recipe(values: Mapping[str, Any]) -> Recipe:
    """Build the dataclasses from checked values; what is not named keeps its default."""
    recipe = _make(Recipe, values)
    assert isinstance(recipe, Recipe)
    return recipe


def _make(kind: type, values: Mapping[str, Any]) -> Any:  # noqa: ANN401 - one of config.py's classes
    hints = typing.get_type_hints(kind)
    return kind(
        **{
            key: _make(hints[key], value) if dataclasses.is_dataclass(hints[key]) else value
            for key, value in values.items()
        }
    )


def _override(values: dict[str, Any], override: str) -> None:
    key, equals, text = override.partition("=")
    key, text = key.strip(), text.strip()
    if not equals or not all(key.split(".")):
        raise ConfigError(f"--set {override}: expected KEY=VALUE such as train.epochs=10")
    *parents, last = key.split(".")
    table = values
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {override}: expected a table at {parent}, got {table!r}")
    if not text:
        table.pop(last, None)
        return
    try:
        table[last] = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        table[last] = text  # a bare word: train.decay=linear


def resolve_paths(values: dict[str, Any], folder: Path) -> None:
    """Make the file's paths relative to the working directory instead of to the file."""
    for key in PATHS:
        *parents, last = key.split(".")
        table: Any = values
        for parent in parents:
            table = table.get(parent) if isinstance(table, dict) else None
        if isinstance(table, dict) and isinstance(table.get(last), str):
            is_package = key.endswith("transformer") and not _looks_like_path(table[last], folder)
            table[last] = table[last] if is_package else _beside(folder, table[last])
    data = values.get("data")
    test = data.get("test") if isinstance(data, dict) else None
    if isinstance(test, dict):
        for name, value in test.items():
            test[name] = _beside(folder, value) if isinstance(value, str) else value


def _looks_like_path(text: str, folder: Path) -> bool:
    return "/" in text or os.sep in text or text.startswith(".") or (folder / text).is_dir()


def _beside(folder: Path, path: str) -> str:
    return os.path.normpath(folder / path)


def what_matters(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Of the settings of a run, by dotted key, those that decide what is learned.

    A run of an older capsrl lacks the keys that are new: it had what is their default now. Without
    routing there is nothing to iterate, however often, and before a first iteration no other.
    """
    settings = {**DEFAULTS, **settings}
    no_matter: tuple[str, ...] = NO_MATTER
    if settings["model.capsules.variant"] not in ROUTED:
        no_matter += ("model.capsules.iterations", "loss.earlier")
    elif settings["model.capsules.iterations"] == 1:
        no_matter += ("loss.earlier",)
    return {key: value for key, value in settings.items() if key not in no_matter}
