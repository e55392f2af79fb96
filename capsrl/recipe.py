"""Read and check recipes: TOML files of settings, changed by overrides such as `a.b=c`."""

import functools
import json
import operator
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from capsrl.config import ROUTED, LossConfig, Recipe
from capsrl.errors import ConfigError, ModelError, unreadable
from capsrl.models import find_model, shipped_models
from capsrl.predict.folder import read_config
from capsrl.settings import (
    COSMETIC,
    PATH_OR_MODEL,
    PATH_OR_PACKAGE,
    REQUIRED,
    Setting,
    build,
    find_mistakes,
    flatten,
    list_settings,
    to_values,
)

_LONGEST, _DOTS = 1 << 18, 256  # characters of a TOML file, and dots in a line of it
SETTINGS = {setting.key: setting for setting in list_settings(Recipe)}
DEFAULTS = {
    key: setting.default
    for key, setting in SETTINGS.items()
    if setting.default is not REQUIRED and key != "data.test"
}

# Settings of the model that may differ from those of the model of `train.from`: no weight depends
# on them, except the initial values of new ones.
FREE = frozenset(
    f"model.{key}"
    for key in (
        "embeddings.dropout",
        "encoder.dropout",
        "encoder.recurrent_dropout",
        "encoder.output_dropout",
        "capsules.dropout",
        "capsules.projection_dropout",
        "capsules.iterations",
        "capsules.initial_scale",
        "capsules.xavier",
        "capsules.routing_chunks",
    )
)


def read_recipe(path: str | Path, overrides: Sequence[str] = ()) -> Recipe:
    """Read a recipe; each override is `a.b=c`, where c is a TOML value or a bare word.

    Paths in the file are relative to the file, paths in overrides to the working directory.
    An override without a value (`a.b=`) restores the default.
    Raises ConfigError with one line for every bad key.
    """
    values = load_values(path, overrides)
    mistakes = find_mistakes(Recipe, values)
    if not mistakes and (start := values.get("train", {}).get("from")) is not None:
        mistakes = _start_from(start, values)
    mistakes = mistakes or _contradictions(values)
    if not mistakes:
        return build(Recipe, values)
    overridden = {override.partition("=")[0].strip() for override in overrides}
    raise ConfigError(
        "\n".join(
            f"{'--set' if key in overridden else path}: {mistake}{_hint(key, mistake)}"
            for key, mistake in mistakes.items()
        )
    )


def load_values(path: str | Path, overrides: Sequence[str] = ()) -> dict[str, Any]:
    """Read the settings that a recipe and the overrides name, as nested tables, unchecked."""
    values = read_toml(path)
    _resolve_paths(values, Path(path).parent)
    for override in overrides:
        _override(values, override)
    return values


def read_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file; raises ConfigError, also for one that could take all memory."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(_LONGEST + 1)
        # The parser needs memory for the square of the dots in a key.
        if len(text) > _LONGEST or any(line.count(".") > _DOTS for line in text.split("\n")):
            raise ValueError(f"more than {_LONGEST:,} characters, or {_DOTS} dots in a line")
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigError(unreadable(path, error)) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # also numbers too long, tables too deep
        raise ConfigError(f"{path}: not TOML: {error}") from None


def _resolve_paths(values: dict[str, Any], folder: Path) -> None:
    """Make paths that are relative to `folder` relative to the working directory."""
    for key, setting in SETTINGS.items():
        *parents, last = key.split(".")
        table: Any = values
        for parent in parents:
            table = table.get(parent) if isinstance(table, dict) else None
        if not setting.is_path or not isinstance(table, dict):
            continue
        value = table.get(last)
        if isinstance(value, dict):
            table[last] = {name: _resolve(folder, path) for name, path in value.items()}
        elif isinstance(value, list):
            table[last] = [_resolve(folder, path) for path in value]
        elif isinstance(value, str) and not _is_name(setting, value, folder):
            table[last] = _resolve(folder, value)


def recipe_paths(recipe: Recipe) -> dict[str, str]:
    """List the files and folders that a recipe names, by dotted key."""
    paths: dict[str, str] = {}
    settings = to_values(recipe)
    for key, setting in SETTINGS.items():
        value = functools.reduce(operator.getitem, key.split("."), settings)
        if isinstance(value, dict):
            paths |= {f"{key}.{name}": path for name, path in value.items()}
        elif isinstance(value, list):
            paths |= {f"{key}[{n}]": path for n, path in enumerate(value)}
        elif setting.is_path and value and not _is_name(setting, value, Path()):
            paths[key] = value
    return paths


