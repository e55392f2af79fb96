"""Follow a bulk run: what is done, how fast, and what went wrong.

log.jsonl    one JSON object for each event: start, shard, failure, bad_row, set_aside, end
status.json  the whole run at a glance, replaced every few seconds

A shard is done if its output exists and the log has its counts, its size and, for a disk, its
SHA-256. A run that is killed between the two labels it again, and writes the same.
"""

import contextlib
import json
import os
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.bulk.plan import Plan
from capsrl.bulk.storage import Folder
from capsrl.bulk.tasks import Task
from capsrl.bulk.worker import TaskResult, peak_memory
from capsrl.errors import DataError, without_secrets
from capsrl.files.opening import name_of
from capsrl.tables.pipeline import Totals

LOG = "log"
STATUS = "status.json"
BEFORE = "finished before"  # state of a run that had nothing left to do; never in the file
_STATUS_EVERY = 2.0  # seconds between two status files on a disk
_STATUS_EVERY_REMOTE = 30.0  # in an object store, where each costs a request

RunStatus = dict[str, Any]


class Monitor:
    """The state of a run, which the log and the status file show.

    report  is called with every new status
    """

    def __init__(self, plan: Plan, folder: Folder, report: Callable[[RunStatus], None]) -> None:
        self.plan = plan
        self._folder, self._report = folder, report
        self._log = RunLog(folder)
        self._sizes, self._counts = find_done(plan, folder)
        self._done = self._sizes >= 0
        self._n_done = self._n_before = int(self._done.sum())
        self._sentences_before = self._counts.sentences
        self._failures = 0
        self._aside: set[int] = set()
        self._set_aside_before = {f"failed/{name}" for name, _ in folder.sizes("failed")}
        self._memory = 0.0
        self._n_workers = 0
        self._began, self._updated = time.monotonic(), 0.0
        self._started = _now()
        self._log.write("start", plan=plan.digest(), shards=plan.n_shards, done=self._n_done)

    def todo(self) -> Iterator[int]:
        """The shards that are not done, in ascending order."""
        return map(int, np.flatnonzero(~self._done))

    def finish(self, task: Task, result: TaskResult) -> None:
        """A shard is done."""
        self._memory = max(self._memory, result.memory_mb)
        taken = {"seconds": result.seconds, "cpu_seconds": result.cpu_seconds}
        self._done[task.shard], self._sizes[task.shard] = True, result.size
        self._n_done += 1
        self._counts.add(result.counts)
        taken["memory_mb"] = result.memory_mb
        file = {"size": result.size, "sha256": result.digest}
        self._log.write("shard", shard=task.shard, **result.counts.to_dict(), **taken, **file)
        for row, reason in task.bad_rows:
            self._log.write("bad_row", shard=task.shard, row=row, reason=reason)
        if _failed_name(task.shard) in self._set_aside_before:
            self._folder.remove(_failed_name(task.shard))

    def fail(self, task: Task | None, details: str) -> None:
        """A worker died of a task, or raised an error; None: it died while it loaded the model."""
        self._failures += 1
        place: dict[str, object] = {} if task is None else {"shard": task.shard}
        if task is not None and task.is_trial:
            place |= {"first": task.first, "stop": task.stop}
        self._log.write(
            "failure", **place, details=" ".join(without_secrets(details).split())[:1000]
        )

    def set_aside(self, shard: int, kind: str, reason: str) -> None:
        """A shard is given up: an error record takes the place of its output, in failed/.

        kind  of the error: failed or damaged
        """
        self._aside.add(shard)
        rows = [
            {"path": name_of(part.path), "first": part.first, "stop": part.stop}
            for part in self.plan.parts(shard)
        ]
        record = {"shard": shard, "rows": rows, "kind": kind, "error": reason}
        self._folder.write(_failed_name(shard), json.dumps(record, ensure_ascii=False).encode())
        self._log.write("set_aside", shard=shard, reason=reason)

    def check_outputs(self) -> None:
        """Raise DataError if another program has changed or removed an output meanwhile."""
        found = self.plan.output_sizes(self._folder)
        for shard in np.flatnonzero(self._done & (found != self._sizes)).tolist():
            got = f"{found[shard]:,}" if found[shard] >= 0 else "no file"
            raise DataError(
                f"{self._folder.url}/{self.plan.name(shard)}: expected {self._sizes[shard]:,} "
                f"bytes, got {got}; something else changed it: run the same command again"
            )

    def tick(self, n_workers: int) -> None:
        """Show the state every few seconds."""
        self._n_workers = n_workers
        every = _STATUS_EVERY if self._folder.is_local else _STATUS_EVERY_REMOTE
        if time.monotonic() - self._updated >= every:
            self._show("running")

    def end(self, state: str) -> RunStatus:
        """Show the state for the last time: finished, interrupted or failed."""
        self._n_workers = 0
        status = self._show(state)
        self._log.write("end", state=state, **self._counts.to_dict())
        self._log.flush()
        self._folder.remove_if_empty("failed")
        return status

    def _show(self, state: str) -> RunStatus:
        self._updated = time.monotonic()
        status = self._status(state)
        self._log.flush()
        write_status(self._folder, status)
        self._report(status)
        return status

    def _status(self, state: str) -> RunStatus:
        seconds = time.monotonic() - self._began
        n_new = self._n_done - self._n_before
        n_sentences = self._counts.sentences - self._sentences_before
        n_left = self.plan.n_shards - self._n_done - len(self._aside)
        return {
            "state": state,
            "started": self._started,
            "updated": _now(),
            "shards": self.plan.n_shards,
            "done": self._n_done,
            "set_aside": sorted(self._aside),
            **self._counts.to_dict(),
            "failures": self._failures,
            "workers": self._n_workers,
            "seconds": round(seconds, 1),
            "sentences_per_second": round(n_sentences / seconds, 1),
            "seconds_left": round(seconds * n_left / n_new) if n_new else None,
            "memory_mb": {"driver": round(peak_memory()), "worker": round(self._memory)},
            "host": socket.gethostname(),
            "pid": os.getpid(),
        }


