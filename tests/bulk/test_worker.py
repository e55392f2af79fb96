"""One worker in this process: what it writes, in which formats, and where."""

import bz2
import csv
import gzip
import json
import random

import fsspec
import pyarrow as pa
import pyarrow.parquet
import pytest
import zstandard

from capsrl.bulk.job import Job
from capsrl.bulk.monitor import Monitor, read_status
from capsrl.bulk.plan import Plan, scan, stat
from capsrl.bulk.storage import Folder
from capsrl.bulk.tasks import Task
from capsrl.bulk.worker import PartReader, Worker
from capsrl.errors import ConfigError, DataError, ModelError
from capsrl.tables.columns import arrow_schema, find_passed
from capsrl.tables.documents import make_input
from capsrl.tables.pipeline import Totals
from capsrl.tables.reading import ReadOptions
from capsrl.tables.writing import WriteOptions
from tests.helpers.bulk_plans import LINES, TEXTS, make_plan, write_gz

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


def make_job(tmp_path, output=None, columns=None, to="jsonl", rows="sentence"):
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    read = ReadOptions(max_characters=200)
    write = WriteOptions(to, rows, find_passed([make_input(file, read)], columns))
    job = Job(output=output or str(tmp_path / "out"), read=read, write=write)
    return job, Plan(job.settings(), 10, [scan(job.make_input(str(file)), 10)])


def label(job, plan, model, task=None):
    return Worker(job, model).run(task or Task(0), plan.parts(0), plan.name(0))


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
    assert table.schema.equals(arrow_schema("sentence", job.write.passed))
    assert table["document"].to_pylist() == ["a", "a", "b", "c", "d", "e"]


def test_bad_rows_and_trials(tmp_path, model):
    job, plan = make_job(tmp_path)
    trial = label(job, plan, model, Task(0, first=1, stop=4))
    assert trial.counts == Totals()
    assert not (tmp_path / "out").exists()
    result = label(job, plan, model, Task(0, ((3, "this text is bad"),)))
    assert result.counts.errors == {"no text": 1, "too long": 1, "failed": 1}
    rows = [json.loads(line) for line in (tmp_path / "out" / plan.name(0)).read_text().splitlines()]
    assert rows[4]["error"] == "this text is bad" and rows[4]["words"] == []


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
    with pytest.raises(ModelError, match="^en: the model or the frames on .* are not those of the"):
        Worker(job, "another")


def test_an_object_store(tmp_path, model):
    """Worker, monitor and log without a disk."""
    job, plan = make_job(tmp_path, output="memory://bulk/out")
    folder = Folder(job.output)
    try:
        plan.write(folder)
        result = label(job, plan, model)
        # Killed before the driver knows: the output is there, but not in the log.
        assert plan.output_sizes(folder).tolist() == [result.size] and result.size > 0
        shown = []
        monitor = Monitor(plan, folder, shown.append)
        assert list(monitor.todo()) == [0]
        monitor.finish(Task(0), result)
        status = monitor.end("finished")
        assert status == shown[-1] == read_status(folder)
        assert {name: status[name] for name in EXPECTED} == EXPECTED
        # Next time its counts are in the log.
        again = Monitor(plan, folder, shown.append).end("finished")
        assert again["sentences"] == result.counts.sentences
        with folder.open(plan.name(0)) as file:
            local, _ = make_job(tmp_path)
            label(local, plan, model)
            assert file.read() == (tmp_path / "out" / plan.name(0)).read_bytes()
    finally:
        fsspec.filesystem("memory").rm("/bulk", recursive=True)


def write_csv(file):
    # A line break inside quotes, and a blank line.
    lines = ["id,text", *(f'{n},"{text}"' for n, text in enumerate(TEXTS))]
    lines[5] = '4,"Two\nlines."'
    lines.insert(9, "")
    file.write_text("\n".join(lines) + "\n")


def write_jsonl(file):
    file.write_text(LINES[:300] + LINES[300:].replace("\n", "\n\n", 3))  # and blank lines


def write_parquet(file):
    table = pa.table({"id": [str(n) for n in range(len(TEXTS))], "text": TEXTS})
    pyarrow.parquet.write_table(table, file, row_group_size=4)


WRITERS = {
    "a.csv": write_csv,
    "a.jsonl": write_jsonl,
    "a.jsonl.gz": write_gz,
    "a.parquet": write_parquet,
    "a.txt": lambda file: file.write_text("One text.\n"),
    "empty.jsonl": lambda file: file.write_text(""),
}


@pytest.fixture
def files(tmp_path):
    for name, write in WRITERS.items():
        write(tmp_path / name)
    return [tmp_path / name for name in WRITERS]


@pytest.mark.parametrize("size", [1, 4, 7, 1000])
@pytest.mark.parametrize("order", ["forward", "backward", "every other"])
def test_shards_have_every_document_once(files, size, order):
    plan = make_plan(files, size)
    shards = list(range(plan.n_shards))
    shards = {
        "forward": shards,
        "backward": shards[::-1],
        "every other": shards[::2] + shards[1::2],
    }[order]
    reader = PartReader(make_input)
    found = {shard: list(reader.read(plan.parts(shard))) for shard in shards}
    expected = [document for path in files for document in make_input(path).documents()]
    assert [document for shard in sorted(found) for document in found[shard]] == expected
    assert len(expected) == 4 * len(TEXTS) + 1
    assert all(len(documents) <= size for documents in found.values())


