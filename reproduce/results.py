"""What is kept of a run: one JSON file with its settings and everything measured on it.

Counts, not percentages: they can be pooled, and every figure of the report derives from them.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from capsrl.data.files import open_writer, read_lines
from capsrl.errors import DataError
from capsrl.score import Counts, Row

FORMAT = 1
VARIANTS = ("baseline", "word", "capsule", "capsule+global")  # each adds to the one before
_REMEDY = "move it away, and `capsrl paper` runs it again"


@dataclass(frozen=True)
class Change:
    """How often a word's role changed from `before` to `after` between two iterations.

    right  the new role is the gold one
    wrong  the old role was the gold one
    other  neither was
    """

    before: str
    after: str
    right: int
    wrong: int
    other: int


@dataclass(frozen=True)
class Measured:
    """What a trained model does on the files of its corpus, predicates given.

    sets         counts on "dev", "test" and, where there is one, "ood"
    lengths      of test: words in the sentence ("10-19") -> counts
    arguments    of test: arguments of the gold proposition ("2") -> counts
    sweep        of dev: iterations at prediction time -> counts; empty where nothing iterates
    transitions  of dev: n -> what changed between iterations n and n + 1
    gold_roles   of dev: how often each role occurs
    """

    sets: Mapping[str, Counts]
    lengths: Mapping[str, Row] = field(default_factory=dict)
    arguments: Mapping[str, Row] = field(default_factory=dict)
    sweep: Mapping[int, Counts] = field(default_factory=dict)
    transitions: Mapping[int, tuple[Change, ...]] = field(default_factory=dict)
    gold_roles: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class RunResult:
    """One finished run.

    corpus       its name in the plan; language, annotation and encoder in words, from the plan
    paper        the language of the paper's table 5 to compare with ("en"), "" for none
    iterations, uniqueness  of training (uniqueness is eta)
    dev_f1       after each epoch; the model of `best_epoch` is the one measured
    seconds      of training; device and commit say on what and by which code
    recipe       all settings by dotted name, files by name and digest instead of by path
    """

    corpus: str
    language: str
    annotation: str
    encoder: str
    paper: str
    variant: str
    iterations: int
    uniqueness: float
    seed: int
    best_epoch: int
    dev_f1: tuple[float, ...]
    seconds: float
    device: str
    commit: str
    recipe: Mapping[str, Any]
    measured: Measured


def write_result(path: Path, result: RunResult) -> None:
    """Write a run as JSON, under its name only when all of it is there."""
    values = {"format": FORMAT, **asdict(result)}
    with open_writer(path) as file:
        json.dump(values, file, ensure_ascii=False, separators=(",", ":"))
        file.write("\n")


def read_results(folder: Path) -> list[RunResult]:
    """The finished runs of a folder, by file name; raises DataError where there are none."""
    if not folder.is_dir():
        raise DataError(f"{folder}: expected a folder of runs, got no such folder")
    results = [read_result(path) for path in sorted(folder.glob("*.json"))]
    if not results:
        raise DataError(
            f"{folder}: expected finished runs (*.json), got none; "
            "make them with `capsrl paper PLAN.toml`"
        )
    return results


def read_notes(folder: Path) -> list[str]:
    """The paragraphs of notes.md beside the runs, each on one line; none without that file.

    They may hold `**bold**` and backquoted code, as all texts of a report.
    """
    path = folder / "notes.md"
    if not path.exists():
        return []
    return [" ".join(part.split()) for part in "\n".join(read_lines(path)).split("\n\n") if part]


def read_result(path: Path) -> RunResult:
    """Read a run back; raises DataError for a file that is none, or of a newer format."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected the JSON of a run, got {error}; {_REMEDY}") from None
    found = values.pop("format", None) if isinstance(values, dict) else None
    if found != FORMAT:
        got = "none" if found is None else f"format {found!r}"
        raise DataError(f"{path}: expected a run of format {FORMAT}, got {got}; {_REMEDY}")
    try:
        measured = values.pop("measured")
        return RunResult(
            **values | {"dev_f1": tuple(values["dev_f1"])},
            measured=Measured(
                sets={name: Counts(**counts) for name, counts in measured["sets"].items()},
                lengths={name: Row(**row) for name, row in measured["lengths"].items()},
                arguments={name: Row(**row) for name, row in measured["arguments"].items()},
                sweep={int(n): Counts(**counts) for n, counts in measured["sweep"].items()},
                transitions={
                    int(n): tuple(Change(**change) for change in changes)
                    for n, changes in measured["transitions"].items()
                },
                gold_roles=measured["gold_roles"],
            ),
        )
    except KeyError as error:
        raise DataError(f"{path}: expected {error} among its fields, got none; {_REMEDY}") from None
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{path}: expected the fields of a run, got {error}; {_REMEDY}") from None
