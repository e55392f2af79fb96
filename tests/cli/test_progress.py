"""Progress on standard error, and input that is slow."""

import math
import os
import sys
import threading

import pytest

from capsrl.cli import progress
from capsrl.cli.progress import (
    bulk_progress,
    epoch_line,
    training_progress,
    watched_lines,
    watched_texts,
    without_waiting,
)
from tests.cli.test_bulk import STATUS

EPOCH = {
    "kind": "epoch",
    "epoch": 3,
    "loss": 0.5,
    "dev_f1": 81.234,
    "dev_argument_f1": 70.0,
    "dev_em": 50.0,
    "seconds": 12.34,
    "best": True,
}


def make_terminal(monkeypatch):
    """Make standard error a terminal of 100 columns."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")


def test_bars_of_a_training_run(capsys, monkeypatch):
    make_terminal(monkeypatch)
    step = {"kind": "step", "epoch": 2, "batch": 3, "batches": 6, "loss": 0.25}
    with training_progress(5) as report:
        report({**step, "words_per_second": 12345})
        report({**EPOCH, "epoch": 2})
        report({"kind": "warning", "message": "[bold] loss"})
    err = capsys.readouterr().err
    assert "loss 0.250, 12,345 words/s" in err
    assert "2 of 5" in err
    assert "warning: [bold] loss" in err
    assert "epoch   2  loss  0.5000  dev F1  81.23" in err


def test_lines_of_a_training_run(capsys):
    with training_progress(5) as report:
        report({"kind": "step"})
        report(EPOCH)
    line = "epoch   3  loss  0.5000  dev F1  81.23  arguments  70.00  EM  50.00      12.3 s  best"
    assert epoch_line(EPOCH) == line
    assert capsys.readouterr().err == line + "\n"


def test_lines_of_a_bulk_run(capsys, monkeypatch):
    monkeypatch.setattr(progress, "_LINE_EVERY", math.inf)
    with bulk_progress() as report:
        report({**STATUS, "state": "planning"})
        report({**STATUS, "failures": 1})
        report({**STATUS, "done": 301})  # before the next line is due
    assert capsys.readouterr().err == (
        "300 of 1,200 shards, 60,000 sentences, 1,000/s, 2 workers, 0:03:00 left, 1 failure\n"
    )


def test_the_bar_of_a_bulk_run(capsys, monkeypatch):
    make_terminal(monkeypatch)
    with bulk_progress() as report:
        report(STATUS)
    assert "300 of 1,200 shards, 60,000 sentences" in capsys.readouterr().err


def test_the_bars_of_files(capsys, monkeypatch, tmp_path):
    make_terminal(monkeypatch)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    with watched_lines(tmp_path / "a.txt") as lines:
        assert list(lines) == ["one", "two"]
    assert "lines" in capsys.readouterr().err
    assert list(watched_texts(["a", "b"], "texts.csv")) == ["a", "b"]
    err = capsys.readouterr().err
    assert "texts.csv" in err and "documents" in err
    assert list(watched_texts(["a"], "texts.csv", bar=False)) == ["a"]
    assert capsys.readouterr().err == ""


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
