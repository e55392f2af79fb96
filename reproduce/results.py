"""Results of runs, stored as JSON lines: `*.jsonl` or `*.jsonl.xz`, one run per line.

A result holds counts, not percentages: every number of the report is computed from them.
"""

import dataclasses
import json
import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from capsrl.errors import DataError
from capsrl.score import Counts, Row

VARIANTS = ("baseline", "word", "capsule", "capsule+global")  # each adds to the one before
FORMAT = 2  # of the files
NO_ROLE = "_"  # the role of a word that is not an argument, as in the traces of capsrl
_NOTHING: Mapping[str, Any] = {}  # of results that were made before it was measured


class Change(NamedTuple):
    """How often the role of a word changed from `before` to `after` between two iterations.

    right  the new role is the gold role
    wrong  the old role was the gold role
    other  neither
    """

    before: str
    after: str
    right: int
    wrong: int
    other: int


class Slips(NamedTuple):
    """Roles that the rules of the decoder rule out, in gold and as predicted without it.

    *_repeats  arguments that repeat a core role of their proposition
    *_orphans  arguments R-X of a proposition without X
    """

    gold_repeats: int
    pred_repeats: int
    gold_orphans: int
    pred_orphans: int


@dataclass(frozen=True)
class Measured:
    """Scores of a trained model on the files of its corpus, with the gold predicates given.

    sets         counts on "dev", "test" and, if the corpus has it, "ood" (out of domain)
    lengths      test, by words in the sentence ("10-19")
    arguments    test, by arguments of the gold proposition ("2")
    sweep        dev, by number of iterations at prediction time; empty for variants without routing
    transitions  dev, n -> role changes between iterations n and n + 1
    gold_roles   dev, how often each role occurs
    decoded      counts on the same sets after the decoder of decoder.py: each core role once
    slips        on the same sets
    parameters   numbers in the network: "routing", which refinement adds, and "all" trained ones
    train_propositions  of the training file
    """

    sets: Mapping[str, Counts]
    lengths: Mapping[str, Row] = field(default_factory=dict)
    arguments: Mapping[str, Row] = field(default_factory=dict)
    sweep: Mapping[int, Counts] = field(default_factory=dict)
    transitions: Mapping[int, tuple[Change, ...]] = field(default_factory=dict)
    gold_roles: Mapping[str, int] = field(default_factory=dict)
    decoded: Mapping[str, Counts] = field(default_factory=dict)
    slips: Mapping[str, Slips] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    train_propositions: int | None = None


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One finished run.

    name         of the run: corpus, variant, settings, seed and a digest of all settings and files
    corpus       its name in the plan; language, annotation and encoder are descriptions from there
    paper        the language of the paper's table 5 to compare with ("en"), "" for none
    iterations, uniqueness  in training; uniqueness is η, the weight of the uniqueness loss
    dev_f1       after each epoch that was scored; the model of `best_epoch` is the one measured
    seconds      of training; device and commit say on what and with which code
    settings     every setting that affects the result, by dotted name; files by name and digest
    code         digest of the source of capsrl, "" in older results
    axes         the values of the axes of the plan that are not those of the recipe
    """

    format: int = FORMAT
    name: str
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
    settings: Mapping[str, Any]
    measured: Measured
    code: str = ""
    axes: Mapping[str, str] = field(default_factory=dict)

    @property
    def epochs(self) -> int:
        """How many epochs it was trained for."""
        scored = len(self.dev_f1) * int(self.settings.get("train.score_every", 1))
        return min(scored, int(self.settings.get("train.epochs", scored)))

    @property
    def training(self) -> str:
        """The same for two results of one training, which two corpora may share."""
        return f"{self.variant} {self.seed} {self.name.rpartition('_')[2]}"


def append_result(path: Path, result: RunResult) -> None:
    """Add a result at the end of a file."""
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(dataclasses.asdict(result), ensure_ascii=False) + "\n")


def read_results(folder: Path) -> list[RunResult]:
    """All results of a folder, by name; raises DataError naming the file and line of a bad one."""
    results = []
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.xz")]):
        try:
            data = path.read_bytes()
            lines = (lzma.decompress(data) if path.suffix == ".xz" else data).splitlines()
        except (OSError, lzma.LZMAError) as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        results += [_parse(line, f"{path}:{i}") for i, line in enumerate(lines, start=1)]
    return sorted(results, key=lambda result: result.name)


def _parse(line: bytes, where: str) -> RunResult:
    try:
        values = json.loads(line)
        if values["format"] != FORMAT:
            raise ValueError(f"format {values['format']} instead of {FORMAT}")
        measured = _measured(**values.pop("measured"))
        return RunResult(**values | {"measured": measured, "dev_f1": tuple(values["dev_f1"])})
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            f"{where}: expected the result of a run, got {type(error).__name__}: {error}; "
            "delete this line and run the plan again"
        ) from None


def _measured(
    sets: Mapping[str, Any],
    lengths: Mapping[str, Any],
    arguments: Mapping[str, Any],
    sweep: Mapping[str, Any],
    transitions: Mapping[str, Any],
    gold_roles: Mapping[str, int],
    decoded: Mapping[str, Any] = _NOTHING,
    slips: Mapping[str, Any] = _NOTHING,
    **others: Any,  # noqa: ANN401
) -> Measured:
    """The measurements of a run from its JSON, where all keys are strings."""
    return Measured(
        sets={name: Counts(**counts) for name, counts in sets.items()},
        lengths={name: Row(**row) for name, row in lengths.items()},
        arguments={name: Row(**row) for name, row in arguments.items()},
        sweep={int(n): Counts(**counts) for n, counts in sweep.items()},
        transitions={int(n): tuple(Change(*c) for c in found) for n, found in transitions.items()},
        gold_roles=gold_roles,
        decoded={name: Counts(**counts) for name, counts in decoded.items()},
        slips={name: Slips(*found) for name, found in slips.items()},
        **others,
    )
