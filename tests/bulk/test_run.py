"""Bulk runs: what is refused before Ray starts, and runs that are killed."""

import hashlib
import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import pytest

from capsrl.bulk import connection, storage
from capsrl.bulk.job import Job
from capsrl.bulk.monitor import RunLog, write_status
from capsrl.bulk.plan import Plan, read_plan, scan
from capsrl.bulk.run import label_in_bulk
from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.tables.pipeline import Totals
from capsrl.tables.reading import ReadOptions
from capsrl.tables.writing import WriteOptions
from tests.helpers.bulk_plans import make_plan
from tests.helpers.bulk_runs import (
    kill,
    kill_all,
    outputs,
    processes,
    start,
    workers,
    write_texts,
)

BODY = ReadOptions(text_column="body")


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A folder `out` with a plan for the file in.jsonl."""
    monkeypatch.chdir(tmp_path)
    write_texts("in.jsonl", 5)
    job = Job(output="out")
    Plan(job.settings(), 4, [scan(job.make_input("in.jsonl"), 4)]).write(Folder("out"))
    return job


@pytest.mark.parametrize(
    ("settings", "others", "error", "message"),
    [
        ({"write": WriteOptions("csv")}, {}, ConfigError, '^out was .*: to was "jsonl", now "csv"'),
        ({"device": "cuda"}, {}, ConfigError, 'device was "cpu", now "cuda"; runtime'),
        ({}, {"shard_size": 3}, ConfigError, "shard_size was 4, now 3"),
        ({"model": "nosuch"}, {}, ModelError, "nosuch: not a model folder"),
        ({"read": BODY}, {}, ConfigError, 'text_column was null, now "body"'),
    ],
)
def test_another_plan_is_refused(begun, settings, others, error, message):
    with pytest.raises(error, match=message):
        label_in_bulk(["in.jsonl"], Job(output="out", **settings), **others)


def test_other_inputs_are_refused(begun):
    write_texts("in2.jsonl", 1)
    with pytest.raises(ConfigError, match="^out was started with other .*: in.jsonl is missing"):
        label_in_bulk(["in2.jsonl"], begun)
    Path("in2.csv").write_text("body\nWe left.\n")
    with pytest.raises(ConfigError, match="in2.csv: expected a column 'text'"):
        label_in_bulk(["in.jsonl", "in2.csv"], begun)
    write_texts("in.jsonl", 6)
    with pytest.raises(ConfigError, match="^out was started with .*: in.jsonl has changed"):
        label_in_bulk(["in.jsonl"], begun)
    with pytest.raises(ConfigError, match="^-: standard input cannot be read again"):
        label_in_bulk(["-"], begun)
    with pytest.raises(ConfigError, match="none.csv: no such file"):
        label_in_bulk(["none.csv"], begun)


def test_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "in.jsonl")
    with pytest.raises(ConfigError, match=r"in.jsonl: a pipe or device cannot be read again;"):
        label_in_bulk([str(tmp_path / "in.jsonl")], Job(output=str(tmp_path / "out")))


def test_urls_that_differ_in_secrets(tmp_path, memory_files):
    urls = [f"memory://{name}:S3CRET@box/a.csv" for name in ("mira", "omar")]
    for url in urls:
        memory_files.pipe(url.removeprefix("memory:/"), b"text\n")
    with pytest.raises(ConfigError, match="two inputs differ in the password or query of a URL"):
        label_in_bulk(urls, Job(output=str(tmp_path / "out")))


def test_the_output_is_no_input(begun):
    Path("out/data").mkdir()
    Path("out/data/part-0000000.jsonl").write_text("{}\n")
    with pytest.raises(ConfigError, match="^out/data: there are no files to label besides the"):
        label_in_bulk(["out/data"], begun)
    os.unlink("out/plan.jsonl")
    with pytest.raises(ConfigError, match="out: has data/part-0000000.jsonl but no plan"):
        label_in_bulk(["in.jsonl"], begun)


def test_the_output_of_another_run_is_no_input(begun):
    """Neither when its folder is named nor when it is inside of one."""
    Path("out/data").mkdir()
    Path("out/data/part-0000000.jsonl").write_text('{"text": "We left."}\n')
    for path in ("out", "out/data", "out/data/*", "out/*.jsonl"):
        with pytest.raises(ConfigError, match="there are no files to label besides the output"):
            label_in_bulk([path], Job(output="new"))
    Path("in.jsonl").write_text('{"body": "We left."}\n')
    with pytest.raises(ConfigError, match="in.jsonl: expected a column 'text'"):
        label_in_bulk(["."], Job(output="new"))  # reads that file only


def test_the_output_of_another_run_in_an_object_store_is_no_input(memory_files):
    make_plan([], 1).write(Folder("memory://box/old"))
    memory_files.pipe("/box/old/data/part-0000000.jsonl", b"{}")
    with pytest.raises(ConfigError, match="memory://box: there are no files to label besides the"):
        label_in_bulk(["memory://box"], Job(output="memory://box/out"))


def test_the_output_in_an_object_store_is_no_input(memory_files):
    memory_files.pipe("/box/out/data/part-0000000.jsonl", b"{}")
    with pytest.raises(ConfigError, match="memory://box: there are no files to label besides the"):
        label_in_bulk(["memory://box"], Job(output="memory://box/out"))


def test_urls_are_not_inside_the_current_folder(tmp_path, monkeypatch, memory_files):
    monkeypatch.chdir(tmp_path)
    memory_files.pipe("/box/a.csv", b"id,body\n1,Dogs bark.\n")
    with pytest.raises(ConfigError, match="box/a.csv: expected a column 'text'"):
        label_in_bulk(["memory://box"], Job(output="."))
    Path("a.csv").write_text("text\nDogs bark.\n")
    with pytest.raises(ConfigError, match="a.csv: there are no files to label besides the output"):
        label_in_bulk([f"file://{tmp_path}/a.csv"], Job(output="."))


def test_a_finished_run_is_left_alone(begun):
    """Before Ray starts, and with the status of the run that did the work."""
    plan, folder = read_plan(Folder("out")), Folder("out")
    for shard in range(plan.n_shards):
        folder.write(plan.name(shard), b"{}\n")
        file = {"size": 3, "sha256": hashlib.sha256(b"{}\n").hexdigest()}
        RunLog(folder).write("shard", shard=shard, **Totals().to_dict(), **file)
    write_status(folder, {"state": "finished", "seconds": 60.0})
    before = outputs("out")
    assert label_in_bulk(["in.jsonl"], begun)["state"] == "finished before"
    assert outputs("out") == before
    assert json.loads(Path("out/status.json").read_text()) == {"state": "finished", "seconds": 60}


def test_two_runs_at_once_are_refused(begun):
    with Folder("out").locked(), pytest.raises(ConfigError, match="another `capsrl bulk` is writ"):
        label_in_bulk(["in.jsonl"], begun)


def test_only_where_files_can_be_locked(begun, monkeypatch):
    monkeypatch.setattr(storage, "fcntl", None)  # as on Windows
    with pytest.raises(ConfigError, match="^capsrl bulk runs on Linux and macOS"):
        label_in_bulk(["in.jsonl"], begun)


def test_an_unreadable_input(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.jsonl.gz").write_bytes(b"no gzip")
    with pytest.raises(DataError, match="a.jsonl.gz: the content is not .gz data"):
        label_in_bulk(["a.jsonl.gz"], Job(output="out"))


def wait_for(condition, *, seconds=240):
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.05)


def n_done(folder):
    """The number of shards that are done."""
    try:
        return len(os.listdir(folder / "data"))
    except FileNotFoundError:
        return 0


@pytest.fixture
def mark(request):
    """A name for the processes of a run, all of which end with the test."""
    name = f"{os.getpid()}-{request.node.name}"
    yield name
    kill_all(name)


def finish(mark, *arguments):
    """Run to the end; gives what was written to stderr."""
    run = start(mark, *arguments)
    _, errors = run.communicate(timeout=600)
    assert run.returncode == 0, errors
    return errors


@pytest.mark.slow
def test_a_run_that_is_killed_20_times_writes_the_same_bytes(tmp_path, mark):
    """Workers, drivers and whole process groups are killed at random moments."""
    arguments = [write_texts(tmp_path / "in.jsonl", 20_000), tmp_path / "calm", "--workers", 2]
    arguments += ["--shard-size", 50]
    finish(mark, *arguments)
    arguments[1] = folder = tmp_path / "killed"
    chooser = random.Random(5)
    kinds = ["worker"] * 10 + ["driver"] * 5 + ["group"] * 5
    chooser.shuffle(kinds)
    run = start(mark, *arguments)
    for kind in kinds:
        before = n_done(folder)
        wait_for(lambda before=before: n_done(folder) > before and workers(mark))
        time.sleep(chooser.uniform(0, 0.4))
        assert run.poll() is None, "the run ended before it was killed often enough"
        alive = workers(mark)
        if kind == "worker" and alive:
            kill(chooser.choice(alive))
            continue
        if kind == "group":
            kill_all(mark)
        run.kill()
        run.communicate()
        run = start(mark, *arguments)
    run.communicate(timeout=600)
    assert run.returncode == 0
    assert outputs(folder) == outputs(tmp_path / "calm")
    assert not (folder / "tmp").exists()
    status = json.loads((folder / "status.json").read_text())
    calm = json.loads((tmp_path / "calm" / "status.json").read_text())
    for name in ("state", "shards", "done", "documents", "sentences", "propositions", "arguments"):
        assert status[name] == calm[name]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_goes_on(tmp_path, mark, number):
    arguments = [write_texts(tmp_path / "in.jsonl", 1500), tmp_path / "out", "--shard-size", 50]
    run = start(mark, *arguments)
    wait_for(lambda: n_done(tmp_path / "out") > 2)
    if number == signal.SIGINT:
        os.killpg(run.pid, number)  # as a terminal does
    else:
        os.kill(run.pid, number)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == (130 if number == signal.SIGINT else -number)
    assert "Traceback" not in errors
    state = json.loads((tmp_path / "out" / "status.json").read_text())["state"]
    assert state == "interrupted"
    wait_for(lambda: not workers(mark), seconds=30)
    assert "1,500 documents" in finish(mark, *arguments)
    wait_for(lambda: not processes(mark), seconds=30)
    # Nothing is left in the folder for temporary files, also not of killed runs.
    folders = Path(tempfile.gettempdir()).glob("capsrl-ray-*")
    assert [path for path in folders if connection._is_abandoned(path)] == []
