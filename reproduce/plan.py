"""Read a plan: a TOML file that names corpora and the runs to make on them.

docs/paper.md describes plans; plans/tiny.toml is a small one.
"""

import functools
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from capsrl.config import ROUTED, Recipe
from capsrl.errors import ConfigError
from capsrl.files.opening import file_digest
from capsrl.recipe import DEFAULTS, defining_settings, read_recipe, settings_by_name
from capsrl.train.checkpoint import run_fingerprint
from reproduce.files import cut_corpus, missing_files
from reproduce.plan_file import flatten, read_tables

DRAWN = ("fig1", "fig2")  # without runs, by the model that ships
MAX_LABEL = 120  # characters of a label in the name of a folder


@dataclass(frozen=True)
class Corpus:
    """A corpus of a plan; the last four fields only describe it in the report.

    changes  of its recipe, as `KEY=VALUE`, with the files of the corpus
    """

    name: str
    recipe: Path
    changes: tuple[str, ...]
    language: str = ""
    annotation: str = ""
    encoder: str = ""
    paper: str = ""


@dataclass(frozen=True)
class Choice:
    """One value of an axis: changes of the recipe, or another number of training sentences."""

    axis: str
    value: str
    changes: tuple[str, ...] = ()
    sentences: int | None = None


@dataclass(frozen=True)
class PlannedRun:
    """One training that a plan asks for; `axes` has the values that are not those of its recipe."""

    corpus: Corpus
    recipe: Recipe
    axes: Mapping[str, str]

    @property
    def label(self) -> str:
        """What distinguishes this run from others, for people: en_ewt capsule n2 eta0 seed1."""
        capsules = self.recipe.model.capsules
        parts = [self.corpus.name, capsules.variant]
        parts += [f"n{capsules.iterations}"] if capsules.variant in ROUTED else []
        parts += [f"eta{self.recipe.loss.uniqueness:g}"]
        parts += [f"{axis}={value}" for axis, value in self.axes.items()]
        return " ".join([*parts, f"seed{self.recipe.train.seed}"])

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
        label = re.sub(r"[^\w.+=-]", "_", self.label)[:MAX_LABEL]
        return f"{label}_{key}"


def read_plan(
    path: Path,
    *,
    only: str | None = None,
    changes: Sequence[str] = (),
    seeds: Sequence[int] | None = None,
    cuts: Path = Path("runs/cuts"),
) -> list[PlannedRun]:
    """The runs of a plan in its order, each once.

    only     what experiments make, such as table3: only the runs that it needs
    changes  KEY=VALUE, of all recipes
    seeds    instead of those of the plan
    cuts     folder for parts of training files, if an axis asks for them
    Raises ConfigError naming all mistakes, or all files that are missing if a corpus is.
    """
    tables, experiments = read_tables(path)
    corpora = {name: _corpus(name, table, path) for name, table in tables.items()}
    experiments = _select(experiments, only, path)
    named = dict.fromkeys(name for one in experiments for name in one["corpora"])
    _check_recipes([corpora[name] for name in (named if only else corpora)], path)
    problems: dict[str, None] = {}
    given = tuple(Choice(*_split(change), (change,)) for change in changes)
    planned: list[tuple[PlannedRun, int | None]] = []
    for experiment in experiments:
        if seeds is not None:
            experiment["seeds"] = list(seeds)
        for name, chosen in _combinations(experiment, path.parent):
            try:
                planned.append(_plan(corpora[name], (*given, *chosen)))
            except ConfigError as error:
                where = "--set" if given else f"{path}: experiments"
                problems[str(error).replace("--set", where)] = None
    if problems:
        raise ConfigError("\n".join(problems))
    if any(not Path(file).exists() for run, _ in planned for file in _data(run.recipe)):
        check_files(run for run, _ in planned)
    runs: dict[str, PlannedRun] = {}
    for run, sentences in planned:
        if sentences is not None:
            cut = cut_corpus(Path(run.recipe.data.train), sentences, cuts)
            data = replace(run.recipe.data, train=str(cut))
            run = replace(run, recipe=replace(run.recipe, data=data))  # noqa: PLW2901
        runs.setdefault(run.name, run)
    return list(runs.values())


def _select(
    experiments: list[dict[str, Any]], only: str | None, path: Path
) -> list[dict[str, Any]]:
    """The experiments that make what is asked for; none of them makes figures 1 and 2."""
    found = [one for one in experiments if only is None or only in one.get("makes", ())]
    if not found and only not in DRAWN:
        names = dict.fromkeys(name for one in experiments for name in one.get("makes", ()))
        raise ConfigError(
            f"{path}: expected one of {', '.join((*DRAWN, *names))} to make, got {only}"
        )
    return found


