"""What `capsrl bulk` prints of a run: its status and its summary."""

import json
import math
import os
import socket
from pathlib import Path

import pytest

from capsrl.cli import bulk_progress
from capsrl.cli.bulk_progress import show_progress, status_lines, summary_lines

STATUS = {
    "state": "running",
    "started": "2026-01-01T10:00:00+00:00",
    "updated": "2026-01-01T10:01:00+00:00",
    "shards": 1200,
    "done": 300,
    "set_aside": [],
    "documents": 30_000,
    "sentences": 60_000,
    "propositions": 120_000,
    "arguments": 240_000,
    "errors": {},
    "failures": 0,
    "workers": 2,
    "seconds": 60.0,
    "sentences_per_second": 1000.0,
    "seconds_left": 180,
    "memory_mb": {"driver": 140, "worker": 240},
    "host": socket.gethostname(),
    "pid": os.getpid(),
}


def write_status(**changes):
    Path("out").mkdir(exist_ok=True)
    Path("out/status.json").write_text(json.dumps({**STATUS, **changes}))


def test_status(capsrl):
    write_status()
    done = capsrl("bulk", "--status", "out")
    assert done.code == 0
    first, *lines = done.out.splitlines()
    assert first.startswith("state: running, updated ")
    assert lines == [
        "shards: 300 of 1,200 done, no failures",
        "documents: 30,000",
        "sentences: 60,000",
        "propositions: 120,000",
        "arguments: 240,000",
        "rate: 1,000 sentences/s, 2 workers",
        "time left: 0:03:00",
        "peak memory: 140 MB driver, 240 MB largest worker",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"state": "finished"}, "state: finished "),
        ({"pid": 1 << 22}, "state: killed about "),
        ({"pid": 1 << 22, "host": "elsewhere"}, "state: running, updated "),
        ({"failures": 3, "set_aside": [7]}, "shards: 300 of 1,200 done, 3 failures, 1 set aside"),
        ({"errors": {"no text": 5}}, "errors, no text: 5"),
    ],
)
def test_status_tells_what_is_wrong(changes, line):
    assert any(each.startswith(line) for each in status_lines({**STATUS, **changes}))


def test_a_run_that_has_ended_has_no_workers():
    lines = list(status_lines({**STATUS, "state": "finished", "workers": 0}))
    assert "rate: 1,000 sentences/s" in lines


def test_summary_of_a_run_that_had_nothing_to_do():
    _, line = summary_lines({**STATUS, "done": 1200, "state": "finished before"}, "out")
    assert line == "1,200 of 1,200 shards; all were done before"


def test_summary():
    changes = {"done": 1199, "set_aside": [4], "errors": {"failed": 2, "no text": 1}}
    assert list(summary_lines({**STATUS, **changes}, "out")) == [
        "out/data: 30,000 documents, 60,000 sentences, 120,000 propositions, 240,000 arguments",
        "1,199 of 1,200 shards; this run took 0:01:00, 1,000 sentences/s",
        "2 documents not labeled: failed",
        "1 document not labeled: no text",
        "1 shard set aside, see out/failed; the same command tries again",
    ]


def test_progress_without_a_terminal_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(bulk_progress, "_LINE_EVERY", math.inf)
    with show_progress() as report:
        report({**STATUS, "state": "planning"})
        report({**STATUS, "failures": 1})
        report({**STATUS, "done": 301})  # before the next line is due
    assert capsys.readouterr().err == (
        "300 of 1,200 shards, 60,000 sentences, 1,000/s, 2 workers, 0:03:00 left, 1 failure\n"
    )
