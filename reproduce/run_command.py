"""`python -m reproduce run PLAN`: the runs of the paper's experiments, those that are missing."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from reproduce.runs import Event, Report


def run_command(
    plan: Annotated[Path, typer.Argument(help="A plan, such as plans/tiny.toml.")],
    *,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the runs; runs/NAME after the plan if not given."),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Trainings side by side on the device.")] = 1,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1; the GPU if there is one.")
    ] = None,
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep the model of every run (large).")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be run, and run nothing.")
    ] = False,
) -> None:
    """Train and measure what a plan asks for; each finished run is a file OUT/NAME.json.

    The same command again does what is missing, and goes on where a run was stopped. The report
    of the runs: python -m reproduce report OUT REPORT.html
    """
    from capsrl.train.signals import Interrupted
    from reproduce.plan import read_plan
    from reproduce.runs import run_all

    planned = read_plan(plan)
    folder = out or Path("runs") / plan.stem
    if dry_run:
        for run in planned:
            known = (folder / f"{run.name}.json").exists()
            typer.echo(f"{'done   ' if known else 'missing'}  {run.label}")
        return
    try:
        with _watching(len(planned)) as report:
            run_all(
                planned,
                folder,
                jobs=jobs,
                device=device,
                keep_models=keep_models,
                report=report,
            )
    except Interrupted as stopped:
        sys.stderr.write(f"{stopped}\n")
        sys.exit(130)
    typer.echo(f"all runs are in {folder}; python -m reproduce report {folder} REPORT.html")


@contextmanager
def _watching(n_runs: int) -> "Iterator[Report]":
    """A report for `run_all`: bars on a terminal, and a line for each run that ends; else lines."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
    from rich.table import Column

    console = Console(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        yield _write_line
        return
    # On 80 columns the bar gives way to long names, and one of more than 44 letters is cut.
    names = Column(no_wrap=True, overflow="ellipsis", max_width=max(20, console.width - 36))
    columns = (
        TextColumn("{task.description}", table_column=names, markup=False),
        BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=8)),
        TextColumn("{task.fields[note]}", table_column=Column(no_wrap=True, min_width=16)),
        TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7)),
    )
    with Progress(*columns, console=console, expand=True) as bars:
        total = bars.add_task("runs", total=n_runs, note=f"0 of {n_runs}")
        tasks: dict[str, TaskID] = {}
        ended = 0

        def report(event: "Event") -> None:
            nonlocal ended
            name = event.run.name
            epochs = event.run.recipe.train.epochs
            if event.kind == "started":
                tasks[name] = bars.add_task(event.run.label, total=epochs, note="")
            elif event.epoch is not None:
                epoch, f1 = event.epoch["epoch"], event.epoch["dev_f1"]
                note = f"{epoch}/{epochs} F1 {f1:.2f}"
                bars.update(tasks[name], completed=epoch, note=note)
            elif event.kind == "stopping":
                bars.update(tasks[name], note="stopping")
            else:
                ended += 1
                bars.update(total, completed=ended, note=f"{ended} of {n_runs}")
                if name in tasks:
                    bars.remove_task(tasks.pop(name))
                bars.console.print(_line(event), soft_wrap=True)

        yield report


def _write_line(event: "Event") -> None:
    if event.kind != "epoch":
        sys.stderr.write(_line(event) + "\n")
        sys.stderr.flush()


def _line(event: "Event") -> str:
    return f"{event.kind:8} {event.run.label}{f': {event.note}' if event.note else ''}"
