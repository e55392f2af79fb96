"""Workers on Ray, which die, fail and go on; all tests share one Ray of this machine."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsrl.bulk.connection import connected
from capsrl.bulk.executor import DIED, count_workers, worker_resources
from capsrl.bulk.job import Job
from capsrl.bulk.run import label_in_bulk
from capsrl.errors import ConfigError, DataError
from capsrl.tables.writing import WriteOptions
from tests.helpers.bulk_runs import make_texts, outputs, write_texts
from tests.helpers.dying_workers import (
    BROKEN,
    POISON,
    DyingAfterwards,
    DyingWriter,
    FragileWorker,
    NeverReady,
)
from tests.helpers.serving import same


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    with connected(None, n_cpus=2) as n_gpus:
        assert n_gpus == 0
        yield


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Label texts, which are written to a file, into a folder."""
    monkeypatch.chdir(tmp_path)

    def label(texts, output="out", *, shard_size=4, **others):
        rows = (json.dumps({"id": f"r{n}", "text": text}) for n, text in enumerate(texts))
        content = "".join(f"{row}\n" for row in rows)
        if not Path("in.jsonl").exists() or Path("in.jsonl").read_text() != content:
            Path("in.jsonl").write_text(content)
        job = Job(output=output, **others.pop("job", {}))
        return label_in_bulk(["in.jsonl"], job, shard_size=shard_size, **others)

    return label


def read_rows(folder):
    """All records of the output, in order."""
    files = sorted((Path(folder) / "data").iterdir())
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def events(folder, kind):
    """The events of one kind in the log."""
    lines = map(json.loads, filter(None, (Path(folder) / "log.jsonl").read_text().split("\n")))
    return [event for event in lines if event["kind"] == kind]


def test_labels_are_those_of_the_library(run, labeler):
    texts = make_texts(10)
    status = run(texts)
    found = [[row["document"], row["propositions"]] for row in read_rows("out")]
    expected = [
        [f"r{n}", sentence.standalone().to_dict()["propositions"]]
        for n, sentences in enumerate(labeler.label(texts))
        for sentence in sentences
    ]
    assert same(found, expected, tolerance=2e-6)  # another batch may change the last digit
    assert (status["state"], status["shards"], status["done"]) == ("finished", 3, 3)
    assert status["sentences"] == status["documents"] == 10
    assert status["propositions"] == sum(len(propositions) for _, propositions in expected)
    assert sorted(entry.name for entry in Path("out").iterdir()) == [
        "data",
        "lock",
        "log.jsonl",
        "plan.jsonl",
        "status.json",
    ]


@pytest.mark.slow
def test_bad_rows_become_errors_in_their_place(run):
    texts = make_texts(10)
    run(texts, "good")
    good = {row["document"]: row for row in read_rows("good")}
    texts[2] = texts[9] = f"{POISON} kills."
    texts[5] = f"{BROKEN} raises."
    status = run(texts, "bad", make_worker=FragileWorker)
    rows = {row["document"]: row for row in read_rows("bad")}
    assert list(rows) == [f"r{n}" for n in range(10)]
    assert {name: row["error"] for name, row in rows.items() if "error" in row} == {
        "r2": DIED,
        "r5": "this text cannot be labeled: RuntimeError('a bug')",
        "r9": DIED,
    }
    assert all(rows[name] == good[name] for name in good if name not in ("r2", "r5", "r9"))
    assert (status["done"], status["set_aside"]) == (3, [])
    assert (status["documents"], status["sentences"]) == (10, 7)
    assert status["errors"] == {"failed": 3}
    assert sorted((e["shard"], e["row"]) for e in events("bad", "bad_row")) == [
        (0, 2),
        (1, 1),
        (2, 1),
    ]


@pytest.mark.slow
def test_a_shard_that_cannot_be_written_is_set_aside_and_tried_again(run):
    texts = make_texts(6)
    status = run(texts, make_worker=DyingWriter)
    assert (status["done"], status["set_aside"], status["state"]) == (1, [0], "finished")
    record = json.loads(Path("out/failed/part-0000000.json").read_text())
    assert record == {
        "shard": 0,
        "rows": [{"path": "in.jsonl", "first": 0, "stop": 4}],
        "kind": "failed",
        "error": DIED,
    }
    status = run(texts)
    assert (status["done"], status["set_aside"], status["documents"]) == (2, [], 6)
    assert not Path("out/failed").exists()
    run(texts, "calm")
    assert outputs("out") == outputs("calm")


@pytest.mark.slow
def test_a_shard_whose_worker_dies_after_its_work_counts_once(run):
    texts = make_texts(8)
    status = run(texts, make_worker=DyingAfterwards)
    assert (status["done"], status["failures"], status["documents"]) == (2, 1, 8)
    assert len(events("out", "shard")) == 2


def test_a_finished_run_does_nothing(run):
    texts = make_texts(8)
    first = run(texts)
    before = {name: Path("out", name).stat().st_mtime_ns for name in outputs("out")}
    again = run(texts, make_worker=NeverReady)  # no worker is started
    assert {name: Path("out", name).stat().st_mtime_ns for name in outputs("out")} == before
    kinds = ("documents", "sentences", "propositions", "arguments", "errors", "done")
    assert [again[kind] for kind in kinds] == [first[kind] for kind in kinds]


def test_a_missing_shard_is_made_again(run):
    texts = make_texts(12)
    run(texts)
    before = outputs("out")
    Path("out/data/part-0000001.jsonl").unlink()
    status = run(texts)
    assert outputs("out") == before
    assert (status["done"], status["documents"]) == (3, 12)


