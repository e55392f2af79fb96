"""Reading the rows of shards: together they must have every document once."""

import fsspec
import pyarrow as pa
import pyarrow.parquet
import pytest

from capsrl.bulk.rows import RowReader
from capsrl.bulk.scan import stat
from capsrl.errors import DataError
from capsrl.tables.documents import Input
from tests.helpers.bulk_plans import LINES, TEXTS, make_plan, write_gz


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
    reader = RowReader(lambda path: Input(path))
    found = {shard: list(reader.read(plan.pieces(shard))) for shard in shards}
    expected = [document for path in files for document in Input(str(path)).documents()]
    assert [document for shard in sorted(found) for document in found[shard]] == expected
    assert len(expected) == 4 * len(TEXTS) + 1
    assert all(len(documents) <= size for documents in found.values())


def test_the_next_shard_goes_on_in_the_open_file(tmp_path):
    write_gz(tmp_path / "a.jsonl.gz")
    plan = make_plan([tmp_path / "a.jsonl.gz"], 5)
    opened = []

    def make_input(path):
        opened.append(path)
        return Input(path)

    reader = RowReader(make_input)
    for shard in range(plan.n_shards):
        list(reader.read(plan.pieces(shard)))
    assert len(opened) == 1
    list(reader.read(plan.pieces(1)))
    next(reader.read(plan.pieces(2)))  # left in the middle: the place in the file is lost
    list(reader.read(plan.pieces(3)))
    assert len(opened) == 3


def test_an_input_that_has_grown_is_noticed(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(LINES)
    plan = make_plan([file], 5)
    file.write_text(LINES + LINES)
    with pytest.raises(
        DataError, match=r"a.jsonl: expected 831 bytes as in the plan, got 1,662; the"
    ):
        list(RowReader(lambda path: Input(path)).read(plan.pieces(0)))


def test_inputs_of_an_object_store(tmp_path):
    fs = fsspec.filesystem("memory")
    fs.pipe("/in/a.jsonl", LINES.encode())
    try:
        plan = make_plan(["memory://in/a.jsonl"], 10)
        size, stamp = stat("memory://in/a.jsonl")
        assert (plan.n_shards, plan.sources[0].size, plan.sources[0].stamp) == (3, size, stamp)
        assert size == len(LINES)
        reader = RowReader(lambda path: Input(path))
        found = [
            document.text for shard in (2, 0, 1) for document in reader.read(plan.pieces(shard))
        ]
        assert sorted(found) == sorted(TEXTS)
        with pytest.raises(DataError, match="memory://in/none.jsonl: cannot be read"):
            stat("memory://in/none.jsonl")
    finally:
        fs.rm("/in", recursive=True)
