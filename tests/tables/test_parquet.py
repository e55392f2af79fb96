import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsrl.errors import CapsrlError, DataError
from capsrl.tables import parquet as parquet_module
from capsrl.tables.documents import make_input
from capsrl.tables.parquet import DamagedError, open_parquet, parquet_records


@pytest.fixture
def file(tmp_path):
    """23 rows in row groups of 5, and 3 of them decoded at a time."""
    table = pa.table({"n": list(range(23)), "text": [f"Text {n}." for n in range(23)]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=5)
    return tmp_path / "a.parquet"


@pytest.mark.parametrize("first", [0, 1, 4, 5, 7, 20, 22, 23, 30])
def test_rows_from_any_number_on(file, first, monkeypatch):
    monkeypatch.setattr(parquet_module, "_BATCH", 3)
    with file.open("rb") as stream:
        rows = list(parquet_records(open_parquet(stream, "a.parquet"), "a.parquet", first=first))
    assert [row.number for row in rows] == list(range(first, 23))
    assert [row.values for row in rows] == [
        {"n": n, "text": f"Text {n}."} for n in range(first, 23)
    ]


def test_a_file_without_rows(tmp_path):
    pq.write_table(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    with (tmp_path / "a.parquet").open("rb") as stream:
        assert list(parquet_records(open_parquet(stream, "a.parquet"), "a.parquet")) == []


def test_other_files_are_refused():
    with pytest.raises(DataError, match=r"^a.parquet: expected a Parquet file, got: .*[^\n]$"):
        open_parquet(io.BytesIO(b"id,text\n1,Dogs bark.\n"), "a.parquet")


def damage(file, group):
    """Damage the pages of the column text in one row group."""
    column = pq.ParquetFile(file).metadata.row_group(group).column(1)
    content = bytearray(file.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    file.write_bytes(content)


@pytest.mark.parametrize("first", [0, 3, 9, 10, 12])
def test_the_record_at_which_a_file_is_damaged(file, first):
    """All before it are read, though they are in the same batch; those after it from there on."""
    damage(file, 2)
    with file.open("rb") as stream:
        records = parquet_records(open_parquet(stream, "a.parquet"), "a.parquet", first=first)
        found = []
        with pytest.raises(DamagedError, match=f"^a.parquet, row {max(first, 10) + 1}: expected P"):
            found += (record.number for record in records)
        assert found == list(range(first, 10))
    with file.open("rb") as stream:
        records = parquet_records(open_parquet(stream, "a.parquet"), "a.parquet", first=15)
        assert [record.number for record in records] == list(range(15, 23))


def test_a_cell_that_is_not_utf8_is_a_fault_of_its_row(tmp_path):
    good = [f"Sentence {number}." for number in range(300)]
    cells = [text.encode() for text in good]
    cells[270] = b"caf\xe9"
    text = pa.array(cells, pa.binary()).view(pa.string())
    pq.write_table(pa.table({"text": text}), tmp_path / "a.parquet")
    documents = [*make_input(tmp_path / "a.parquet").documents()]
    assert [each.text for each in documents] == good[:270] + [None] + good[271:]
    assert documents[270].error.startswith("expected UTF-8 text, got: 'utf-8' codec can't decode")
    assert documents[270].fault.kind == "encoding"


def test_flips_in_the_metadata(tmp_path):
    """The parts have as many rows as the file, if it can be read."""
    table = pa.table({"text": [f"Sentence {number}." for number in range(7)]})
    file = tmp_path / "a.parquet"
    pq.write_table(table, file, row_group_size=3, store_schema=False)
    good = file.read_bytes()
    n_read = 0
    for place in range(len(good) - int.from_bytes(good[-8:-4], "little") - 8, len(good)):
        for bit in (1, 4):
            changed = bytearray(good)
            changed[place] ^= bit
            file.write_bytes(changed)
            given = make_input(file)
            try:
                n = len([*given.documents()])
            except CapsrlError:
                continue
            assert sum(part.count for part in given.parts(2)) == n
            n_read += 1
    assert n_read > 50
