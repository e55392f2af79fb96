"""`capsrl paper` as it is called and looked at; tests/reproduce/test_runs.py runs it for real."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from typer.testing import CliRunner

from capsrl.errors import ConfigError
from reproduce.__main__ import app
from reproduce.plan import Corpus, PlannedRun, read_plan
from reproduce.results import write_result
from reproduce.run_command import _watching
from reproduce.runs import Event
from tests.helpers.synthetic_runs import run
from tests.helpers.tiny_plans import EXPERIMENT, corpus, start, write_plan

ONE_RUN = EXPERIMENT.replace('"baseline", ', "")


def paper(*arguments):
    return CliRunner().invoke(app, ["run", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def plan(tmp_path):
    return write_plan(tmp_path, corpus(changes=["train.epochs = 1"]) + EXPERIMENT)


def test_a_dry_run_says_what_is_missing_and_runs_nothing(plan, tmp_path):
    runs = tmp_path / "runs"
    done = paper(plan, "--out", runs, "--dry-run")
    assert done.exit_code == 0
    assert done.stdout == "missing  one baseline eta0 seed1\nmissing  one capsule n2 eta0 seed1\n"
    assert not runs.exists()
    runs.mkdir()
    write_result(runs / f"{read_plan(plan)[1].name}.json", run())
    done = paper(plan, "--out", runs, "--dry-run")
    assert done.stdout == "missing  one baseline eta0 seed1\ndone     one capsule n2 eta0 seed1\n"
    assert len(list(runs.iterdir())) == 1


def test_runs_go_to_a_folder_named_after_the_plan(plan, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs" / "plan"
    folder.mkdir(parents=True)
    for planned in read_plan(plan):
        write_result(folder / f"{planned.name}.json", run(seconds=12.0))
    done = paper("plan.toml")
    assert done.stdout == "all runs are in runs/plan; capsrl report runs/plan REPORT.html\n"
    first, second = done.stderr.splitlines()
    assert re.fullmatch(
        r"known    one baseline eta0 seed1: dev F1 8\d\.\d\d, test F1 8\d\.\d\d, "
        r"ood F1 8\d\.\d\d, 12 s",
        first,
    )
    assert second.startswith("known    one capsule n2 eta0 seed1: dev F1 ")


def test_mistakes(plan, tmp_path):
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file or directory"):
        paper(tmp_path / "gone.toml")
    for jobs in (0, -1):
        with pytest.raises(ConfigError, match=f"^jobs: expected at least 1, got {jobs}$"):
            paper(plan, "--jobs", jobs, "--out", tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


def screen(shown):
    """What a terminal shows after all this, line by line; knows what bars need of its language."""
    lines, row = [""], 0
    for part in re.split("(\x1b\\[[?0-9;]*[A-Za-z]|\r|\n)", shown):
        up = re.fullmatch("\x1b\\[(\\d*)A", part)
        if up:
            row -= int(up[1] or 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part and part != "\r" and not part.startswith("\x1b"):
            lines[row] += part  # a line is always cleared before it is written again
    return [line.rstrip() for line in lines]


def read_all(end):
    shown = b""
    while True:
        try:
            part = os.read(end, 65536)
        except OSError:  # Linux says so when the other end is closed
            return shown.decode()
        if not part:
            return shown.decode()
        shown += part


def terminal(columns):
    """Both ends of a terminal so wide."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    return ours, theirs


def test_a_run_on_a_terminal(tmp_path):
    plan = write_plan(tmp_path, corpus(changes=["train.epochs = 2"]) + ONE_RUN)
    ours, theirs = terminal(80)
    environment = {key: os.environ[key] for key in os.environ if key not in ("COLUMNS", "LINES")}
    process = start(
        plan, stderr=theirs, stdout=subprocess.PIPE, env={**environment, "TERM": "xterm"}
    )
    os.close(theirs)
    shown = read_all(ours)
    out, _ = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0, shown
    assert out == "all runs are in runs; capsrl report runs REPORT.html\n"
    assert re.search("one capsule n2 eta0 seed1 (\x1b\\[[0-9;]+m)*━", shown)
    done, runs, end = screen(shown)
    assert re.fullmatch(
        r"done     one capsule n2 eta0 seed1: dev F1 [\d.]+, test F1 [\d.]+, \d+ s", done
    )
    assert re.fullmatch(r"runs ━+ 1 of 1 +0:\d\d:\d\d", runs)
    assert len(runs) == 80 and end == ""


LONG = "a_corpus_with_quite_a_long_name"


def events(names):
    """Runs of these corpora: one known, one in its third epoch, one failed, one stopping."""
    recipe = read_plan(Path(__file__).parent.parent.parent / "plans" / "tiny.toml")[-1].recipe
    known, trained, failed, stopping = (PlannedRun(Corpus(name, {}), recipe) for name in names)
    yield Event(known, "known", note="dev F1 81.00, 3 s")
    yield from (Event(planned, "started") for planned in (trained, failed, stopping))
    yield Event(trained, "epoch", {"epoch": 3, "dev_f1": 71.256})
    yield Event(failed, "failed", note=f"out of memory (see {'x' * 60}/errors.txt)")
    yield Event(stopping, "stopping")


def test_bars_fit_in_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    with _watching(4) as report:
        for event in events(["known", LONG + "-two", LONG, "x"]):
            report(event)
    lines = screen(capsys.readouterr().err)
    assert lines[0] == "known    known capsule n2 eta1 seed1: dev F1 81.00, 3 s"
    assert lines[1].startswith(f"failed   {LONG} capsule n2 eta1 seed1: out of memory (see xx")
    assert lines[1].endswith("x/errors.txt)")  # in full, however long
    bars = lines[2:-1]
    assert [len(line) for line in bars] == [80] * 3
    assert re.fullmatch(r"runs +━+╸?╺?━+ 2 of 4 +0:00:0\d", bars[0])
    assert re.fullmatch(rf"{LONG}-two capsule… ━+╸?╺?━+ 3/12 F1 71\.26 +0:00:0\d", bars[1])
    assert re.fullmatch(r"x capsule n2 eta1 seed1 +━+ stopping +0:00:0\d", bars[2])


def test_lines_away_from_a_terminal(capsys):
    with _watching(4) as report:
        for event in events(["a", "b", "c", "d"]):
            report(event)
    assert capsys.readouterr().err.splitlines() == [
        "known    a capsule n2 eta1 seed1: dev F1 81.00, 3 s",
        "started  b capsule n2 eta1 seed1",
        "started  c capsule n2 eta1 seed1",
        "started  d capsule n2 eta1 seed1",
        f"failed   c capsule n2 eta1 seed1: out of memory (see {'x' * 60}/errors.txt)",
        "stopping d capsule n2 eta1 seed1",
    ]
