"""The commands `python -m reproduce run PLAN` and `python -m reproduce report RUNS OUT.html`."""

import argparse
import re
import sys
from collections.abc import Collection
from pathlib import Path

from capsrl.errors import CapsrlError, ConfigError
from reproduce.plan import PlannedRun, check_files, read_plan
from reproduce.results import read_results
from reproduce.runs import run_all


class NoReportError(ConfigError):
    """The packages that reports need are missing."""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = argparse.ArgumentParser("python -m reproduce", description="The paper's experiments.")
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="make the runs of a plan that are missing")
    run.add_argument("plan", type=Path, help="a plan, such as plans/tiny.toml")
    run.add_argument("--only", metavar="WHAT", help="table1 to table5, fig1 to fig6, or so")
    run.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change all recipes"
    )
    run.add_argument("--seeds", type=int, nargs="+", help="instead of those of the plan")
    run.add_argument("--part", metavar="K/N", help="every Nth run from the Kth on, for N machines")
    run.add_argument("--out", type=Path, help="folder of the results (default: runs/PLAN)")
    run.add_argument("--jobs", type=int, default=1, help="number of trainings at a time")
    run.add_argument("--device", help="cpu, cuda, cuda:1 (default: the GPU if there is one)")
    run.add_argument("--keep-models", action="store_true", help="keep the model of every run")
    run.add_argument(
        "--dry-run", action="store_true", help="list the runs, or all files that they lack"
    )
    run.set_defaults(command=_run)
    report = commands.add_parser("report", help="write tables, figures and claims")
    report.add_argument("runs", type=Path, help="folder of results, and perhaps notes.md")
    report.add_argument("out", type=Path, help="an HTML file; the same as .md goes beside it")
    report.add_argument("--only", metavar="WHAT", help="one table or figure, such as table3")
    report.set_defaults(command=_report)
    given = parser.parse_args(arguments)
    try:
        given.command(given)
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("stopped; the same command makes the runs that are missing\n")
        return 130
    return 0


def _run(given: argparse.Namespace) -> None:
    folder = given.out or Path("runs") / given.plan.stem
    planned = read_plan(
        given.plan, only=given.only, changes=given.set, seeds=given.seeds, cuts=folder / "cuts"
    )
    out = folder / f"{given.plan.stem}.jsonl"
    if given.part:
        planned = _part(planned, given.part)
        out = out.with_suffix(f".{given.part.replace('/', 'of')}.jsonl")
    done = {result.name for result in read_results(folder)}
    if given.dry_run:
        for run in planned:
            sys.stdout.write(f"{'done   ' if run.name in done else 'missing'} {run.label}\n")
    check_files(run for run in planned if run.name not in done)
    if given.dry_run:
        return
    run_all(
        planned,
        out,
        jobs=given.jobs,
        device=given.device,
        keep_models=given.keep_models,
        report=lambda line: print(line, file=sys.stderr, flush=True),  # noqa: T201
    )
    sys.stdout.write(f"results are in {folder}\n")
    if given.only and not given.part:
        names = {run.name for run in planned}
        try:
            _write(folder, folder / f"{given.only}.html", only=given.only, names=names)
        except NoReportError as error:  # the runs are made all the same
            sys.stdout.write(f"no {given.only}.html: {error}\n")


def _part(planned: list[PlannedRun], part: str) -> list[PlannedRun]:
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", part)
    if found is None or int(found[1]) > int(found[2]):
        raise ConfigError(f"--part: expected K/N such as 1/4, got {part}")
    return planned[int(found[1]) - 1 :: int(found[2])]


def _report(given: argparse.Namespace) -> None:
    _write(given.runs, given.out, only=given.only)


def _write(runs: Path, out: Path, *, only: str | None, names: Collection[str] = ()) -> None:
    try:
        from reproduce.report import write_report
    except ImportError as error:
        raise NoReportError(
            f"reports need scipy and matplotlib, got {error}; pip install -e '.[reproduce]'"
        ) from None
    for path in write_report(runs, out, only=only, names=names):
        sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    sys.exit(main())
