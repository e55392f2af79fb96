"""A plan in, the runs it asks for out.

    [corpora.en_ewt]                     # any number of corpora, each with its recipe and files
    recipe = "../recipes/english.toml"
    set = { model.encoder.predicate_width = 0 }      # what differs from the recipe
    train = "ewt/train.conll09.xz"
    dev = "ewt/dev.conll09.xz"
    test = "ewt/test.conll09.xz"
    ood = "masc/ood.conll09.xz"          # optional

    [[experiments]]                      # every combination of what these lists name
    corpora = ["en_ewt"]
    variants = ["baseline", "capsule+global"]
    seeds = [1, 2, 3]
    iterations = [2]                     # optional, as is uniqueness (eta): else as in the recipe

Paths are relative to the plan. Two experiments that ask for the same run get it once.
docs/paper.md says more.
"""

import copy
import difflib
import functools
import hashlib
import itertools
import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capsrl.config import ROUTED, Recipe
from capsrl.errors import ConfigError
from capsrl.recipe import (
    DEFAULTS,
    check_values,
    defining_settings,
    load_values,
    make_recipe,
    resolve_paths,
)
from capsrl.train.checkpoint import file_digest, run_fingerprint
from reproduce.published import LANGUAGES
from reproduce.results import VARIANTS

NEEDED_FILES = ("train", "dev", "test")
FILES = (*NEEDED_FILES, "ood")
WORDS = ("language", "annotation", "encoder", "paper")  # for the report
CORPUS_KEYS = ("recipe", "set", *FILES, *WORDS)
EXPERIMENT_KEYS = ("corpora", "variants", "seeds", "iterations", "uniqueness")
NEEDED_LISTS = ("corpora", "variants", "seeds")
NAME = re.compile(r"[\w.+-]+")  # of a corpus: it becomes part of the names of files


@dataclass(frozen=True)
class Corpus:
    """What a plan says of a corpus; language, annotation, encoder and paper are for the report.

    values  of its recipe, the plan's changes and files put in
    """

    name: str
    values: Mapping[str, Any]
    language: str = ""
    annotation: str = ""
    encoder: str = ""
    paper: str = ""


@dataclass(frozen=True)
class PlannedRun:
    """One training that a plan asks for."""

    corpus: Corpus
    recipe: Recipe

    @property
    def label(self) -> str:
        """What sets this run apart from others, for people: en_ewt capsule n2 eta0 seed1."""
        capsules = self.recipe.model.capsules
        iterations = f" n{capsules.iterations}" if capsules.variant in ROUTED else ""
        eta = f"eta{self.recipe.loss.uniqueness:g}"
        return (
            f"{self.corpus.name} {capsules.variant}{iterations} {eta} seed{self.recipe.train.seed}"
        )

    @functools.cached_property
    def name(self) -> str:
        """Of the run's file and folder: the label, and a digest of all settings and files."""
        tests = {name: file_digest(path) for name, path in self.recipe.data.test.items()}
        # Keys at their defaults are left out: a choice that is new today was made by none then.
        identity = {
            key: value
            for key, value in defining_settings(run_fingerprint(self.recipe)).items()
            if value != DEFAULTS.get(key)
        }
        settings = json.dumps([identity, tests], sort_keys=True)
        key = hashlib.sha256(settings.encode()).hexdigest()[:8]
        return f"{self.label.replace(' ', '_')}_{key}"


def read_plan(path: Path, *, check: bool = True) -> list[PlannedRun]:
    """The runs of a plan, in its order, each once; raises ConfigError naming all mistakes.

    check  also the recipes' keys and values
    """
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: expected TOML, got a syntax error: {error}") from None
    mistakes = list(_mistakes(values))
    if mistakes:
        raise ConfigError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    corpora = _read_corpora(values["corpora"], path, check=check)
    runs: dict[str, PlannedRun] = {}
    for experiment in values["experiments"]:
        for run in _expand(experiment, corpora):
            runs.setdefault(run.name, run)
    return list(runs.values())


def _read_corpora(
    tables: Mapping[str, Mapping[str, Any]], path: Path, *, check: bool
) -> dict[str, Corpus]:
    corpora: dict[str, Corpus] = {}
    mistakes: list[str] = []
    for name, table in tables.items():
        try:
            corpora[name] = _read_corpus(name, table, path, check=check)
        except ConfigError as error:
            mistakes.append(str(error))
    if mistakes:  # two corpora may have the same faulty recipe
        raise ConfigError("\n".join(dict.fromkeys(mistakes)))
    return corpora