def _check_recipes(corpora: Iterable[Corpus], path: Path) -> None:
    problems: dict[str, None] = {}  # two corpora may share a faulty recipe
    for corpus in corpora:
        try:
            read_recipe(corpus.recipe, corpus.changes)
        except ConfigError as error:
            problems[str(error).replace("--set", f"{path}: corpora.{corpus.name}.set")] = None
    if problems:
        raise ConfigError("\n".join(problems))


def _plan(corpus: Corpus, chosen: Sequence[Choice]) -> tuple[PlannedRun, int | None]:
    """One run, and the number of its training sentences if it is not to have all."""
    own = [change for each in chosen if each.axis == "" for change in each.changes]
    plain = _defining(read_recipe(corpus.recipe, [*corpus.changes, *own]))
    changes = [change for each in chosen for change in each.changes]
    recipe = read_recipe(corpus.recipe, [*corpus.changes, *changes])
    now = _defining(recipe)
    axes = {
        each.axis: each.value
        for each in chosen
        if each.axis
        and (
            each.sentences is not None
            or any(now.get(key) != plain.get(key) for key in map(_key, each.changes))
        )
    }
    sentences = next((each.sentences for each in chosen if each.sentences is not None), None)
    return PlannedRun(corpus, recipe, axes), sentences


def check_files(runs: Iterable[PlannedRun]) -> None:
    """Raise ConfigError naming every corpus, encoder and vector file of runs that is missing."""
    if missing := missing_files((run.corpus.name, run.recipe) for run in runs):
        raise ConfigError("\n".join(missing))


def _data(recipe: Recipe) -> list[str]:
    """The files whose contents are part of the name of a run."""
    return [recipe.data.train, recipe.data.dev, *recipe.data.test.values(), *recipe.data.partial]


def _defining(recipe: Recipe) -> dict[str, Any]:
    return defining_settings(settings_by_name(recipe))


def _key(change: str) -> str:
    return change.partition("=")[0].strip()


def _split(change: str) -> tuple[str, str]:
    """The last part of the key, and the value."""
    key, _, value = change.partition("=")
    return key.strip().rpartition(".")[2], value.strip()


def _corpus(name: str, table: Mapping[str, Any], path: Path) -> Corpus:
    files = {"test": table["test"], "ood": table.get("ood")}
    tests = ", ".join(
        f"{key} = {_beside(path.parent, file)}" for key, file in files.items() if file
    )
    return Corpus(
        name,
        path.parent / table["recipe"],
        (
            *_changes(table.get("set", {}), path.parent),
            f"data.train={_beside(path.parent, table['train'])}",
            f"data.dev={_beside(path.parent, table['dev'])}",
            f"data.test={{ {tests} }}",  # replaces the test files of the recipe
        ),
        **{key: table.get(key, "") for key in ("language", "annotation", "encoder", "paper")},
    )


def _beside(folder: Path, path: str) -> str:
    return json.dumps(os.path.normpath(folder / path), ensure_ascii=False)


def _changes(values: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Settings in the form of `capsrl train --set`."""
    for key, value in flatten(values):
        is_path = isinstance(value, str) and value.startswith(("./", "../"))
        text = _beside(folder, value) if is_path else json.dumps(value, ensure_ascii=False)
        text = "" if value == "" else text  # the default
        yield f"{key}={text}"


def _combinations(
    experiment: Mapping[str, Any], folder: Path
) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    """The corpus of every run of an experiment, and what it has of each list.

    Seed by seed: if time runs out, what is done has all variants.
    """
    axes = [
        [_choice(axis, value, folder) for value in values]
        for axis, values in flatten(experiment.get("axes", {}))
    ]
    etas = [f"loss.uniqueness={eta}" for eta in experiment.get("uniqueness", ())]
    for seed, name, variant in itertools.product(
        experiment["seeds"], experiment["corpora"], experiment["variants"]
    ):
        # Without routing there is nothing to iterate.
        turns = experiment.get("iterations", ()) if variant in ROUTED else ()
        steps = [f"model.capsules.iterations={n}" for n in turns]
        always = (f'model.capsules.variant="{variant}"', f"train.seed={seed}")
        for step, eta in itertools.product(steps or [""], etas or [""]):
            own = Choice("", "", (*always, *filter(None, (step, eta))))
            for chosen in itertools.product(*axes):
                yield name, (own, *chosen)


def _choice(axis: str, value: Any, folder: Path) -> Choice:  # noqa: ANN401
    if isinstance(value, dict):
        settings = {key: each for key, each in value.items() if key not in ("name", "sentences")}
        changes = tuple(_changes(settings, folder))
        return Choice(axis, value["name"], changes, value.get("sentences"))
    if axis == "sentences":
        return Choice(axis, str(value), sentences=None if value == "all" else value)
    shown = value if isinstance(value, str) else f"{value:g}" if value is not True else "true"
    return Choice(axis.rpartition(".")[2], shown, tuple(_changes({axis: value}, folder)))
