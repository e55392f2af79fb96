import os
import sys
import threading

import pytest

from capsrl.cli.progress import without_waiting


@pytest.fixture
def pipe(monkeypatch):
    """Standard input as a pipe, and the end that is written to."""
    ours, theirs = os.pipe()
    with open(ours) as stdin, open(theirs, "wb", buffering=0) as other:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield other


def test_what_is_not_there_yet(pipe):
    allowed = threading.Semaphore(0)

    def items():
        for number in range(3):
            allowed.acquire()
            yield number

    found = without_waiting(items())
    assert next(found) is None
    allowed.release()
    assert next(found) == 0
    assert next(found) is None
    allowed.release(2)
    assert [item for item in found if item is not None] == [1, 2]


def test_all_items_come_in_order(pipe):
    found = [item for item in without_waiting(range(10_000)) if item is not None]
    assert found == list(range(10_000))


def test_errors_are_raised_where_the_items_are_used(pipe):
    def items():
        yield 1
        raise ValueError("bad")

    found = filter(None, without_waiting(items()))
    assert next(found) == 1
    with pytest.raises(ValueError, match="^bad$"):
        next(found)
