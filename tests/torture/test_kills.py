"""Saves that are killed and disturbed; `make torture` does it a hundred times."""

import os
import sys
from pathlib import Path
from random import Random

import pytest

from torture.disturbing import Disturbance, run_forked
from torture.target import Wrong

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux"),
    # None of the threads of this process is needed in a fork.
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]


def write_three():
    for number in range(3):
        Path(f"{number}").write_text("x" * 1000)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def names(folder):
    return sorted(os.listdir(folder))


def test_a_process_that_is_left_alone(folder):
    ended = run_forked(write_three, folder, None)
    assert (ended.how, ended.changes, names(folder)) == ("done", 3, ["0", "1", "2"])


@pytest.mark.parametrize(
    ("kind", "how", "left"),
    [
        ("kill at a change", "killed", ["0"]),
        ("failed change", "refused", ["0"]),
        ("full disk", "refused", ["0"]),
    ],
)
def test_disturbances(folder, kind, how, left):
    where = 0.1 if kind == "full disk" else 0.4
    ended = run_forked(write_three, folder, Disturbance(kind, where, changes=3, seconds=1))
    assert (ended.how, names(folder)) == (how, left)


def test_a_kill_at_any_time(folder):
    def wait():
        Path("begun").touch()
        while True:
            pass

    ended = run_forked(wait, folder, Disturbance("kill", 0.5, changes=1, seconds=4))
    assert (ended.how, names(folder)) == ("killed", ["begun"])


def test_tracebacks_are_found(folder):
    with pytest.raises(Wrong, match=r"(?s)a traceback.*KeyError: 'a'"):
        run_forked(lambda: {}["a"], folder, None)


def test_losses_are_found():
    """Work that removes the old output before it writes the new one."""
    kills = pytest.importorskip("torture.kills")

    def run():
        Path("out.jsonl").unlink()
        Path("out.jsonl").write_text("new")

    before = lambda: Path("out.jsonl").write_text("old")  # noqa: E731
    check = kills.works()["label"].check
    with pytest.raises(Wrong, match="neither the old nor the new output"):
        kills.disturb(kills.Work(before, run, check), 30, Random(1))


def test_saves():
    kills = pytest.importorskip("torture.kills")
    outcomes = kills.disturb(kills.works()["save"], 6, Random(3))
    assert outcomes.total() == 6 and any("kill" in each for each in outcomes)
