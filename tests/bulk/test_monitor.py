"""Following a run: rate, time left, what is done; log and status file."""

import hashlib
import itertools
import os

import pytest

from capsrl.bulk.monitor import (
    Monitor,
    RunLog,
    find_damaged,
    find_done,
    is_alive,
    read_events,
    read_status,
)
from capsrl.bulk.plan import Plan
from capsrl.bulk.storage import Folder
from capsrl.bulk.tasks import Task
from capsrl.bulk.worker import TaskResult
from capsrl.errors import DataError
from capsrl.tables.pipeline import Totals
from tests.helpers.bulk_plans import SETTINGS, planned

ONE = Totals(2, 3, 4, 5)
FILE = {"size": 3, "sha256": hashlib.sha256(b"abc").hexdigest()}


@pytest.fixture
def folder(tmp_path):
    return Folder(str(tmp_path / "out"))


@pytest.fixture
def plan():
    return Plan(SETTINGS, 10, [planned("a", 40, 10)])


def test_the_time_left(plan, folder, monkeypatch):
    clock = itertools.count(0, 100)
    monkeypatch.setattr("capsrl.bulk.monitor.time.monotonic", lambda: next(clock))
    shown = []
    monitor = Monitor(plan, folder, shown.append)
    assert list(monitor.todo()) == [0, 1, 2, 3]
    monitor.tick(2)
    assert (shown[-1]["seconds_left"], shown[-1]["workers"]) == (None, 2)
    monitor.finish(Task(2), TaskResult(ONE, 1.0, 0.9, 99.0))
    monitor.tick(2)
    status = shown[-1]
    assert status["seconds_left"] == 3 * status["seconds"]
    assert status["sentences_per_second"] == round(3 / status["seconds"], 1)
    assert status["memory_mb"]["worker"] == 99
    assert read_status(folder) == status
    assert list(monitor.todo()) == [0, 1, 3]


def test_a_shard_is_done_if_it_has_an_output_and_counts(plan, folder):
    """Both are needed; that the log counts it twice does not matter."""
    log = RunLog(folder)
    for shard in (0, 1, 1, 3, 9, -1, "0", None, 0.5):
        log.write("shard", shard=shard, **ONE.to_dict(), **FILE)
    for shard in (0, 1, 2):
        folder.write(plan.name(shard), b"abc")
    sizes, counts = find_done(plan, folder)
    assert (sizes.tolist(), counts.sentences) == ([3, 3, -1, -1], 6)
    assert list(find_damaged(plan, folder)) == [plan.name(3)]  # counted, but not there


def test_an_output_that_is_not_as_in_the_log_is_made_again(plan, folder):
    log = RunLog(folder)
    for shard in range(4):
        log.write("shard", shard=shard, **ONE.to_dict(), **FILE)
        folder.write(plan.name(shard), (b"abc", b"", b"abcd", b"abd")[shard])
    assert find_done(plan, folder)[0].tolist() == [3, -1, -1, -1]
    log.write("shard", shard=1, **ONE.to_dict(), size=0, sha256=hashlib.sha256().hexdigest())
    sizes, counts = find_done(plan, folder)
    assert (sizes.tolist(), counts.documents) == ([3, 0, -1, -1], 4)


def test_outputs_that_change_during_a_run_are_noticed(plan, folder):
    monitor = Monitor(plan, folder, lambda status: None)
    folder.write(plan.name(2), b"abc")
    monitor.finish(Task(2), TaskResult(ONE, 1.0, 0.9, 99.0, 3, FILE["sha256"]))
    monitor.check_outputs()
    folder.write(plan.name(2), b"ab")
    with pytest.raises(DataError, match="out/data/part-0000002.jsonl: expected 3 bytes, got 2; so"):
        monitor.check_outputs()
    folder.remove(plan.name(2))
    with pytest.raises(DataError, match="expected 3 bytes, got no file; something else changed it"):
        monitor.check_outputs()


def test_a_log_that_was_cut_off_goes_on(folder, tmp_path):
    log = RunLog(folder)
    log.write("start")
    log.write("shard", shard=0, **ONE.to_dict())
    file = tmp_path / "out" / "log.jsonl"
    file.write_bytes(file.read_bytes()[:-20])
    RunLog(folder).write("start", number=2)
    assert [event["kind"] for event in read_events(folder)] == ["start", "start"]
    assert not list(read_events(Folder(str(tmp_path / "none"))))


def test_a_folder_without_a_run(folder):
    with pytest.raises(DataError, match="out: not a folder that capsrl bulk writes: it has no st"):
        read_status(folder)


@pytest.mark.parametrize("content", [b"", b'{"state": "fin', b"[" * 10_000, b"\xff", b"[1]"])
def test_a_damaged_status(folder, content):
    folder.write("status.json", content)
    with pytest.raises(DataError, match="out/status.json: damaged: .*; the next run of the same"):
        read_status(folder)


def test_a_damaged_log(plan, folder):
    folder.append("log", b'[1]\n{"shard": {}}\n\xff\n3\n' + b"[" * 10_000 + b"\n", part="x")
    assert find_done(plan, folder)[0].tolist() == [-1] * 4


def test_processes():
    assert is_alive(os.getpid())
    assert not is_alive(1 << 22)
