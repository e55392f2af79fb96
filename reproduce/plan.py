"""Read a plan: a TOML file that names corpora and the runs to make on them.

docs/paper.md describes plans; plans/tiny.toml is a small one.
"""

import difflib
import functools
import hashlib
import itertools
import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from capsrl.config import ROUTED, Recipe
from capsrl.errors import ConfigError, unreadable
from capsrl.files.opening import file_digest
from capsrl.recipe import DEFAULTS, defining_settings, read_recipe, settings_by_name
from capsrl.train.checkpoint import run_fingerprint
from reproduce.files import cut_corpus, missing_files
from reproduce.results import VARIANTS

PAPER = ("", "ja", "es", "ca", "de", "cs", "zh", "en")  # languages of the paper's table 5
DRAWN = ("fig1", "fig2")  # without runs, by the model that ships
MAX_LABEL = 120  # characters of a label in the name of a folder
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
    corpora, experiments = _parse(path)
    experiments = _select(experiments, only, path)
    _check_recipes(corpora, experiments, path)
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


def _check_recipes(
    corpora: Mapping[str, Corpus], experiments: Iterable[Mapping[str, Any]], path: Path
) -> None:
    problems: dict[str, None] = {}  # two corpora may share a faulty recipe
    for name in dict.fromkeys(name for one in experiments for name in one["corpora"]):
        try:
            read_recipe(corpora[name].recipe, corpora[name].changes)
        except ConfigError as error:
            problems[str(error).replace("--set", f"{path}: corpora.{name}.set")] = None
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


def _parse(path: Path) -> tuple[dict[str, Corpus], list[dict[str, Any]]]:
    """The corpora and experiments of a plan, checked."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(unreadable(path, error)) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{path}: expected TOML, got a syntax error: {error}") from None
    top = {
        "corpora": _TABLE,
        "experiments": _list_of("tables", lambda value: isinstance(value, dict)),
    }
    mistakes = list(_mistakes(values, top, tuple(top), ""))
    if not mistakes:
        for name, table in values["corpora"].items():
            where = f"corpora.{name}"
            if not _NAME.fullmatch(name):
                mistakes.append(f"{where}: expected a name of letters, digits and . _ + -")
            required = ("recipe", "train", "dev", "test")
            if isinstance(table, dict):
                mistakes += _mistakes(table, _CORPUS, required, f"{where}.")
            else:
                mistakes.append(f"{where}: expected a table, got {table!r}")
        for i, table in enumerate(values["experiments"]):
            required = ("corpora", "variants", "seeds")
            mistakes += _mistakes(table, _EXPERIMENT, required, f"experiments.{i}.")
            mistakes += [
                f"experiments.{i}.corpora: expected one of {', '.join(values['corpora'])}, "
                f"got {name!r}"
                for name in table.get("corpora", ())
                if name not in values["corpora"]
            ]
            mistakes += _mistakes_of_axes(table.get("axes", {}), f"experiments.{i}.axes")
    if mistakes:
        raise ConfigError("\n".join(f"{path}: {mistake}" for mistake in mistakes))
    corpora = {name: _corpus(name, table, path) for name, table in values["corpora"].items()}
    return corpora, values["experiments"]


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
    for axis, values in _flatten(axes) if isinstance(axes, dict) else ():
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
    for key, value in _flatten(values):
        is_path = isinstance(value, str) and value.startswith(("./", "../"))
        text = _beside(folder, value) if is_path else json.dumps(value, ensure_ascii=False)
        text = "" if value == "" else text  # the default
        yield f"{key}={text}"


def _flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _combinations(
    experiment: Mapping[str, Any], folder: Path
) -> Iterator[tuple[str, tuple[Choice, ...]]]:
    """The corpus of every run of an experiment, and what it has of each list."""
    axes = [
        [_choice(axis, value, folder) for value in values]
        for axis, values in _flatten(experiment.get("axes", {}))
    ]
    etas = [f"loss.uniqueness={eta}" for eta in experiment.get("uniqueness", ())]
    for name, variant, seed in itertools.product(
        experiment["corpora"], experiment["variants"], experiment["seeds"]
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