def test_a_damaged_part_is_made_again(run):
    """Cut, emptied, replaced by another, or with another bit, also after the run has finished."""
    texts = make_texts(20)
    run(texts)
    before = outputs("out")
    one, two, three, four = (Path(f"out/data/part-000000{n}.jsonl") for n in (0, 2, 3, 4))
    one.write_bytes(one.read_bytes()[:50])
    two.write_bytes(b"")
    shutil.copy(four, three)
    four.write_bytes(bytes([four.read_bytes()[0] ^ 1]) + four.read_bytes()[1:])
    status = run(texts)
    assert outputs("out") == before
    assert (status["state"], status["done"], status["documents"]) == ("finished", 5, 20)
    assert len(events("out", "shard")) == 5 + 4
    assert run(texts, make_worker=NeverReady)["state"] == "finished before"


def test_a_damaged_status_is_written_anew(run):
    texts = make_texts(4)
    run(texts)
    Path("out/status.json").write_bytes(b"{")
    status = run(texts, make_worker=NeverReady)
    assert (status["state"], status["documents"]) == ("finished", 4)
    assert json.loads(Path("out/status.json").read_text()) == status


def test_added_files_are_labeled_into_the_same_folder(run):
    """By a plan beside the first one; what was done stays as it is, and all can be resumed."""
    Path("days").mkdir()
    for day, names in enumerate((["b"], ["b", "d"], ["a", "b", "d"])):
        for name in names:
            if not Path(f"days/{name}.jsonl").exists():
                write_texts(f"days/{name}.jsonl", 6, seed=ord(name))
        before = outputs("out") if day else {}
        status = label_in_bulk(["days"], Job(output="out"), shard_size=4 if not day else None)
        assert (status["done"], status["documents"]) == (2 * (day + 1), 6 * (day + 1))
        assert {name: outputs("out")[name] for name in before} == before
    plans = sorted(path.name for path in Path("out").glob("plan*"))
    assert plans == ["plan-2.jsonl", "plan-3.jsonl", "plan.jsonl"]
    texts = [text for name in "bda" for text in make_texts(6, seed=ord(name))]
    assert [row["text"] for row in read_rows("out")] == texts
    Path("out/data/part-0000003.jsonl").unlink()
    assert label_in_bulk(["days"], Job(output="out"))["done"] == 6
    assert [row["text"] for row in read_rows("out")] == texts


@pytest.mark.slow
@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_tables(run, to):
    rows = "sentence" if to == "parquet" else "argument"
    status = run(make_texts(6), job={"write": WriteOptions(to, rows)})
    assert status["documents"] == 6
    assert [file.suffix for file in sorted(Path("out/data").iterdir())] == [f".{to}"] * 2


@pytest.mark.slow
def test_a_worker_that_never_starts_ends_the_run(run):
    with pytest.raises(ConfigError, match="^5 workers died while loading the model; is there en"):
        run(make_texts(4), make_worker=NeverReady)
    assert json.loads(Path("out/status.json").read_text())["state"] == "failed"


def test_a_damaged_page_sets_its_shard_aside(run):
    """The others are labeled, and the next run tries again."""
    texts = make_texts(12)
    table = pa.table({"id": [str(n) for n in range(12)], "text": texts})
    pq.write_table(table, "in.parquet", row_group_size=2)
    good = Path("in.parquet").read_bytes()
    column = pq.ParquetFile("in.parquet").metadata.row_group(4).column(1)
    start, size = column.dictionary_page_offset, column.total_compressed_size
    Path("in.parquet").write_bytes(good[:start] + b"\xff" * size + good[start + size :])
    for _ in range(2):
        status = label_in_bulk(["in.parquet"], Job(output="out"), shard_size=2, n_workers=1)
        assert (status["state"], status["done"], status["set_aside"]) == ("finished", 5, [4])
        assert status["documents"] == 10
    record = json.loads(Path("out/failed/part-0000004.json").read_text())
    assert (record["kind"], record["rows"][0]["first"]) == ("damaged", 8)
    assert record["error"].startswith("in.parquet, row 9: expected Parquet data, got: ")
    assert [row["document"] for row in read_rows("out")] == list("01234567") + ["10", "11"]


@pytest.mark.slow
def test_a_file_url(run, tmp_path):
    status = run(make_texts(5), f"file://{tmp_path}/there")
    assert status["done"] == len(read_rows(tmp_path / "there")) - 3 == 2


@pytest.mark.slow
def test_an_input_that_changes_ends_the_run(run, tmp_path, monkeypatch):
    texts = make_texts(8)

    def report(status):
        Path("in.jsonl").write_text("{}\n")

    run(texts[:4], "first")
    with pytest.raises(DataError, match="in.jsonl: expected .* bytes as in the plan, got 3;"):
        run(texts, report=report, n_workers=1, make_worker=Slow)


class Slow(FragileWorker):
    """Waits for the file to change."""

    def run(self, task, parts, name):
        while Path("in.jsonl").stat().st_size > 3:
            pass
        return super().run(task, parts, name)


def test_workers_fit_into_the_cores():
    assert count_workers(Job(output="x")) == 2
    assert count_workers(Job(output="x", threads=2)) == 1
    assert count_workers(Job(output="x", threads=8)) == 1


@pytest.mark.parametrize(
    ("n_workers", "share"), [(1, 1.0), (2, 1.0), (3, 0.5), (4, 0.5), (6, 1 / 3)]
)
def test_workers_share_gpus(monkeypatch, n_workers, share):
    monkeypatch.setattr("ray.cluster_resources", lambda: {"CPU": 8.0, "GPU": 2.0})
    job = Job(output="x", device="cuda")
    assert count_workers(job) == 2
    assert worker_resources(job, n_workers) == {"num_cpus": 0, "num_gpus": share}
    assert worker_resources(Job(output="x", threads=3), n_workers) == {"num_cpus": 3}