def _read_corpus(name: str, table: Mapping[str, Any], path: Path, *, check: bool) -> Corpus:
    values = load_values(path.parent / table["recipe"])
    changes: dict[str, Any] = copy.deepcopy(table.get("set", {}))
    files = {key: table[key] for key in FILES if key in table}
    data = {key: files.pop(key) for key in ("train", "dev")} | {"test": files}
    changes["data"] = changes.get("data", {}) | data
    resolve_paths(changes, path.parent)
    values = _merged(values, changes)
    values["data"]["test"] = changes["data"]["test"]  # instead of the recipe's, not besides
    if check:
        check_values(values, source=f"{path}, corpora.{name}")
    words = {key: table[key] for key in WORDS if key in table}
    return Corpus(name, values, **words)


def _merged(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for key, change in changes.items():
        inner = isinstance(change, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], change) if inner else change
    return merged


def _expand(experiment: Mapping[str, Any], corpora: Mapping[str, Corpus]) -> Iterator[PlannedRun]:
    for name, variant, seed in itertools.product(
        experiment["corpora"], experiment["variants"], experiment["seeds"]
    ):
        # None: as the recipe says. Without routing there is nothing to iterate.
        iterations = experiment.get("iterations", [None]) if variant in ROUTED else [None]
        for n, eta in itertools.product(iterations, experiment.get("uniqueness", [None])):
            capsules = {"variant": variant} | ({} if n is None else {"iterations": n})
            changes: dict[str, Any] = {"model": {"capsules": capsules}, "train": {"seed": seed}}
            if eta is not None:
                changes["loss"] = {"uniqueness": float(eta)}
            corpus = corpora[name]
            yield PlannedRun(corpus, make_recipe(_merged(corpus.values, changes)))


def _mistakes(values: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(values, ("corpora", "experiments"), "")
    corpora, experiments = values.get("corpora"), values.get("experiments")
    if not isinstance(corpora, dict) or not all(isinstance(c, dict) for c in corpora.values()):
        yield "expected tables [corpora.NAME], got none"
        return
    if not isinstance(experiments, list) or not all(isinstance(e, dict) for e in experiments):
        yield "expected tables [[experiments]], got none"
        return
    for name, table in corpora.items():
        yield from _corpus_mistakes(f"corpora.{name}", table)
    for number, table in enumerate(experiments, start=1):
        yield from _experiment_mistakes(f"experiment {number}", table, list(corpora))


def _corpus_mistakes(where: str, table: Mapping[str, Any]) -> Iterator[str]:
    name = where.partition(".")[2]
    if not NAME.fullmatch(name):
        yield f"{where}: expected a name of letters, digits and . _ + - alone, got {name!r}"
    yield from _unknown(table, CORPUS_KEYS, f"{where}: ")
    for key in ("recipe", *NEEDED_FILES):
        if key not in table:
            yield f"{where}: expected {key}, got none"
    for key, value in table.items():
        kind: type = dict if key == "set" else str
        if key in CORPUS_KEYS and not isinstance(value, kind):
            wanted = "a table" if kind is dict else "a string"
            yield f"{where}.{key}: expected {wanted}, got {value!r}"
    paper = table.get("paper", "")
    if isinstance(paper, str) and paper not in ("", *LANGUAGES):
        yield f"{where}.paper: expected one of {', '.join(LANGUAGES)}, got {paper!r}"
    changes = table.get("set")
    if isinstance(changes, dict) and not isinstance(changes.get("data", {}), dict):
        yield f"{where}.set.data: expected a table, got {changes['data']!r}"


def _experiment_mistakes(
    where: str, table: Mapping[str, Any], corpora: Sequence[str]
) -> Iterator[str]:
    yield from _unknown(table, EXPERIMENT_KEYS, f"{where}: ")
    for key in NEEDED_LISTS:
        if key not in table:
            yield f"{where}: expected {key}, got none"
    for key, items in table.items():
        if key not in EXPERIMENT_KEYS:
            continue
        if not isinstance(items, list) or not items:
            yield f"{where}: {key}: expected a list, got {items!r}"
            continue
        for item in items:
            wanted = _wanted(key, item, corpora)
            if wanted:
                yield f"{where}: {key}: expected {wanted}, got {item!r}"


def _wanted(key: str, item: object, corpora: Sequence[str]) -> str:
    """What an item of a list should have been; nothing if it is that."""
    is_whole = isinstance(item, int) and not isinstance(item, bool)
    if key == "corpora":
        return "" if item in corpora else f"one of {', '.join(corpora)}"
    if key == "variants":
        return "" if item in VARIANTS else f"one of {', '.join(VARIANTS)}"
    if key == "uniqueness":
        fits = (is_whole or isinstance(item, float)) and 0 <= item < math.inf  # type: ignore[operator]
        return "" if fits else "a number of at least 0"
    least = 1 if key == "iterations" else 0
    fits = is_whole and item >= least  # type: ignore[operator]
    return "" if fits else f"a whole number of at least {least}"


def _unknown(table: Mapping[str, Any], known: Sequence[str], where: str) -> Iterator[str]:
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"{where}expected one of {', '.join(known)}, got {key}{hint}"