def settings_by_name(recipe: Recipe) -> dict[str, Any]:
    """List all settings by dotted key, with the names of files and folders instead of paths."""
    settings = flatten(to_values(recipe))
    names = {key: _name(path) for key, path in recipe_paths(recipe).items() if key in settings}
    return settings | names | {"data.partial": [_name(path) for path in recipe.data.partial]}


def defining_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Select the settings of a run, by dotted key, that decide what is learned.

    Settings that are missing (older runs) have their default. Variants without routing have no
    iterations, and a single iteration has none before it. Settings of partial files and of
    distillation matter only if there are such files.
    """
    settings = {**DEFAULTS, **settings}
    ignored = {key for key, setting in SETTINGS.items() if COSMETIC in setting.marks}
    is_routed = settings["model.capsules.variant"] in ROUTED
    if not is_routed:
        ignored.add("model.capsules.iterations")
    if not is_routed or settings["model.capsules.iterations"] == 1:
        ignored.add("loss.intermediate_weight")
    if not settings["data.partial"]:
        ignored.add("data.partial_share")
    if settings["distill.shards"] is None:
        ignored |= {"distill.gold", "distill.weight", "distill.temperature"}
    return {key: value for key, value in settings.items() if key not in ignored}


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
    except (ValueError, RecursionError):
        table[last] = text  # a bare word: train.schedule=linear


def _is_name(setting: Setting, value: str, folder: Path) -> bool:
    """Whether a value names an installed package or a model that ships, not a path."""
    if PATH_OR_MODEL in setting.marks:
        return value in shipped_models()
    looks_like_path = "/" in value or os.sep in value or value.startswith(".")
    is_path = looks_like_path or os.path.isdir(folder / value)  # False for names too long
    return PATH_OR_PACKAGE in setting.marks and not is_path


def _resolve(folder: Path, value: Any) -> Any:  # noqa: ANN401 - unchecked
    return os.path.normpath(folder / value) if isinstance(value, str) else value


def _name(path: str) -> str:
    return os.path.basename(os.path.normpath(path))


def _hint(key: str, mistake: str) -> str:
    if mistake == f"unknown key {key}":
        return "; `capsrl train --keys` lists all"
    is_missing = key.startswith("data") and mistake.endswith("is missing")
    return "; name the corpus in [data]" if is_missing else ""


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Nested tables with the changes of other ones."""
    return dict(values) | {
        key: _merged(values[key], value) if isinstance(value, Mapping) else value
        for key, value in changes.items()
    }


def _start_from(start: str, values: dict[str, Any]) -> dict[str, str]:
    """Take the settings of the model of `train.from`; those in FREE may be changed by the recipe.

    -> the mistakes: the settings of the recipe that differ from them
    """
    try:
        model = to_values(read_config(find_model(start)))
    except ModelError as error:
        return {"train.from": f"train.from: {error}"}
    changes, expected = values.get("model", {}), flatten(model, "model.")
    values["model"] = _merged(model, changes)
    return {
        key: f"{key}: expected {json.dumps(expected[key])} as in {start}, from which training "
        f"starts, got {json.dumps(value)}; remove it"
        for key, value in flatten(changes, "model.").items()
        if key not in FREE and value != expected[key]
    }


def _contradictions(values: Mapping[str, Any]) -> dict[str, str]:
    """Find settings that are valid one by one but not together."""
    embeddings = values.get("model", {}).get("embeddings", {})
    train = values.get("train", {})
    problems = {}
    sources = ("transformer", "elmo", "fasttext", "learned", "characters")
    if not any(embeddings.get(name) for name in sources):
        problems["model.embeddings"] = f"no source of word vectors is set: {', '.join(sources)}"
    for name in ("fine_tune", "mark_predicate"):
        if embeddings.get(name) and not embeddings.get("transformer"):
            problems[f"model.embeddings.{name}"] = "needs model.embeddings.transformer"
    varies = embeddings.get("fine_tune") or embeddings.get("mark_predicate")
    is_fixed = embeddings.get("elmo") or (embeddings.get("transformer") and not varies)
    if train.get("cache_states") and not is_fixed:
        problems["train.cache_states"] = (
            "needs ELMo or a transformer with neither fine_tune nor mark_predicate, whose states "
            "do not change"
        )
    l2, decay = values.get("loss", {}).get("l2", LossConfig().l2), train.get("weight_decay", 0.0)
    if l2 > 0 and decay > 0:
        problems["train.weight_decay"] = (
            f"expected 0 where loss.l2 is not 0, got {decay} and loss.l2 = {l2}; "
            "set loss.l2 = 0.0 to use weight decay instead"
        )
    return {key: f"{key}: {problem}" for key, problem in problems.items()}
