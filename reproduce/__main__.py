"""The commands `python -m reproduce run PLAN` and `python -m reproduce report RUNS OUT.html`."""

import argparse
import sys
from pathlib import Path

from capsrl.errors import CapsrlError, ConfigError
from reproduce.plan import read_plan
from reproduce.results import read_results
from reproduce.runs import run_all


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return its exit code."""
    parser = argparse.ArgumentParser("python -m reproduce", description="The paper's experiments.")
    commands = parser.add_subparsers(required=True)
    run = commands.add_parser("run", help="make the runs of a plan that are missing")
    run.add_argument("plan", type=Path, help="a plan, such as plans/tiny.toml")
    run.add_argument("--out", type=Path, help="folder of the results (default: runs/PLAN)")
    run.add_argument("--jobs", type=int, default=1, help="number of trainings at a time")
    run.add_argument("--device", help="cpu, cuda, cuda:1 (default: the GPU if there is one)")
    run.add_argument("--keep-models", action="store_true", help="keep the model of every run")
    run.add_argument("--dry-run", action="store_true", help="list the runs, done or missing")
    run.set_defaults(command=_run)
    report = commands.add_parser("report", help="write tables, figures and claims")
    report.add_argument("runs", type=Path, help="folder of results, and perhaps notes.md")
    report.add_argument("out", type=Path, help="an HTML file; the same as .md goes beside it")
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
    planned = read_plan(given.plan)
    folder = given.out or Path("runs") / given.plan.stem
    if given.dry_run:
        done = {result.name for result in read_results(folder)}
        for run in planned:
            sys.stdout.write(f"{'done   ' if run.name in done else 'missing'} {run.label}\n")
        return
    run_all(
        planned,
        folder / f"{given.plan.stem}.jsonl",
        jobs=given.jobs,
        device=given.device,
        keep_models=given.keep_models,
        report=lambda line: print(line, file=sys.stderr, flush=True),  # noqa: T201
    )
    sys.stdout.write(f"results are in {folder}\n")


def _report(given: argparse.Namespace) -> None:
    try:
        from reproduce.report import write_report
    except ImportError as error:
        raise ConfigError(
            f"reports need scipy and matplotlib, got {error}; pip install -e '.[reproduce]'"
        ) from None
    for path in write_report(given.runs, given.out):
        sys.stdout.write(f"wrote {path}\n")


if __name__ == "__main__":
    sys.exit(main())
