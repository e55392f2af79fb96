"""The runs of a plan: those that are missing, several side by side, each in its own process.

A finished run is a file RUNS/NAME.json, whose name holds a digest of all its settings and data: to
ask for it again costs nothing, and to change a setting is to ask for another run.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import capsrl
from capsrl.errors import CapsrlError, ConfigError
from capsrl.paper.plan import PlannedRun
from capsrl.paper.results import read_result
from capsrl.paper.work import write_order
from capsrl.train.log import Record, read_log
from capsrl.train.signals import Interrupted

PAUSE = 0.2  # seconds between two looks at the processes


class FailedRunsError(CapsrlError):
    """Some runs of a plan ended in an error; the others went on."""


@dataclass(frozen=True)
class Event:
    """Something happened to a run: it was done before, started, ended an epoch, is done, failed.

    epoch  the log's record of it
    """

    run: PlannedRun
    kind: str
    epoch: Record | None = None


Report = Callable[[Event], None]


def run_all(
    planned: Sequence[PlannedRun],
    folder: Path,
    *,
    jobs: int = 1,
    device: str | None = None,
    keep_models: bool = False,
    commit: str | None = None,
    report: Report | None = None,
) -> None:
    """Do what a plan asks for and `folder` does not have yet.

    jobs         runs at a time; several small trainings share one GPU well
    keep_models  keep RUNS/NAME/model of every run; else only what was measured
    commit       of the code, for the results; found out if not given
    Raises Interrupted after Ctrl-C, when all runs have stopped; FailedRunsError at the end if some
    failed. In both cases the same call goes on with what is missing.
    """
    if jobs < 1:
        raise ConfigError(f"jobs: expected at least 1, got {jobs}")
    crew = _Crew(folder, jobs=jobs, device=device, report=report or (lambda event: None))
    commit = code_version() if commit is None else commit
    waiting = [run for run in planned if not crew.knows(run)]
    try:
        while waiting or crew.running:
            if waiting and len(crew.running) < jobs:
                run = waiting.pop(0)
                work = folder / run.name
                crew.start(run, write_order(run, work, commit=commit, keep_model=keep_models))
            else:
                time.sleep(PAUSE)
                crew.look()
    except KeyboardInterrupt:
        raise Interrupted(
            f"{folder}: stopped; run the same command again to go on with what is missing"
        ) from None
    finally:
        crew.stop()
    if crew.failed:
        raise FailedRunsError(
            "\n".join(
                [f"{len(crew.failed)} of {len(planned)} runs failed; run again to try them again"]
                + [f"{process.run.label}: {process.last_words()}" for process in crew.failed]
            )
        )


class _Crew:
    """The processes at work."""

    def __init__(self, folder: Path, *, jobs: int, device: str | None, report: Report) -> None:
        self.running: list[_Process] = []
        self.failed: list[_Process] = []
        self._folder = folder
        self._device = device
        # Two trainings that both want all cores take far longer than one after the other.
        self._threads = max(1, (os.cpu_count() or 1) // jobs)
        self._report = report

    def knows(self, run: PlannedRun) -> bool:
        """Whether a run was done before."""
        done = self._is_done(run)
        if done:
            self._report(Event(run, "known"))
        return done

    def start(self, run: PlannedRun, order: Path) -> None:
        self.running.append(_Process(run, order, self._device, self._threads))
        self._report(Event(run, "started"))

    def look(self) -> None:
        """Say what has happened since the last look."""
        for process in self.running.copy():
            ended = process.has_ended()  # before its log is read for the last time
            for record in process.new_epochs():
                self._report(Event(process.run, "epoch", record))
            if ended:
                self.running.remove(process)
                done = self._is_done(process.run)
                self._report(Event(process.run, "done" if done else "failed"))
                self.failed += [] if done else [process]

    def stop(self) -> None:
        """Let those that still run write their checkpoints, and wait for them."""
        for process in self.running:
            process.stop()
        for process in self.running:
            process.wait()

    def _is_done(self, run: PlannedRun) -> bool:
        path = self._folder / f"{run.name}.json"
        if not path.exists():
            return False
        read_result(path)  # says what is wrong with a damaged one
        return True


class _Process:
    """A run in a process of its own, which stops when its standard input is closed."""

    def __init__(self, run: PlannedRun, order: Path, device: str | None, threads: int) -> None:
        self.run = run
        self._folder = order.parent
        self._seen = 0
        self._errors = self._folder / "errors.txt"
        command = [sys.executable, "-m", "capsrl.paper.work", str(order)]
        with open(self._errors, "w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command + ([device] if device else []),
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                env={"OMP_NUM_THREADS": str(threads), **os.environ},
            )

    def new_epochs(self) -> list[Record]:
        """What its log has had to say since the last call."""
        path = self._folder / "log.jsonl"
        epochs = [r for r in read_log(path) if r["kind"] == "epoch"] if path.exists() else []
        new, self._seen = epochs[self._seen :], max(self._seen, len(epochs))
        return new

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def stop(self) -> None:
        assert self._process.stdin is not None, "it was made with a pipe"
        self._process.stdin.close()

    def wait(self) -> None:
        self._process.wait()

    def last_words(self) -> str:
        """The end of what it wrote, and where to find the rest."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        code = self._process.returncode
        return f"{lines[-1] if lines else f'exit code {code}'} (see {self._errors})"


def code_version() -> str:
    """The commit of this code where it is a git checkout, else the version of capsrl."""
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return str(capsrl.__version__)
    return done.stdout.strip()
