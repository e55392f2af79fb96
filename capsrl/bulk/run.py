"""Label inputs in bulk: plan, workers, summary."""

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence

from capsrl.bulk.connection import connected
from capsrl.bulk.executor import Executor, MakeWorker, scan_all
from capsrl.bulk.job import AUTO, Job
from capsrl.bulk.monitor import BEFORE, Monitor, RunStatus, find_done, read_status
from capsrl.bulk.plan import (
    PLAN,
    Plan,
    check_settings,
    choose_shard_size,
    find_added,
    has_plan,
    read_plan,
)
from capsrl.bulk.storage import Folder, check_platform
from capsrl.bulk.worker import Worker
from capsrl.device import available_cores
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import STANDARD, name_of
from capsrl.files.remote import is_url
from capsrl.tables.columns import find_passed
from capsrl.tables.documents import find_inputs


def label_in_bulk(
    inputs: Sequence[str],
    job: Job,
    *,
    n_workers: int | None = None,
    shard_size: int | None = None,
    columns: Sequence[str] | None = None,
    address: str | None = None,
    report: Callable[[RunStatus], None] = lambda status: None,
    report_skipped: Callable[[str, Sequence[str]], None] = lambda path, files: None,
    make_worker: MakeWorker = Worker,
) -> RunStatus:
    """Label the rows of inputs; returns the last status.

    Rows that were labeled by an earlier run into the same folder are not labeled again. If those
    are all rows, the status is the last one of that run, with the state BEFORE. Inputs that the
    earlier run did not have are added to its plan.

    inputs          files, folders, patterns or URLs
    job             its device may be "auto"; all other fields are as a worker uses them
    n_workers       default: as many as there are cores or GPUs
    shard_size      rows of a shard; default: about 130,000 characters, at most 2,000
    columns         other columns of the inputs to keep; default: all
    address         of a Ray cluster; default: Ray is started on this machine
    report          is called with the status every few seconds
    report_skipped  is called with a folder and the files in it that are not read
    Raises ConfigError if the folder was begun with other settings, or inputs that are missing.
    """
    check_platform()
    folder = Folder(job.output)
    if STANDARD in inputs:
        raise ConfigError("-: standard input cannot be read again after a failure; give files")
    is_run = functools.cache(lambda path: has_plan(Folder(path)))
    paths = find_inputs(
        inputs,
        is_output=lambda path: _is_inside(path, folder) or any(map(is_run, _folders_of(path))),
        report_skipped=report_skipped,
    )
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path):
            raise ConfigError(f"{path}: a pipe or device cannot be read again; give files")
    if len({*map(name_of, paths)}) < len({*paths}):
        raise ConfigError("two inputs differ in the password or query of a URL only; download them")
    passed = find_passed(map(job.make_input, paths), columns)
    write = dataclasses.replace(job.write, passed=passed)
    job = dataclasses.replace(job, folder=os.getcwd(), write=write)
    if not folder.has(PLAN):
        # Also with --shard-size: raises if an input has no column of texts, before the folder is
        # made.
        chosen = choose_shard_size([*map(job.make_input, paths)])
        shard_size = shard_size or chosen
    with folder.locked():
        plan, added = read_plan(folder, paths), paths
        if plan is None:
            _check_empty(folder)
        else:  # before Ray, which takes seconds to start
            _check_plan(plan, job, shard_size)
            added = find_added(plan, paths, folder.url)
            if not added and _is_finished(plan, folder):
                return {**read_status(folder), "state": BEFORE}
            choose_shard_size([*map(job.make_input, added)])  # raises as above
        n_cpus = max(available_cores(), (n_workers or 1) * job.threads)
        with connected(address, n_cpus=n_cpus) as n_gpus:
            if job.device == AUTO:
                job = dataclasses.replace(job, device="cuda" if n_gpus else "cpu")
            folder.remove_temporary()
            if plan is None:
                assert shard_size is not None
                plan = Plan(job.settings(), shard_size, [], begins=())
            else:  # again: the device is known only now
                _check_plan(plan, job, shard_size)
            if added:
                plan = plan.with_inputs(scan_all(job, added, plan.shard_size))
                plan.write(folder)
            monitor = Monitor(plan, folder, report)
            executor = Executor(job, monitor, n_workers=n_workers, make_worker=make_worker)
            status = _execute(executor, monitor)
        folder.remove_temporary()
    return status


def _is_finished(plan: Plan, folder: Folder) -> bool:
    """Whether an earlier run has labeled all shards and said so in its status."""
    try:
        state = read_status(folder).get("state")
    except DataError:  # there is none, or it is damaged: it will be written
        return False
    return state == "finished" and bool((find_done(plan, folder)[0] >= 0).all())


def _execute(executor: Executor, monitor: Monitor) -> RunStatus:
    """Run to the end, and write in any case how it ended."""
    state = "interrupted"  # by a signal
    try:
        executor.run()
        monitor.check_outputs()
        state = "finished"
    except Exception:
        state = "failed"
        raise
    finally:
        status = monitor.end(state)
    return status


def _is_inside(path: str, folder: Folder) -> bool:
    path = path.removeprefix("file://")
    if is_url(path) == folder.is_local:
        return False
    place = os.path.realpath(path) if folder.is_local else path
    return place.startswith(os.path.join(folder.place, ""))


def _folders_of(path: str) -> tuple[str, str]:
    """The folder of a file, and the folder of that."""
    inner = os.path.dirname(path if is_url(path) else os.path.realpath(path))
    return inner, os.path.dirname(inner)


def _check_empty(folder: Folder) -> None:
    """Refuse to take the files of another program for shards that are done."""
    for name, _ in folder.sizes("data"):
        raise ConfigError(
            f"{folder.url}: has data/{name} but no plan of capsrl bulk; give another folder"
        )


def _check_plan(plan: Plan, job: Job, shard_size: int | None) -> None:
    """Refuse another plan; a device that is not chosen yet will be that of the plan."""
    if job.device == AUTO:
        job = dataclasses.replace(job, device=plan.settings["device"])
    check_settings(plan, job.settings(), shard_size, job.output)
