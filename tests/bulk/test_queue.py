"""Which shard a worker gets next."""

import random

from hypothesis import given
from hypothesis import strategies as st

from capsrl.bulk.queue import Queue


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
