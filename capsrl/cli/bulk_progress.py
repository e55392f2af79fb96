"""Show the progress and the summary of a bulk run."""

import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from capsrl.bulk.monitor import BEFORE, is_alive

Status = Mapping[str, Any]
_LINE_EVERY = 10.0  # seconds between two lines where there is no terminal


@contextmanager
def show_progress() -> Iterator[Callable[[Status], None]]:
    """Make the `report` of a run: a bar on a terminal, else a line every ten seconds."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("shards"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("shards", total=None, note="starting")

        def report(status: Status) -> None:
            done = status["done"] + len(status["set_aside"])
            bars.update(task, total=status["shards"], completed=done, note=_note(status))

        yield report


class _Lines:
    """Writes a line to standard error every few seconds."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, status: Status) -> None:
        if time.monotonic() >= self._due and status["state"] == "running":
            self._due = time.monotonic() + _LINE_EVERY
            sys.stderr.write(
                f"{status['done']:,} of {status['shards']:,} shards, {_note(status)}\n"
            )
            sys.stderr.flush()


def _note(status: Status) -> str:
    left = status["seconds_left"]
    parts = [
        _plural(status["sentences"], "sentence"),
        f"{status['sentences_per_second']:,.0f}/s",
        _plural(status["workers"], "worker"),
        f"{timedelta(seconds=left)} left" if left is not None else "time left unknown",
    ]
    if problems := _problems(status):
        parts.append(problems)
    return ", ".join(parts)


def summary_lines(status: Status, output: str) -> Iterator[str]:
    """What a run has made, line by line."""
    counts = (_plural(status[name], name.removesuffix("s")) for name in _COUNTED)
    yield f"{output}/data: {', '.join(counts)}"
    took = f"this run took {timedelta(seconds=round(status['seconds']))}"
    rate = f"{status['sentences_per_second']:,.0f} sentences/s"
    done = "all were done before" if status["state"] == BEFORE else f"{took}, {rate}"
    yield f"{status['done']:,} of {_plural(status['shards'], 'shard')}; {done}"
    for kind, number in status["errors"].items():
        yield f"{_plural(number, 'document')} not labeled: {kind}"
    if aside := status["set_aside"]:
        yield (
            f"{_plural(len(aside), 'shard')} set aside, see {output}/failed; the same command "
            "tries again"
        )


_COUNTED = ("documents", "sentences", "propositions", "arguments")


def status_lines(status: Status) -> Iterator[str]:
    """How far a run is, line by line."""
    yield f"state: {_state(status)}"
    problems = _problems(status) or "no failures"
    yield f"shards: {status['done']:,} of {status['shards']:,} done, {problems}"
    yield from (f"{name}: {status[name]:,}" for name in _COUNTED)
    yield from (f"errors, {kind}: {number:,}" for kind, number in status["errors"].items())
    is_running = status["state"] == "running"
    workers = f", {_plural(status['workers'], 'worker')}" if is_running else ""
    yield f"rate: {status['sentences_per_second']:,.0f} sentences/s{workers}"
    if is_running and status["seconds_left"] is not None:
        yield f"time left: {timedelta(seconds=status['seconds_left'])}"
    memory = status["memory_mb"]
    yield f"peak memory: {memory['driver']:,} MB driver, {memory['worker']:,} MB largest worker"


def _state(status: Status) -> str:
    """The state, and whether the run that wrote it is still there."""
    age = datetime.now().astimezone() - datetime.fromisoformat(status["updated"])
    seconds = timedelta(seconds=round(age.total_seconds()))
    if status["state"] != "running":
        return f"{status['state']} {seconds} ago"
    if status["host"] == socket.gethostname() and not is_alive(status["pid"]):
        return f"killed about {seconds} ago; the same command goes on"
    return f"running, updated {seconds} ago"


def _problems(status: Status) -> str:
    parts = []
    if status["failures"]:
        parts.append(_plural(status["failures"], "failure"))
    if status["set_aside"]:
        parts.append(f"{len(status['set_aside']):,} set aside")
    return ", ".join(parts)


def _plural(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
