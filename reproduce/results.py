"""Results of runs, stored as JSON lines: `*.jsonl` or `*.jsonl.xz`, one run per line.

A result holds counts, not percentages: every number of the report is computed from them.
"""

import lzma
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import ConfigDict, TypeAdapter, ValidationError

from capsrl.errors import DataError
from capsrl.score import Counts, Row

VARIANTS = ("baseline", "word", "capsule", "capsule+global")  # each adds to the one before
NO_ROLE = "_"  # the role of a word that is not an argument, as in the traces of capsrl


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


@dataclass(frozen=True)
class Measured:
    """Scores of a trained model on the files of its corpus, with the gold predicates given.

    sets         counts on "dev", "test" and, if the corpus has it, "ood" (out of domain)
    lengths      test, by words in the sentence ("10-19")
    arguments    test, by arguments of the gold proposition ("2")
    sweep        dev, by number of iterations at prediction time; empty for variants without routing
    transitions  dev, n -> role changes between iterations n and n + 1
    gold_roles   dev, how often each role occurs
    """

    sets: Mapping[str, Counts]
    lengths: Mapping[str, Row] = field(default_factory=dict)
    arguments: Mapping[str, Row] = field(default_factory=dict)
    sweep: Mapping[int, Counts] = field(default_factory=dict)
    transitions: Mapping[int, tuple[Change, ...]] = field(default_factory=dict)
    gold_roles: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RunResult:
    """One finished run.

    name         of the run: corpus, variant, settings, seed and a digest of all settings and files
    corpus       its name in the plan; language, annotation and encoder are descriptions from there
    paper        the language of the paper's table 5 to compare with ("en"), "" for none
    iterations, uniqueness  in training; uniqueness is η, the weight of the uniqueness loss
    dev_f1       after each epoch; the model of `best_epoch` is the one that was measured
    seconds      of training; device and commit say on what and with which code
    settings     every setting that affects the result, by dotted name; files by name and digest
    """

    __pydantic_config__ = ConfigDict(extra="forbid")  # of the counts too
    format: Literal[2] = 2
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

    @property
    def training(self) -> str:
        """The same for two results of one training, which two corpora may share."""
        return f"{self.variant} {self.seed} {self.name.rpartition('_')[2]}"


_JSON = TypeAdapter(RunResult)


def append_result(path: Path, result: RunResult) -> None:
    """Add a result at the end of a file."""
    with open(path, "ab") as file:
        file.write(_JSON.dump_json(result) + b"\n")


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
        return _JSON.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        raise DataError(
            f"{where}: expected the result of a run, got {field or 'a line'}: {first['msg']}; "
            "delete this line and run the plan again"
        ) from None
