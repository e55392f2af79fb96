"""Write labeled documents as CSV, TSV, JSON lines and Parquet, some rows at a time."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from capsrl.formats.jsonl import format_object, sentence_to_dict
from capsrl.sentence import Sentence
from capsrl.tables.cells import Cells, rows_of
from capsrl.tables.columns import NOTHING, Column, Passed, as_text, columns_of
from capsrl.tables.parquet import pyarrow
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.records import without_surrogates

if TYPE_CHECKING:
    import pyarrow as pa

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")  # how cells begin that spreadsheets may run
TABLES = ("csv", "tsv", "parquet")  # formats of tables; JSON lines are one too
ROW_GROUP = 4 << 20  # bytes that are held until they are written as a row group of a Parquet file
BATCH = 1_000  # rows that are converted to Arrow at a time


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """How documents are written.

    format  jsonl, or one of TABLES
    rows    what a row is: an argument, a proposition or a sentence
    passed  the other columns of the documents that tables have, and JSON lines if they were chosen
    escape  put an apostrophe before cells of CSV and TSV that a spreadsheet would take for formulas
    """

    format: str = "jsonl"
    rows: str = "sentence"
    passed: Passed = NOTHING
    escape: bool = False


def text_parts(labeled: Iterable[DocumentSentence], options: WriteOptions) -> Iterator[str]:
    """The text of a file in any format but Parquet."""
    if options.format != "jsonl":
        delimiter = "\t" if options.format == "tsv" else ","
        columns = columns_of(options.rows, options.passed)
        rows = table_rows(labeled, options)
        return csv_parts(rows, columns, delimiter=delimiter, escape=options.escape)
    if options.rows != "sentence":
        return map(format_object, table_rows(labeled, options))
    return json_lines(labeled, options.passed)


def table_rows(labeled: Iterable[DocumentSentence], options: WriteOptions) -> Iterator[Cells]:
    """The rows of a table: one per argument, proposition or sentence.

    A document without sentences has one row, text without a name that has none has no row.
    """
    for each in labeled:
        document, sentence, number = each.document, each.sentence, each.number
        if document is None and sentence is None:
            continue
        id = document and document.id
        rows = rows_of(options.rows, sentence, document=id, number=number)
        extra = options.passed.values(document.columns if document else {})
        yield from (row | extra | {"error": each.error} for row in rows)


def json_lines(
    labeled: Iterable[DocumentSentence],
    passed: Passed = NOTHING,
    to_dict: Callable[[Sentence], dict[str, Any]] = sentence_to_dict,
) -> Iterator[str]:
    """One line per sentence; those of tables have the id and the other columns of the document.

    passed   the columns to keep, if some were chosen; default: all
    to_dict  makes the object of a sentence
    """
    for each in labeled:
        document, sentence = each.document, each.sentence
        if document is None or (document.text is None and document.error is None):
            if sentence is not None:
                yield format_object(to_dict(sentence))
            continue
        data: dict[str, object] = {"document": document.id}
        if fields := passed.fields(document.columns):
            data["fields"] = fields
        if document.error is not None:
            data["error"] = document.error
        empty = to_dict(Sentence(())) if to_dict is not sentence_to_dict else {"words": []}
        yield format_object(data | (empty if sentence is None else to_dict(sentence)))


def csv_parts(
    rows: Iterable[Cells],
    columns: Sequence[Column],
    *,
    delimiter: str = ",",
    escape: bool = False,
) -> Iterator[str]:
    """Yield the header and the rows of a CSV file, as in RFC 4180, with newlines at line ends.

    Null is an empty cell; lists and nested tables are JSON. `escape` is that of WriteOptions.
    """
    record = _Record()
    # The csv module quotes cells with \r only if that is part of the line end.
    writer = csv.writer(record, delimiter=delimiter, lineterminator="\r\n")
    names = [column.name for column in columns]
    for cells in chain([names], ([row[name] for name in names] for row in rows)):
        values = map(_csv_cell, cells)
        writer.writerow(map(_escaped, values) if escape else values)
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


def _escaped(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
