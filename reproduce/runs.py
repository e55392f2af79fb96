"""The runs of a plan: those that are missing, several side by side, each in its own process.

A finished run is a file RUNS/NAME.json, whose name holds a digest of all its settings and data: to
ask for it again costs nothing, and to change a setting is to ask for another run.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import capsrl
from capsrl.errors import CapsrlError, ConfigError
from capsrl.train.log import Record
from capsrl.train.signals import Interrupted
from reproduce.plan import PlannedRun
from reproduce.results import read_result
from reproduce.work import LOG, write_order

PAUSE = 0.2  # seconds between two looks at the processes


class FailedRunsError(CapsrlError):
    """Some runs of a plan ended in an error; the others went on."""


@dataclass(frozen=True)
class Event:
    """Something happened to a run.

    kind   known (was done before), started, epoch, done, failed, stopping
    epoch  the log's record of the newest epoch
    note   of a finished run its scores, of a failed one its last words
    """

    run: PlannedRun
    kind: str
    epoch: Record | None = None
    note: str = ""


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
    _make_folder(folder)
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
        crew.say_stopping()
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


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made: {error.strerror or error}") from None


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
        return self._finish(run, "known")

    def start(self, run: PlannedRun, order: Path) -> None:
        self.running.append(_Process(run, order, self._device, self._threads))
        self._report(Event(run, "started"))

    def look(self) -> None:
        """Say what has happened since the last look."""
        for process in self.running.copy():
            ended = process.has_ended()  # before its log is read for the last time
            epoch = process.new_epoch()
            if epoch is not None:
                self._report(Event(process.run, "epoch", epoch))
            if ended:
                self.running.remove(process)
                if not self._finish(process.run, "done"):
                    self.failed.append(process)
                    self._report(Event(process.run, "failed", note=process.last_words()))

    def say_stopping(self) -> None:
        for process in self.running:
            self._report(Event(process.run, "stopping"))

    def stop(self) -> None:
        """Let those that still run write their checkpoints, and wait for them."""
        for process in self.running:
            process.stop()
        for process in self.running:
            process.wait()

    def _finish(self, run: PlannedRun, kind: str) -> bool:
        """Whether a run's result is there; if so, say what it is worth."""
        path = self._folder / f"{run.name}.json"
        if not path.exists():
            return False
        result = read_result(path)  # says what is wrong with a damaged one
        scores = [
            f"{name} F1 {counts.labeled.f1:.2f}" for name, counts in result.measured.sets.items()
        ]
        self._report(Event(run, kind, note=", ".join([*scores, f"{result.seconds:.0f} s"])))
        return True


class _Process:
    """A run in a process of its own, which stops when its standard input is closed."""

    def __init__(self, run: PlannedRun, order: Path, device: str | None, threads: int) -> None:
        self.run = run
        self._folder = order.parent
        self._epoch: Record | None = None
        self._errors = self._folder / "errors.txt"
        command = [sys.executable, "-m", "reproduce.work", str(order)]
        with open(self._errors, "w", encoding="utf-8") as errors:
            self._process = subprocess.Popen(
                command + ([device] if device else []),
                stdin=subprocess.PIPE,
                stdout=errors,
                stderr=errors,
                env={"OMP_NUM_THREADS": str(threads), **os.environ},
            )

    def new_epoch(self) -> Record | None:
        """The newest epoch in its log, if it is not the one of the last call."""
        path = self._folder / LOG
        lines = path.read_bytes().split(b"\n") if path.exists() else []
        # What comes after the last newline is being written.
        epochs = (line for line in reversed(lines[:-1]) if b'"epoch"' in line[:20])
        newest = json.loads(next(epochs, b"null"))
        if newest == self._epoch:
            return None
        self._epoch = newest
        return self._epoch

    def has_ended(self) -> bool:
        if self._process.poll() is None:
            return False
        self.stop()  # its end of the pipe is closed, now ours is
        return True

    def stop(self) -> None:
        """Ask it to; it writes a checkpoint first."""
        assert self._process.stdin is not None, "it was made with a pipe"
        self._process.stdin.close()

    def wait(self) -> None:
        self._process.wait()

    def last_words(self) -> str:
        """The end of what it wrote, and where to find the rest."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").split("\n")
        words = next((line.strip() for line in reversed(lines) if line.strip()), "")
        return f"{words or f'exit code {self._process.returncode}'} (see {self._errors})"


def code_version() -> str:
    """The commit of this code where it is a git checkout, else the version of capsrl."""
    # The file too: what is installed in a folder of somebody's checkout is no part of that.
    command = ["git", "rev-parse", "HEAD", f"HEAD:./{Path(__file__).name}"]
    try:
        done = subprocess.run(
            command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return str(capsrl.__version__)
    return done.stdout[:7]
