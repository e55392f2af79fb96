"""Prefetching changes when items are made, and nothing else."""

import threading

import pytest

from capsrl.train.prefetch import prefetch
from tests.helpers.waiting import wait_until


def threads() -> int:
    return sum(thread.name == "prefetch" for thread in threading.enumerate())


@pytest.mark.parametrize("depth", [1, 3, 100])
def test_order(depth):
    assert list(prefetch(range(50), depth=depth)) == list(range(50))
    assert list(prefetch([], depth=depth)) == []
    assert list(prefetch([None, None], depth=depth)) == [None, None]
    assert threads() == 0


def test_depth():
    made = []
    items = prefetch((made.append(i) or i for i in range(100)), depth=2)
    assert next(items) == 0
    wait_until(lambda: len(made) >= 4)
    assert len(made) == 4  # one used, two ready, one in hand
    items.close()


def test_exception_is_raised_in_order():
    def broken():
        yield 1
        raise ValueError("row 2")

    items = prefetch(broken())
    assert next(items) == 1
    with pytest.raises(ValueError, match="row 2"):
        next(items)
    assert threads() == 0


def test_closing_stops_the_thread():
    items = prefetch(iter(int, 1), depth=1)  # endless
    next(items)
    assert threads() == 1
    items.close()
    assert threads() == 0
