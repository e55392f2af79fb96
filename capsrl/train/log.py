"""The log of a run: JSON lines, TensorBoard, warnings and the training curve.

{"kind": "step", "epoch": 3, "step": 150, "loss": 0.41, "loss_roles": 0.3, "rate": 0.0005, ...}
{"kind": "epoch", "epoch": 3, "step": 196, "dev_f1": 81.2, "dev_em": 55.1, "best": true, ...}
{"kind": "warning", "step": 900, "message": "epoch 9: dev F1 is 42.10, after 85.02 in epoch 6; ..."}
{"kind": "end", "best_epoch": 17, "dev_f1": 86.0, "test_en_ewt_f1": 86.2, ...}
"""

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capsrl.errors import ConfigError, DataError, install_hint
from capsrl.score import Scores
from capsrl.train.checkpoint import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Record = dict[str, Any]
Report = Callable[[Record], None]

_LOW = 0.8  # times the best F1: sound runs stay above it, even at the highest rates
_FEW = 0.1  # times the number of gold arguments
_CURVES = {"dev_f1": "F1", "dev_argument_f1": "F1 of arguments", "dev_em": "exact match"}


class Log:
    """The file log.jsonl of a run, and the folder tensorboard where that is installed.

    folder  of the run; None writes nothing: only one of several processes writes
    size    bytes of an existing log to keep: lines written after the last checkpoint are cut off,
            as the resumed run writes them again
    report  called with every record
    Raises ConfigError if the folder cannot be written.
    """

    def __init__(self, folder: Path | None, *, size: int, report: Report | None = None) -> None:
        self._report = report
        self._file = self._board = None
        if folder is None:
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = open(folder / "log.jsonl", "ab")  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise ConfigError(
                f"{folder}: cannot be written: {error.strerror or error}; "
                "name another folder with --out"
            ) from None
        # Never longer than the file: truncate() would pad a log that someone has emptied.
        self._file.truncate(min(size, self._file.seek(0, os.SEEK_END)))
        self._file.seek(0, os.SEEK_END)
        self._board = _make_board(folder / "tensorboard")

    @property
    def size(self) -> int:
        """Bytes written so far."""
        return 0 if self._file is None else self._file.tell()

    def write(self, kind: str, record: Mapping[str, Any]) -> None:
        """Append a record and flush the file."""
        if self._file is None:
            return
        record = {"kind": kind, **record}
        self._file.write(json.dumps(record).encode() + b"\n")
        self._file.flush()
        if self._board is not None and "step" in record:
            for key, value in record.items():
                if isinstance(value, int | float) and key not in ("step", "epoch"):
                    self._board.add_scalar(f"{kind}/{key}", value, record["step"])
        if self._report is not None:
            self._report(record)

    def close(self) -> None:
        """Close the file and TensorBoard."""
        for each in (self._file, self._board):
            if each is not None:
                each.close()


def _make_board(folder: Path) -> Any:  # noqa: ANN401 - optional package
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder))


def read_log(path: Path) -> list[Record]:
    """Read the records of a log, in order; raises DataError naming a line that is not JSON."""
    records: list[Record] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            records.append(json.loads(line))
        except ValueError:
            raise DataError(f"{path}:{number}: expected a JSON object, got {line[:40]!r}") from None
    return records


def dev_figures(dev: Scores) -> Record:
    """The figures of the dev scores that the record of an epoch has."""
    return {
        "dev_f1": dev.labeled_f1,
        "dev_precision": dev.labeled_precision,
        "dev_recall": dev.labeled_recall,
        "dev_argument_f1": dev.counts.arguments.f1,
        "dev_em": dev.exact_match,
    }


def is_low(f1: float, best_f1: float) -> bool:
    """Whether an F1 is far below the best one so far."""
    return f1 < _LOW * best_f1


def find_collapse(dev: Scores, state: State, *, n_epochs: int) -> str | None:
    """Describe what is wrong after an epoch; None if nothing is, or if it was reported before.

    In a collapse, a fine-tuned encoder gives all words the same vector. Such a model predicts the
    most frequent senses and hardly any arguments, and does not recover.

    state     after the epoch, with `low_epochs` and `predicts_arguments` updated
    n_epochs  of the whole run; in its first quarter, few predicted arguments are normal
    """
    advice = "lower train.transformer_rate or train.learning_rate, or try another train.seed"
    counts = dev.counts
    if state.low_epochs == 2:
        return (
            f"epoch {state.epoch}: dev F1 is {dev.labeled_f1:.2f}, after {state.best_f1:.2f} in "
            f"epoch {state.best_epoch}; the run has collapsed: {advice}"
        )
    is_time = state.epoch == max(4, math.ceil(n_epochs / 4))
    if is_time and counts.gold_arguments and not state.predicts_arguments:
        return (
            f"epoch {state.epoch}: no argument has been predicted on dev so far; dev F1 is that of "
            "senses alone: raise train.learning_rate, or lower train.transformer_rate if the "
            "encoder is fine-tuned"
        )
    if is_time and counts.pred_arguments < _FEW * counts.gold_arguments:
        return (
            f"epoch {state.epoch}: {counts.pred_arguments} arguments are predicted on dev, gold "
            f"has {counts.gold_arguments}; the run may have collapsed: {advice}"
        )
    return None


def plot_curve(records: list[Record]) -> "Figure":
    """Plot the dev scores and, below them, the training loss by epoch.

    `figure.savefig(path)` writes a file. Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ConfigError(f"plots need matplotlib: {install_hint('plots')}") from None
    epochs = [record for record in records if record["kind"] == "epoch"]
    figure = Figure(figsize=(7, 5), dpi=150, layout="constrained")
    scores, losses = figure.subplots(2, sharex=True, height_ratios=(2, 1))
    for key, label in _CURVES.items():
        scores.plot(*_points(epochs, key), label=label, marker=".")
    for record in [record for record in epochs if record["best"]][-1:]:
        label = f"best: {record['dev_f1']:.2f}"
        scores.plot([record["epoch"]], [record["dev_f1"]], "o", color="tab:blue", label=label)
    scores.set_ylabel("dev score (%)")
    scores.set_ylim(-2, 102)  # markers at 0 and 100 are whole
    losses.plot(*_points(epochs, "loss"), color="tab:gray", label="training loss", marker=".")
    losses.set_xlabel("epoch")
    losses.set_ylabel("training loss")
    losses.set_ylim(bottom=0)
    losses.xaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in (scores, losses):
        panel.grid(alpha=0.3)
    figure.legend(handles=scores.get_lines(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _points(epochs: list[Record], key: str) -> tuple[list[float], list[float]]:
    """The points of a curve; logs of older runs lack some scores."""
    known = [record for record in epochs if key in record]
    return [record["epoch"] for record in known], [record[key] for record in known]