PIECES = (
    b'"',
    b'"',
    b"\n",
    b"\r",
    b",",
    b'""',
    b"\n\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b"{}\n",
    b"\t",
)
UNPACKED = {"csv": write_csv, "tsv": write_csv, "jsonl": write_jsonl, "txt": write_csv}
PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard.compress}


def mutated(content, chooser):
    """The content with some bytes removed or put in, or a quote in the header not closed."""
    if chooser.random() < 0.3:
        content = content.replace(b"text", b'text,"size', 1)
    for _ in range(chooser.choice((1, 1, 2, 5, 20))):
        at = chooser.randrange(chooser.choice((12, len(content), len(content))))
        end = at + chooser.choice((0, 0, 1, 3, 30))
        content = content[:at] + chooser.choice((*PIECES, b"")) + content[end:]
    return content


@pytest.mark.parametrize("compression", PACKED)
@pytest.mark.parametrize("suffix", UNPACKED)
def test_shards_of_damaged_files_have_every_document_once(tmp_path, suffix, compression):
    """Any file that is read at all is read by parts as it is read as a whole."""
    chooser, n_read = random.Random(f"{suffix}{compression}"), 0
    read = ReadOptions(format="lines" if suffix == "txt" else None)
    file = tmp_path / f"a.{suffix}{compression}"
    UNPACKED[suffix](tmp_path / "good")
    good = (tmp_path / "good").read_bytes()
    for _ in range(60):
        content = mutated(good, chooser).replace(b",", b"\t" if suffix == "tsv" else b",")
        file.write_bytes(PACKED[compression](content))
        given = make_input(file, read)
        try:
            expected = [*given.documents()]
        except (ConfigError, DataError):  # of the header
            continue
        size = chooser.choice((1, 2, 5))
        plan = Plan({"to": "jsonl"}, size, [scan(given, size)])
        shards = chooser.sample(range(plan.n_shards), plan.n_shards)
        reader = PartReader(lambda path: make_input(path, read))
        found = {shard: [*reader.read(plan.parts(shard))] for shard in shards}
        documents = [document for shard in sorted(found) for document in found[shard]]
        assert documents == expected
        assert [each.number for each in documents] == [each.number for each in expected]
        n_read += 1
    assert n_read > 15


@pytest.mark.parametrize(
    ("row", "by", "shards", "message"),
    [
        (21, b" ", [4], "expected 3 rows from row 21 on as in the plan, got 2"),
        (7, b"\n", [0, 1], "expected 5 rows from row 6 on as in the plan, got 4"),
        (5, b"\n", [1], "expected 5 rows from row 6 on as in the plan, got row 7"),
        (7, b" ", [1, 2], "expected 5 rows from row 11 on as in the plan, got row 11"),
    ],
)
def test_rows_that_are_not_those_of_the_plan_are_refused(tmp_path, row, by, shards, message):
    """A line is joined with the next, or emptied, in a file that keeps its size."""
    file = tmp_path / "a.jsonl"
    file.write_text(LINES)
    plan = make_plan([file], 5)
    lines = LINES.encode().splitlines(keepends=True)
    line = lines[row]
    lines[row] = line[:-1] + b" " if by == b" " else b" " * (len(line) - 1) + b"\n"
    file.write_bytes(b"".join(lines))
    reader = PartReader(make_input)
    for shard in shards[:-1]:
        assert len([*reader.read(plan.parts(shard))]) == 5
    with pytest.raises(DataError, match=f"a.jsonl: {message}; has the file changed since the run"):
        [*reader.read(plan.parts(shards[-1]))]


def test_the_next_shard_goes_on_in_the_open_file(tmp_path):
    write_gz(tmp_path / "a.jsonl.gz")
    plan = make_plan([tmp_path / "a.jsonl.gz"], 5)
    opened = []

    def make(path):
        opened.append(path)
        return make_input(path)

    reader = PartReader(make)
    for shard in range(plan.n_shards):
        list(reader.read(plan.parts(shard)))
    assert len(opened) == 1
    list(reader.read(plan.parts(1)))
    next(reader.read(plan.parts(2)))  # left in the middle: the place in the file is lost
    list(reader.read(plan.parts(3)))
    assert len(opened) == 3


def test_an_input_that_has_grown_is_noticed(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(LINES)
    plan = make_plan([file], 5)
    file.write_text(LINES + LINES)
    with pytest.raises(
        DataError, match=r"a.jsonl: expected 831 bytes as in the plan, got 1,662; the"
    ):
        list(PartReader(make_input).read(plan.parts(0)))


def test_inputs_of_an_object_store(tmp_path):
    fs = fsspec.filesystem("memory")
    fs.pipe("/in/a.jsonl", LINES.encode())
    try:
        plan = make_plan(["memory://in/a.jsonl"], 10)
        size, stamp = stat("memory://in/a.jsonl")
        assert (plan.n_shards, plan.inputs[0].size, plan.inputs[0].stamp) == (3, size, stamp)
        assert size == len(LINES)
        reader = PartReader(make_input)
        found = [
            document.text for shard in (2, 0, 1) for document in reader.read(plan.parts(shard))
        ]
        assert sorted(found) == sorted(TEXTS)
        with pytest.raises(DataError, match="memory://in/none.jsonl: no such file"):
            stat("memory://in/none.jsonl")
    finally:
        fs.rm("/in", recursive=True)
