"""Show the progress of a training run on standard error."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:  # `capsrl train --help` needs no torch
    from capsrl.train.log import Record, Report


@contextmanager
def show_progress(n_epochs: int) -> "Iterator[Report]":
    """Make the `report` of a run: progress bars on a terminal, else one line per epoch."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _write_line
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[note]}"))
    with Progress(*columns, TimeElapsedColumn(), console=console) as bars:
        epochs = bars.add_task("epochs", total=n_epochs, note="")
        batches = bars.add_task("batches", total=None, note="")

        def report(record: "Record") -> None:
            if record["kind"] == "step":
                note = f"loss {record['loss']:.3f}, {record['words_per_second']:,} words/s"
                done, total = record["batch"], record["batches"]
                bars.update(batches, completed=done, total=total, note=note)
                bars.update(epochs, completed=record["epoch"] - 1 + done / total)
            elif record["kind"] == "epoch":
                note = f"{record['epoch']} of {n_epochs}"
                bars.update(epochs, completed=record["epoch"], note=note)
                bars.console.print(epoch_line(record))
            elif record["kind"] == "warning":
                bars.console.print(f"warning: {record['message']}", markup=False, soft_wrap=True)

        yield report


def epoch_line(record: "Record") -> str:
    """Format the record of an epoch as one line."""
    best = "  best" if record["best"] else ""
    return (
        f"epoch {record['epoch']:3}  loss {record['loss']:7.4f}  dev F1 {record['dev_f1']:6.2f}  "
        f"arguments {record['dev_argument_f1']:6.2f}  EM {record['dev_em']:6.2f}  "
        f"{record['seconds']:8.1f} s{best}"
    )


def _write_line(record: "Record") -> None:
    if record["kind"] == "epoch":
        sys.stderr.write(epoch_line(record) + "\n")
        sys.stderr.flush()
    elif record["kind"] == "warning":
        sys.stderr.write(f"warning: {record['message']}\n")
