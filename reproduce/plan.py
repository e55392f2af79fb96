"""Read a plan: a TOML file that names corpora and the runs to make on them.

docs/paper.md describes plans; plans/tiny.toml is a small one.
"""

import difflib
import functools
import hashlib
import itertools
import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from capsrl.config import ROUTED, Recipe
from capsrl.errors import ConfigError
from capsrl.files.opening import file_digest
from capsrl.recipe import DEFAULTS, defining_settings, read_recipe
from capsrl.train.checkpoint import run_fingerprint

Name = Annotated[str, StringConstraints(pattern=r"^[\w.+-]+$")]  # becomes part of file names
_WANTED = {  # by pydantic's name of the error
    "string_pattern_mismatch": "a name of letters, digits and . _ + -",
    "too_short": "at least one item",
}
Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Corpus(BaseModel):
    """A corpus of a plan; the last four fields only describe it in the report."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    recipe: str
    changes: dict[str, Any] = Field(default={}, alias="set")
    train: str
    dev: str
    test: str
    ood: str | None = None
    language: str = ""
    annotation: str = ""
    encoder: str = ""
    paper: Literal["", "ja", "es", "ca", "de", "cs", "zh", "en"] = ""


class Experiment(BaseModel):
    """Lists whose combinations are run; None takes the value of the recipe."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    corpora: list[str] = Field(min_length=1)
    variants: list[Literal["baseline", "word", "capsule", "capsule+global"]] = Field(min_length=1)
    seeds: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    iterations: list[Annotated[int, Field(ge=1)]] | None = Field(default=None, min_length=1)
    uniqueness: list[Weight] | None = Field(default=None, min_length=1)


class Plan(BaseModel):
    """A whole plan, as in its file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    corpora: dict[Name, Corpus] = Field(min_length=1)
    experiments: list[Experiment] = Field(min_length=1)


@dataclass(frozen=True)
class PlannedRun:
    """One training that a plan asks for."""

    corpus_name: str
    corpus: Corpus
    recipe: Recipe

    @property
    def label(self) -> str:
        """What distinguishes this run from others, for people: en_ewt capsule n2 eta0 seed1."""
        capsules = self.recipe.model.capsules
        iterations = f" n{capsules.iterations}" if capsules.variant in ROUTED else ""
        eta = f"eta{self.recipe.loss.uniqueness:g}"
        seed = f"seed{self.recipe.train.seed}"
        return f"{self.corpus_name} {capsules.variant}{iterations} {eta} {seed}"

    @functools.cached_property
    def settings(self) -> dict[str, Any]:
        """Every setting that affects the result; files by name and digest."""
        return defining_settings(run_fingerprint(self.recipe))

    @functools.cached_property
    def name(self) -> str:
        """The label and a digest of all settings and of the contents of all files."""
        tests = {name: file_digest(path) for name, path in self.recipe.data.test.items()}
        # Without defaults, so that a new setting does not rename the runs made before it.
        changed = {key: value for key, value in self.settings.items() if value != DEFAULTS.get(key)}
        text = json.dumps([changed, tests], sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:8]
        return f"{self.label.replace(' ', '_')}_{key}"


def read_plan(path: Path) -> list[PlannedRun]:
    """The runs of a plan in its order, each once; raises ConfigError naming all mistakes."""
    plan = _parse(path)
    overrides = {name: _overrides(corpus, path.parent) for name, corpus in plan.corpora.items()}
    mistakes: dict[str, None] = {}  # two corpora may share a faulty recipe
    for name, corpus in plan.corpora.items():
        try:
            read_recipe(path.parent / corpus.recipe, overrides[name])
        except ConfigError as error:
            mistakes[str(error).replace("--set", f"{path}: corpora.{name}.set")] = None
    if mistakes:
        raise ConfigError("\n".join(mistakes))
    runs: dict[str, PlannedRun] = {}
    for experiment in plan.experiments:
        for name, changes in _combinations(experiment):
            corpus = plan.corpora[name]
            recipe = read_recipe(path.parent / corpus.recipe, [*overrides[name], *changes])
            run = PlannedRun(name, corpus, recipe)
            runs.setdefault(run.name, run)
    return list(runs.values())


def _parse(path: Path) -> Plan:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: expected TOML, got a syntax error: {error}") from None
    try:
        plan = Plan.model_validate(values)
        mistakes = [
            f"experiments.{i}.corpora: expected one of {', '.join(plan.corpora)}, got {name!r}"
            for i, experiment in enumerate(plan.experiments)
            for name in experiment.corpora
            if name not in plan.corpora
        ]
    except ValidationError as error:
        mistakes = [_explain(dict(one)) for one in error.errors()]
    if mistakes:
        raise ConfigError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    return plan


def _explain(error: Mapping[str, Any]) -> str:
    """One mistake that pydantic found, in the usual shape of our messages."""
    where = ".".join(str(part) for part in error["loc"] if part != "[key]")
    if error["type"] == "missing":
        return f"{where}: expected a value, got none"
    if error["type"] == "extra_forbidden":
        kind = {1: Plan, 3: Corpus if error["loc"][0] == "corpora" else Experiment}
        fields = kind[len(error["loc"])].model_fields
        known = [field.alias or name for name, field in fields.items()]
        near = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"{where}: expected one of {', '.join(known)}, got another key{hint}"
    wanted = _WANTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    return f"{where}: expected {wanted}, got {error['input']!r}"


def _overrides(corpus: Corpus, folder: Path) -> list[str]:
    """The changes of a corpus to its recipe, in the form of `capsrl train --set`."""

    def beside(path: str) -> str:
        return json.dumps(os.path.normpath(folder / path), ensure_ascii=False)

    tests = {"test": corpus.test, "ood": corpus.ood}
    table = ", ".join(f"{name} = {beside(path)}" for name, path in tests.items() if path)
    return [
        *(
            f"{key}={beside(value)}"
            if isinstance(value, str) and value.startswith(("./", "../"))
            else f"{key}={json.dumps(value, ensure_ascii=False)}"
            for key, value in _flatten(corpus.changes)
        ),
        f"data.train={beside(corpus.train)}",
        f"data.dev={beside(corpus.dev)}",
        f"data.test={{ {table} }}",  # replaces the test files of the recipe
    ]


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _combinations(experiment: Experiment) -> Iterator[tuple[str, list[str]]]:
    """(corpus, overrides) of every run of an experiment."""
    for name, variant, seed in itertools.product(
        experiment.corpora, experiment.variants, experiment.seeds
    ):
        # Without routing there is nothing to iterate.
        iterations = experiment.iterations if variant in ROUTED else None
        steps = [[f"model.capsules.iterations={n}"] for n in iterations or []] or [[]]
        weights = [[f"loss.uniqueness={eta}"] for eta in experiment.uniqueness or []] or [[]]
        for step, weight in itertools.product(steps, weights):
            changes = [f'model.capsules.variant="{variant}"', f"train.seed={seed}"]
            yield name, [*changes, *step, *weight]