def _failed_name(shard: int) -> str:
    return f"failed/part-{shard:07}.json"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunLog:
    """The log of a run: appended to on a disk, one object for some events in an object store."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._waiting: list[str] = []  # lines
        self._run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        self._n_files = 0
        if folder.is_local and folder.has(f"{LOG}.jsonl"):
            folder.append(LOG, b"\n", part="")  # the line before may have been cut off

    def write(self, kind: str, **values: object) -> None:
        """Add an event; on a disk it is written at once."""
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": time, "kind": kind, **values}, ensure_ascii=False)
        self._waiting.append(f"{line}\n")
        if self._folder.is_local:
            self.flush()

    def flush(self) -> None:
        """Write what is in memory."""
        if not self._waiting:
            return
        part = f"{self._run}-{self._n_files:06}"
        self._folder.append(LOG, "".join(self._waiting).encode(), part=part)
        self._n_files += 1
        self._waiting = []


def read_events(folder: Folder) -> Iterator[dict[str, Any]]:
    """Yield the events of all runs; a line that was cut off by a kill is skipped."""
    for line in folder.read_lines(LOG):
        with contextlib.suppress(ValueError, RecursionError):
            if isinstance(event := json.loads(line), dict):
                yield event


def find_done(plan: Plan, folder: Folder) -> tuple[NDArray[np.int64], Totals]:
    """The sizes of outputs that are as the log says, -1 for other shards; and what is in them."""
    found = plan.output_sizes(folder)
    done, counts = np.full_like(found, -1), Totals()
    for event in read_events(folder):
        with contextlib.suppress(LookupError, TypeError, ValueError):  # a damaged line
            shard, size = event["shard"], event["size"]
            if 0 <= shard < len(done) and done[shard] < 0 and size == found[shard]:
                counted = Totals.from_dict(event)
                if folder.digest(plan.name(shard)) in (None, event["sha256"]):
                    counts.add(counted)
                    done[shard] = size
    return done, counts


def find_damaged(plan: Plan, folder: Folder) -> Iterator[str]:
    """The names of finished outputs that are missing, or not as the log says."""
    done, _ = find_done(plan, folder)
    finished = {str(event.get("shard")) for event in read_events(folder) if "sha256" in event}
    missing = map(int, np.flatnonzero(done < 0))
    return (plan.name(shard) for shard in missing if str(shard) in finished)


def is_alive(pid: int) -> bool:
    """Whether this machine has a process with this number."""
    if os.name != "posix":  # where the signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def write_status(folder: Folder, status: Mapping[str, Any]) -> None:
    """Replace the status file."""
    text = json.dumps(status, ensure_ascii=False, indent=1)
    folder.write(STATUS, f"{text}\n".encode())


def read_status(folder: Folder) -> dict[str, Any]:
    """Read the status file; raises DataError if the folder has none, or a damaged one."""
    try:
        with folder.open(STATUS) as file:
            status = json.load(file)
        if not isinstance(status, dict):
            raise ValueError(f"expected an object, got {type(status).__name__}")
    except FileNotFoundError:
        raise DataError(
            f"{folder.url}: not a folder that capsrl bulk writes: it has no {STATUS}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise damaged_status(folder.url, error) from None
    return status


def damaged_status(where: str, error: Exception) -> DataError:
    """The error for a status file that is not as `write_status` writes it."""
    reason = " ".join(f"{error!r:.200}".split())
    return DataError(
        f"{where}/{STATUS}: damaged: {reason}; the next run of the same command replaces it"
    )
