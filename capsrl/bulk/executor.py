"""Run workers on Ray: on this machine, or on a cluster.

Each worker is an actor that has one task at a time, so that a worker that dies has died of that
task. Workers write their output themselves; the driver gets nothing but counts, and keeps some 200
bytes for each shard.
"""

import gc
import itertools
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from capsrl.bulk.connection import cluster_resources, first_line
from capsrl.bulk.job import Job
from capsrl.bulk.monitor import Monitor
from capsrl.bulk.plan import PlannedInput, scan
from capsrl.bulk.tasks import Failures, Queue, Task
from capsrl.bulk.worker import FAILED, TaskResult, Worker
from capsrl.errors import CapsrlError, ConfigError
from capsrl.tables.parquet import DamagedError
from capsrl.tables.reading import FilePart

MAX_STARTS = 5  # workers in a row that may die before they are ready
DIED = "this text crashes the worker"
_POLL = 1.0  # seconds, at most, between two calls of `Monitor.tick`
_GROW_EVERY = 10.0  # seconds between two looks at the size of a cluster
_SCAN_GROUP = 200  # inputs that one task reads, at most

MakeWorker = Callable[[Job, str], Any]


def scan_all(job: Job, paths: Sequence[str], shard_size: int) -> list[PlannedInput]:
    """Read all inputs for a plan, in parallel; the result is in the order of the paths."""
    size = max(1, min(_SCAN_GROUP, len(paths) // 64))
    groups = [paths[first : first + size] for first in range(0, len(paths), size)]
    limit = 2 * max(1, int(cluster_resources().get("CPU", 1)))  # groups that are read at a time
    running: deque[Any] = deque()
    found: list[PlannedInput] = []
    try:
        for group in groups:
            if len(running) == limit:
                found += _get(running.popleft())
            running.append(_scan_group.remote(job, group, shard_size))
        for ref in running:
            found += _get(ref)
    except RayTaskError:
        raise
    except RayError as error:  # it has been tried again, by Ray
        raise ConfigError(
            f"Ray failed while it read the inputs: {first_line(error)}; run the same command again"
        ) from None
    return found


@ray.remote(num_cpus=1)
def _scan_group(job: Job, paths: Sequence[str], shard_size: int) -> list[PlannedInput]:
    job.enter_folder()
    return [scan(job.make_input(path), shard_size) for path in paths]


def _get(ref: Any) -> Any:  # noqa: ANN401
    """The result of a task; a mistake of the user is raised as it was there."""
    try:
        return ray.get(ref)
    except RayTaskError as error:
        if isinstance(error.cause, CapsrlError):
            raise error.cause from None
        raise


@ray.remote(max_restarts=0, max_task_retries=0)
class _Actor:
    """A worker in a process of its own."""

    def __init__(self, make_worker: MakeWorker, job: Job, model: str) -> None:
        self._make = partial(make_worker, job, model)
        self._worker: Worker | None = None

    def start(self) -> None:
        self._worker = self._make()
        gc.collect()
        gc.freeze()  # the model stays, so that no collection need look at it again

    def run(self, task: Task, parts: Sequence[FilePart], name: str) -> TaskResult:
        assert self._worker is not None
        return self._worker.run(task, parts, name)


@dataclass
class _Slot:
    """A worker and what it is doing.

    task  None while it loads the model
    """

    number: int
    actor: Any
    task: Task | None = None


class Executor:
    """Labels the shards of a plan that are not done.

    n_workers    None: as many as the cluster has cores or GPUs for, also when it grows
    make_worker  makes the `Worker` of a process; tests make some that die
    """

    def __init__(
        self,
        job: Job,
        monitor: Monitor,
        *,
        n_workers: int | None = None,
        make_worker: MakeWorker = Worker,
    ) -> None:
        self._job, self._monitor, self._plan = job, monitor, monitor.plan
        self._n_wanted = n_workers
        self._make_worker = make_worker
        self._queue = Queue(monitor.todo())
        self._retries: deque[Task] = deque()
        self._failures: dict[int, Failures] = {}
        self._busy: dict[Any, _Slot] = {}  # by the reference to the result of what they are doing
        self._idle: list[_Slot] = []
        self._numbers = itertools.count()
        self._n_lost_starts = 0
        self._looked = 0.0
        self._target = 0  # workers to have

    def run(self) -> None:
        """Label; returns when every shard is done or set aside.

        Raises the CapsrlError of a worker: a mistake of the user that concerns all shards. Only a
        damaged input is set aside with the shard that has the damage.
        """
        try:
            while self._has_work():
                self._start_workers()
                self._hand_out()
                ready, _ = ray.wait([*self._busy], timeout=_POLL)
                for ref in ready:
                    self._finish(ref)
                self._monitor.tick(len(self._idle) + self._n_running())
        finally:
            for slot in (*self._busy.values(), *self._idle):
                ray.kill(slot.actor)

    def _has_work(self) -> bool:
        return bool(self._queue or self._retries or self._n_running())

    def _n_running(self) -> int:
        return sum(slot.task is not None for slot in self._busy.values())

    def _start_workers(self) -> None:
        if time.monotonic() - self._looked > _GROW_EVERY or not self._busy:
            self._looked = time.monotonic()
            self._target = self._n_wanted or count_workers(self._job)
        n_tasks = len(self._queue) + len(self._retries) + self._n_running()
        wanted = min(self._target, n_tasks)
        while len(self._busy) + len(self._idle) < wanted:
            resources = worker_resources(self._job, self._target)
            actor = _Actor.options(**resources).remote(  # type: ignore[attr-defined]
                self._make_worker, self._job, self._plan.settings["model"]
            )
            slot = _Slot(next(self._numbers), actor)
            self._busy[actor.start.remote()] = slot

    def _hand_out(self) -> None:
        """Give tasks to workers that have none."""
        waiting, self._idle = self._idle, []
        for slot in waiting:
            slot.task = self._next_task(slot)
            if slot.task is None:
                self._idle.append(slot)
                continue
            shard = slot.task.shard
            ref = slot.actor.run.remote(slot.task, self._plan.parts(shard), self._plan.name(shard))
            self._busy[ref] = slot

    def _next_task(self, slot: _Slot) -> Task | None:
        if self._retries:
            return self._retries.popleft()
        shard = self._queue.take(slot.number)
        return None if shard is None else Task(shard)

    def _finish(self, ref: Any) -> None:  # noqa: ANN401
        slot = self._busy.pop(ref)
        task, slot.task = slot.task, None
        try:
            result = _get(ref)
        except DamagedError as error:
            assert task is not None
            self._idle.append(slot)
            self._monitor.fail(task, str(error))
            self._set_aside(task.shard, "damaged", str(error))
            return
        except RayTaskError as error:
            if task is None:
                raise  # it cannot be the fault of a shard
            self._idle.append(slot)
            self._fail(task, f"this text cannot be labeled: {error.cause!r:.200}", str(error.cause))
            return
        except RayError as error:  # the worker, or its machine, is gone
            self._queue.release(slot.number)
            self._lose(task, error)
            return
        self._idle.append(slot)
        self._n_lost_starts = 0
        if task is not None:
            self._succeed(task, result)

    def _lose(self, task: Task | None, error: RayError) -> None:
        if task is not None:
            self._fail(task, DIED, str(error))
            return
        self._n_lost_starts += 1
        self._monitor.fail(None, str(error))
        if self._n_lost_starts >= MAX_STARTS:
            raise ConfigError(
                f"{MAX_STARTS} workers died while loading the model; is there enough memory? "
                f"The last one: {' '.join(str(error).split())[:300]}"
            )

    def _succeed(self, task: Task, result: TaskResult) -> None:
        if task.is_trial:
            failures = self._failures[task.shard]
            failures.succeeded(task)
            self._retries.append(failures.next_task())
        else:
            self._failures.pop(task.shard, None)
            self._monitor.finish(task, result)

    def _fail(self, task: Task, reason: str, details: str) -> None:
        """Try again, try parts, or give up.

        reason   for the error record of a row; always the same for the same row
        details  for the log
        """
        self._monitor.fail(task, details)
        failures = self._failures.setdefault(
            task.shard, Failures(task.shard, self._plan.n_rows_of(task.shard))
        )
        failures.failed(task, reason)
        if failures.is_hopeless:
            self._set_aside(task.shard, FAILED, reason)
        else:
            self._retries.append(failures.next_task())

    def _set_aside(self, shard: int, kind: str, reason: str) -> None:
        self._failures.pop(shard, None)
        self._monitor.set_aside(shard, kind, reason)


def count_workers(job: Job) -> int:
    """How many workers the nodes of Ray have room for: one for each GPU, or set of threads."""
    resources = cluster_resources()
    if job.device != "cpu":
        return max(1, int(resources.get("GPU", 0)))
    return max(1, int(resources.get("CPU", 1) // job.threads))


def worker_resources(job: Job, n_workers: int) -> dict[str, float]:
    """The resources of one worker; several share a GPU if there are more of them than GPUs."""
    if job.device == "cpu":
        return {"num_cpus": job.threads}
    n_gpus = cluster_resources().get("GPU", 0) or 1
    share = 1.0 if n_workers <= n_gpus else 1 / -(-n_workers // n_gpus)
    return {"num_cpus": 0, "num_gpus": share}
