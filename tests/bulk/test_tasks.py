"""What workers do next, and finding the rows that kill them."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.bulk.tasks import ATTEMPTS, MAX_BAD_ROWS, Failures, Queue, Task


def play(n_rows, bad, *, accident=lambda: False, limit=10_000):
    """Run the tasks of a shard with some bad rows; gives its last task and how many failed."""
    failures, task, n_failed = Failures(7, n_rows), Task(7), 0
    for _ in range(limit):
        rows = range(task.first, task.stop) if task.is_trial else range(n_rows)
        known = {row for row, _ in task.bad_rows}
        if (bad - known) & set(rows) or accident():
            n_failed += 1
            failures.failed(task, "died")
            if failures.is_hopeless:
                return None, n_failed
        elif not task.is_trial:
            return task, n_failed
        else:
            failures.succeeded(task)
        task = failures.next_task()
        assert task.shard == 7
    raise AssertionError("never ends")


@given(st.integers(1, 200), st.data())
def test_exactly_the_bad_rows_are_found(n_rows, data):
    bad = data.draw(st.sets(st.integers(0, n_rows - 1), max_size=min(MAX_BAD_ROWS, n_rows)))
    task, _ = play(n_rows, bad)
    assert task == Task(7, tuple((row, "died") for row in sorted(bad)))


def test_the_number_of_deaths_is_small():
    _, n_failed = play(2000, {1234})
    # Twice the whole shard, its halves down to one row, and that one twice.
    assert n_failed == ATTEMPTS + 10 + ATTEMPTS


@pytest.mark.parametrize("seed", range(20))
def test_accidents_do_not_change_the_output(seed):
    chooser = random.Random(seed)
    task, _ = play(50, {3, 30}, accident=lambda: chooser.random() < 0.1)
    if task is not None:  # two accidents may hit the same good row, or the last attempt
        assert {row for row, _ in task.bad_rows} >= {3, 30}


def test_three_accidents_leave_no_error_behind():
    accidents = iter([True, True, True])
    task, n_failed = play(50, set(), accident=lambda: next(accidents, False))
    assert (task, n_failed) == (Task(7), 3)


def test_a_shard_of_bad_rows_is_given_up():
    assert play(MAX_BAD_ROWS + 1, set(range(MAX_BAD_ROWS + 1)))[0] is None


def test_a_shard_that_fails_as_a_whole_is_given_up():
    failures = Failures(7, 4)
    task, n_whole = Task(7), 0
    while not failures.is_hopeless:
        if task.is_trial:
            failures.succeeded(task)
        else:
            failures.failed(task, "too large")
            n_whole += 1
        task = failures.next_task()
    assert n_whole == 2 * ATTEMPTS
    assert failures.reason == "too large"


def test_one_worker_gets_all_in_order():
    queue = Queue([0, 1, 2, 5, 6])
    assert len(queue) == 5
    assert [queue.take("a") for _ in range(6)] == [0, 1, 2, 5, 6, None]
    assert len(queue) == 0


def test_the_second_worker_begins_in_the_middle():
    queue = Queue(range(10))
    assert [queue.take("a"), queue.take("b"), queue.take("a"), queue.take("b")] == [0, 5, 1, 6]


def test_the_shards_of_a_dead_worker_are_free_again():
    queue = Queue(range(4))
    assert queue.take("a") == 0
    queue.release("a")
    queue.release("a")  # it may be told twice
    assert sorted(queue.take("b") for _ in range(3)) == [1, 2, 3]
    assert queue.take("b") is None


@given(st.sets(st.integers(0, 300)), st.integers(1, 8), st.randoms(use_true_random=False))
def test_every_shard_is_taken_once(shards, n_workers, chooser):
    queue = Queue(sorted(shards))
    taken = []
    while (shard := queue.take(worker := chooser.randrange(n_workers))) is not None:
        taken.append(shard)
        if chooser.random() < 0.1:
            queue.release(worker)
        assert len(queue) == len(shards) - len(taken)
    assert sorted(taken) == sorted(shards)


def test_workers_read_mostly_forward():
    """A jump costs decompressing from the start: they must be few, not one for each shard."""
    queue, chooser = Queue(range(10_000)), random.Random(1)
    last, jumps = {}, 0
    while (shard := queue.take(worker := chooser.randrange(8))) is not None:
        jumps += shard != last.get(worker, -1) + 1
        last[worker] = shard
    assert jumps < 150
