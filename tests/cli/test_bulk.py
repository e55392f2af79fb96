"""`capsrl bulk`: the command, its messages and exit codes; tests/bulk has the rest."""

import json
import os
import socket
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from capsrl.cli.bulk import status_lines, summary_lines

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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["out"], "give files to label, then an output folder: capsrl bulk IN... OUT"),
        ([], "give files to label, then an output folder: capsrl bulk IN... OUT"),
        (["--status"], "--status: give one output folder and no inputs"),
        (["--status", "a", "b"], "--status: give one output folder and no inputs"),
        (["--status", "none"], "none: not a folder that capsrl bulk writes: it has no status.json"),
        (["a.csv", "b.csv"], "b.csv: the output must be a folder, not a file; name it last"),
        (["a.csv", "out", "--to", "xml"], "--to: expected jsonl, parquet, csv or tsv, got xml"),
        (
            ["a.csv", "out", "--rows", "word"],
            "--rows: expected argument, proposition or sentence, got word",
        ),
        (
            ["a.csv", "out", "--escape-formulas"],
            "--escape-formulas: expected csv or tsv, got jsonl",
        ),
        (["a.csv", "out", "--device", "tpu"], "--device: expected auto, cpu or cuda, got tpu"),
        (["a.csv", "out"], "a.csv: expected a column 'text' with the texts, got 'x'"),
        (["a.csv", "out", "--shard-size", "9"], "a.csv: expected a column 'text' with the texts"),
        (["none.csv", "out"], "none.csv: no such file"),
    ],
)
def test_mistakes(capsrl, arguments, message):
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("x\n1\n")
    done = capsrl("bulk", *arguments)
    assert done.code == 2
    assert f"error: {message}" in done.err
    assert not Path("out").exists()


def test_files_of_other_kinds_are_named(capsrl):
    Path("in/out").mkdir(parents=True)
    for name in ("in/a.csv", "in/b.md", "in/c.md", "in/out/lock"):
        Path(name).write_text("x\n1\n")
    done = capsrl("bulk", "in", "in/out")
    note, error = done.err.splitlines()
    assert note == "note: in: skipped 2 files (.md)"
    assert error.startswith("error: in/a.csv: expected a column 'text'")


def test_no_cluster(capsrl):
    Path("a.csv").write_text("text\nDogs bark.\n")
    done = capsrl("bulk", "a.csv", "out", "--address", "127.0.0.1:1")
    assert done.code == 2
    refused = "error: --address: there is no Ray cluster at 127.0.0.1:1: [Errno 111] Connection"
    assert refused in done.err


@pytest.mark.slow
def test_from_table_to_table(capsrl):
    Path("a.csv").write_text(
        "id,text,stars\n1,Mira sold her bicycle.,5\n2,No stars.\n3,Dogs bark.,2\n"
    )
    done = capsrl("bulk", "a.csv", "out", "--to", "csv", "--shard-size", "2", "--workers", "1")
    assert done.code == 3  # one row has no third cell
    assert "out/data: 3 documents, 2 sentences" in done.err
    assert "1 document not labeled: bad row" in done.err
    parts = sorted(Path("out/data").iterdir())
    assert [part.name for part in parts] == ["part-0000000.csv", "part-0000001.csv"]
    single = capsrl("label", "a.csv", "--to", "csv")
    header, *rows = single.out.splitlines()
    found = [part.read_text().splitlines() for part in parts]
    assert [each[0] for each in found] == [header, header]
    assert [row for each in found for row in each[1:]] == rows
    assert capsrl("bulk", "--status", "out").out.startswith("state: finished ")


def write_status(**changes):
    Path("out").mkdir(exist_ok=True)
    Path("out/status.json").write_text(json.dumps({**STATUS, **changes}))


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", json.dumps({**STATUS, "done": None}), json.dumps({**STATUS, "errors": 1})]
    + [json.dumps({**STATUS, "updated": "x"}), json.dumps({**STATUS, "seconds_left": 1e300})],
)
def test_a_damaged_status(capsrl, content):
    Path("out").mkdir()
    Path("out/status.json").write_text(content)
    done = capsrl("bulk", "--status", "out")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: out/status.json: damaged: ") and done.err.count("\n") == 1


def test_a_clock_that_is_behind(capsrl):
    write_status(updated="2999-01-01T00:00:00+00:00", state="finished")
    assert capsrl("bulk", "--status", "out").out.startswith("state: finished 0 s ago\n")


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
        ({"pid": 1 << 22}, "state: killed "),
        ({"pid": 1 << 22, "host": "elsewhere"}, "state: running, updated "),
        ({"failures": 3, "set_aside": [7]}, "shards: 300 of 1,200 done, 3 failures, 1 set aside"),
        ({"errors": {"no text": 5}}, "errors, no text: 5"),
    ],
)
def test_status_tells_what_is_wrong(changes, line):
    assert any(each.startswith(line) for each in status_lines({**STATUS, **changes}))


@pytest.mark.parametrize(
    ("seconds", "shown"), [(5, "5 s"), (60, "1 min"), (7300, "2 h"), (200_000, "2 days")]
)
def test_a_killed_run_says_how_to_resume(seconds, shown):
    then = datetime.now().astimezone() - timedelta(seconds=seconds)
    changes = {"pid": 1 << 22, "updated": then.isoformat()}
    first = next(status_lines({**STATUS, **changes}))
    assert first == f"state: killed {shown} ago; run the same command to resume"


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
        "1 shard set aside, see out/failed; run the same command to try again",
    ]
