"""Write rows of tables as CSV, TSV, JSON lines and Parquet, some of them at a time."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

from capsrl.tables.cells import Cells
from capsrl.tables.columns import Column, as_text
from capsrl.tables.parquet import pyarrow
from capsrl.tables.records import without_surrogates

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = ("csv", "tsv", "parquet")  # formats of tables; JSON lines are one too
ROW_GROUP = 4 << 20  # bytes that are held until they are written as a row group of a Parquet file
BATCH = 1_000  # rows that are converted to Arrow at a time


def csv_parts(
    rows: Iterable[Cells], columns: Sequence[Column], *, delimiter: str = ","
) -> Iterator[str]:
    """Yield the header and the rows of a CSV file, as in RFC 4180, with newlines at line ends.

    Null is an empty cell; lists and nested tables are JSON.
    """
    record = _Record()
    # The csv module quotes cells with \r only if that is part of the line end.
    writer = csv.writer(record, delimiter=delimiter, lineterminator="\r\n")
    names = [column.name for column in columns]
    writer.writerow(names)
    yield record.text()
    for row in rows:
        writer.writerow([_csv_cell(row[name]) for name in names])
        yield record.text()


def write_parquet(rows: Iterable[Cells], file: IO[bytes], schema: "pa.Schema") -> None:
    """Write a Parquet file in row groups; it is complete when this returns."""
    pa = pyarrow("parquet")
    with pa.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        waiting: list[Any] = []  # batches of a row group: Arrow needs less memory than dicts
        for some in _batches(rows):
            waiting.append(pa.RecordBatch.from_pylist(some, schema))
            if sum(batch.nbytes for batch in waiting) >= ROW_GROUP:
                writer.write_table(pa.Table.from_batches(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))


def _batches(rows: Iterable[Cells]) -> Iterator[list[Cells]]:
    items = iter(rows)
    while some := list(islice(items, BATCH)):
        yield some


class _Record:
    """A file that keeps the last record that `csv.writer` wrote."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, record: str) -> None:
        self._last = record

    def text(self) -> str:
        return self._last.removesuffix("\r\n") + "\n"


def _csv_cell(value: object) -> object:
    if isinstance(value, str):
        return without_surrogates(value)
    return value if isinstance(value, bool | int | float) else as_text(value)
