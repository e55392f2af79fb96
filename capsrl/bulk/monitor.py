"""Follow a bulk run: what is done, how fast, and what went wrong."""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np

from capsrl.bulk.failures import Task
from capsrl.bulk.plan import Plan
from capsrl.bulk.status import (
    Counts,
    RunLog,
    count_done,
    read_counts,
    write_status,
)
from capsrl.bulk.storage import Folder
from capsrl.bulk.worker import Result, peak_memory

_EVERY = 2.0  # seconds between two status files on a disk
_EVERY_REMOTE = 30.0  # in an object store, where each costs a request

Status = dict[str, Any]


class Monitor:
    """The state of a run, which the log and the status file show.

    report  is called with every new status
    """

    def __init__(self, plan: Plan, folder: Folder, report: Callable[[Status], None]) -> None:
        self.plan = plan
        self._folder, self._report = folder, report
        self._done = plan.find_done(folder)
        self._log = RunLog(folder)
        self._counts, missing = count_done(folder, self._done)
        for shard, counts in read_counts(folder, missing):
            self._counts.add(counts)
            self._log.write_shard(shard, counts)
        self._n_done = self._n_before = int(self._done.sum())
        self._sentences_before = self._counts.sentences
        self._failures = 0
        self._aside: dict[int, str] = {}
        self._set_aside_before = {f"failed/{name}" for name in folder.list("failed")}
        self._memory = 0.0
        self._n_workers = 0
        self._began, self._updated = time.monotonic(), 0.0
        self._started = _now()
        self._log.write("start", plan=plan.digest(), shards=plan.n_shards, done=self._n_done)

    def todo(self) -> Iterator[int]:
        """The shards that are not done, in ascending order."""
        return map(int, np.flatnonzero(~self._done))

    def finish(self, task: Task, result: Result) -> None:
        """A shard is done."""
        self._memory = max(self._memory, result.memory_mb)
        taken = {"seconds": result.seconds, "cpu_seconds": result.cpu_seconds}
        self._add(task.shard, result.counts, **taken, memory_mb=result.memory_mb)
        for row, reason in task.bad_rows:
            self._log.write("bad_row", shard=task.shard, row=row, reason=reason)

    def finish_if_done(self, shard: int) -> bool:
        """Whether the output of a shard exists; then the shard is done."""
        if not self._folder.has(self.plan.name(shard)):
            return False
        for number, counts in read_counts(self._folder, [shard]):
            self._add(number, counts)
        return True

    def fail(self, task: Task, details: str) -> None:
        """A worker died of a task, or raised an error."""
        self._failures += 1
        rows = {"first": task.first, "stop": task.stop} if task.is_trial else {}
        self._log.write("failure", shard=task.shard, **rows, details=_short(details))

    def lose_worker(self, details: str) -> None:
        """A worker died while it loaded the model."""
        self._failures += 1
        self._log.write("failure", details=_short(details))

    def set_aside(self, shard: int, reason: str) -> None:
        """A shard is given up: an error record takes the place of its output, in failed/."""
        self._aside[shard] = reason
        pieces = [
            {"path": piece.path, "first": piece.first, "stop": piece.stop}
            for piece in self.plan.pieces(shard)
        ]
        record = {"shard": shard, "rows": pieces, "error": reason}
        self._folder.write(_failed_name(shard), json.dumps(record, ensure_ascii=False).encode())
        self._log.write("set_aside", shard=shard, reason=reason)

    def tick(self, n_workers: int) -> None:
        """Show the state every few seconds."""
        self._n_workers = n_workers
        every = _EVERY if self._folder.is_local else _EVERY_REMOTE
        if time.monotonic() - self._updated >= every:
            self._show("running")

    def end(self, state: str) -> Status:
        """Show the state for the last time: finished, interrupted or failed."""
        self._n_workers = 0
        status = self._show(state)
        self._log.write("end", state=state, **self._counts.to_dict())
        self._log.flush()
        for name in ("counts", "failed"):
            self._folder.remove_if_empty(name)
        return status

    def _add(self, shard: int, counts: Counts, **values: object) -> None:
        self._done[shard] = True
        self._n_done += 1
        self._counts.add(counts)
        self._log.write_shard(shard, counts, **values)
        if _failed_name(shard) in self._set_aside_before:
            self._folder.remove([_failed_name(shard)])

    def _show(self, state: str) -> Status:
        self._updated = time.monotonic()
        status = self._status(state)
        self._log.flush()
        write_status(self._folder, status)
        self._report(status)
        return status

    def _status(self, state: str) -> Status:
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


def _short(text: str) -> str:
    return " ".join(text.split())[:1000]
