"""Following a run: rate, time left, what is done."""

import itertools

from capsrl.bulk.failures import Task
from capsrl.bulk.monitor import Monitor
from capsrl.bulk.plan import Plan
from capsrl.bulk.status import Counts, read_status
from capsrl.bulk.storage import Folder
from capsrl.bulk.worker import Result
from tests.helpers.bulk_plans import SETTINGS, source

ONE = Counts(2, 3, 4, 5)


def test_the_time_left(tmp_path, monkeypatch):
    folder = Folder(str(tmp_path))
    clock = itertools.count(0, 100)
    monkeypatch.setattr("capsrl.bulk.monitor.time.monotonic", lambda: next(clock))
    shown = []
    monitor = Monitor(Plan(SETTINGS, 10, [source("a", 40, 10)]), folder, shown.append)
    assert list(monitor.todo()) == [0, 1, 2, 3]
    monitor.tick(2)
    assert (shown[-1]["seconds_left"], shown[-1]["workers"]) == (None, 2)
    monitor.finish(Task(2), Result(ONE, 1.0, 0.9, 99.0))
    monitor.tick(2)
    status = shown[-1]
    assert status["seconds_left"] == 3 * status["seconds"]
    assert status["sentences_per_second"] == round(3 / status["seconds"], 1)
    assert status["memory_mb"]["worker"] == 99
    assert read_status(folder) == status
    assert list(monitor.todo()) == [0, 1, 3]
