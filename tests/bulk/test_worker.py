"""One worker in this process: what it writes, in which formats, and where."""

import csv
import json

import fsspec
import pyarrow.parquet
import pytest

from capsrl.bulk.failures import Task
from capsrl.bulk.job import Job
from capsrl.bulk.monitor import Monitor
from capsrl.bulk.plan import Plan
from capsrl.bulk.scan import scan
from capsrl.bulk.status import Counts, read_status
from capsrl.bulk.storage import Folder
from capsrl.bulk.worker import Worker
from capsrl.errors import ModelError
from capsrl.tables.columns import arrow_schema, find_passed

ROWS = [
    {"id": "a", "text": "Mira sold her bicycle. She left.", "stars": 5},
    {"id": "b", "text": None, "stars": 1},
    {"id": "c", "text": "", "stars": 2},
    {"id": "d", "text": "Dogs bark.", "stars": 3},
    {"id": "e", "text": "x" * 300, "stars": 3},
]
EXPECTED = {"documents": 5, "sentences": 3, "errors": {"no text": 1, "too long": 1}}


@pytest.fixture(scope="module")
def model():
    return Job(output="").fingerprint()


def make_job(tmp_path, output=None, columns=None, **settings):
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    job = Job(output=output or str(tmp_path / "out"), max_characters=200, **settings)
    passed = find_passed([job.make_input(str(file))], columns)
    job = Job(**{**job.__dict__, "passed": passed})
    return job, Plan(job.settings(), 10, [scan(job.make_input(str(file)), 10)])


def label(job, plan, model, task=None):
    return Worker(job, model).run(task or Task(0), plan.pieces(0), plan.name(0))


def test_json_lines(tmp_path, model):
    job, plan = make_job(tmp_path)
    result = label(job, plan, model)
    found = result.counts.to_dict()
    assert {name: found[name] for name in EXPECTED} == EXPECTED
    rows = [json.loads(line) for line in (tmp_path / "out" / plan.name(0)).read_text().splitlines()]
    assert [row["document"] for row in rows] == ["a", "a", "b", "c", "d", "e"]
    assert rows[0]["propositions"][0]["sense"] == "sell.01"
    assert "got null" in rows[2]["error"] and "got 300" in rows[5]["error"]
    assert rows[4]["fields"] == {"stars": 3}
    assert sum(len(row.get("propositions", [])) for row in rows) == found["propositions"]
    assert result.seconds > 0 and result.memory_mb > 50


def test_chosen_columns(tmp_path, model):
    job, plan = make_job(tmp_path, columns=[])
    label(job, plan, model)
    assert '"fields"' not in (tmp_path / "out" / plan.name(0)).read_text()


def test_tables(tmp_path, model):
    job, plan = make_job(tmp_path, to="csv", rows="argument")
    label(job, plan, model)
    with open(tmp_path / "out" / plan.name(0), newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["role"] for row in rows if row["sense"] == "sell.01"] == ["A0", "A1"]
    assert {row["document"]: row["stars"] for row in rows} == {
        r["id"]: str(r["stars"]) for r in ROWS
    }
    job, plan = make_job(tmp_path, to="parquet", rows="sentence")
    label(job, plan, model)
    table = pyarrow.parquet.read_table(tmp_path / "out" / plan.name(0))
    assert table.schema.equals(arrow_schema("sentence", job.passed))
    assert table["document"].to_pylist() == ["a", "a", "b", "c", "d", "e"]


def test_bad_rows_and_trials(tmp_path, model):
    job, plan = make_job(tmp_path)
    trial = label(job, plan, model, Task(0, first=1, stop=4))
    assert trial.counts == Counts()
    assert not (tmp_path / "out").exists()
    result = label(job, plan, model, Task(0, ((3, "expected a text that can be labeled, got x"),)))
    assert result.counts.errors == {"no text": 1, "too long": 1, "failed": 1}
    rows = [json.loads(line) for line in (tmp_path / "out" / plan.name(0)).read_text().splitlines()]
    assert rows[4]["error"].endswith("got x") and rows[4]["words"] == []


def test_the_same_bytes_every_time(tmp_path, model):
    for to in ("jsonl", "parquet", "csv"):
        job, plan = make_job(tmp_path, to=to)
        contents = []
        for _ in range(2):
            label(job, plan, model)
            contents.append((tmp_path / "out" / plan.name(0)).read_bytes())
        assert contents[0] == contents[1]


def test_another_model_is_refused(tmp_path):
    job, _ = make_job(tmp_path)
    with pytest.raises(
        ModelError, match="^en: expected the model and frames of the plan, got other"
    ):
        Worker(job, "another")


def test_an_object_store(tmp_path, model):
    """Worker, monitor and log without a disk."""
    job, plan = make_job(tmp_path, output="memory://bulk/out")
    folder = Folder(job.output)
    try:
        plan.write(folder)
        result = label(job, plan, model)
        # Killed before the driver knows: the output and its counts are there.
        assert plan.find_done(folder).tolist() == [True]
        shown = []
        monitor = Monitor(plan, folder, shown.append)
        assert list(monitor.todo()) == []
        status = monitor.end("finished")
        assert status == shown[-1] == read_status(folder)
        assert {name: status[name] for name in EXPECTED} == EXPECTED
        assert list(folder.list("counts")) == []
        # Next time they are in the log.
        again = Monitor(plan, folder, shown.append).end("finished")
        assert again["sentences"] == result.counts.sentences
        with folder.open(plan.name(0)) as file:
            local, _ = make_job(tmp_path)
            label(local, plan, model)
            assert file.read() == (tmp_path / "out" / plan.name(0)).read_bytes()
    finally:
        fsspec.filesystem("memory").rm("/bulk", recursive=True)
