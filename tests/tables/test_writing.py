import csv
import io
import json
from dataclasses import replace

import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from capsrl.formats.jsonl import json_schema
from capsrl.tables import writing
from capsrl.tables.cells import argument_rows, rows_of
from capsrl.tables.columns import ARGUMENT_COLUMNS, SENTENCE_COLUMNS, Column, Passed, arrow_schema
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.reading import Document
from capsrl.tables.records import Fault
from capsrl.tables.writing import WriteOptions, csv_parts, json_lines, table_rows, write_parquet
from tests.tables.test_cells import SENTENCE

PASSED = Passed({"stars": Column("stars", "string", "")})
BAD = Fault("bad row", "bad")
COLUMNS = (Column("a", "string", ""), Column("b", "string", ""))
CELL = st.text(alphabet=st.sampled_from("ab \"',;\t\r\n=é😀\u2028\x00"), max_size=8)


def written(table, delimiter=","):
    rows = [dict(zip("ab", cells, strict=True)) for cells in table]
    return "".join(csv_parts(rows, COLUMNS, delimiter=delimiter))


@given(st.lists(st.tuples(CELL, CELL), max_size=5), st.sampled_from(",\t"))
def test_csv_is_read_back_by_the_csv_module(table, delimiter):
    text = written(table, delimiter)
    found = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    assert found == [["a", "b"], *map(list, table)]


def test_csv_is_read_back_by_others():
    table = [('say "hi"', "a,b;c\td"), ("two\nlines\r\nthree\rfour", "é😀\u2028"), ("=1+1", " x ")]
    text = written(table)
    assert [tuple(row) for row in pandas.read_csv(io.StringIO(text)).to_numpy()] == table
    assert polars.read_csv(text.encode()).rows() == table
    assert text.count("\n") == 6 and "\r\n\r" not in text


def test_one_part_per_row():
    assert list(csv_parts([{"a": "x\ny", "b": None}] * 2, COLUMNS)) == ["a,b\n", *['"x\ny",\n'] * 2]


def test_cells_that_are_not_strings():
    rows = [{"a": 0.1, "b": True}, {"a": ["x", "ü"], "b": {"n": None}}, {"a": "\ud800", "b": 3}]
    assert list(csv_parts(rows, COLUMNS))[1:] == [
        "0.1,True\n",
        '"[""x"", ""ü""]","{""n"": null}"\n',
        "\ufffd,3\n",
    ]


def test_nested_tables_in_csv_are_json():
    text = "".join(csv_parts([rows_of("sentence", SENTENCE)[0]], SENTENCE_COLUMNS))
    [row] = csv.DictReader(io.StringIO(text))
    assert json.loads(row["propositions"]) == rows_of("sentence", SENTENCE)[0]["propositions"]


def test_a_csv_of_propositions_in_pandas():
    rows = argument_rows(SENTENCE, document="d", number=1)
    frame = pandas.read_csv(io.StringIO("".join(csv_parts(rows, ARGUMENT_COLUMNS))))
    assert list(frame.columns) == [column.name for column in ARGUMENT_COLUMNS]
    assert frame["argument_probability"].tolist() == [0.9, 0.8]
    assert frame["phrase"].tolist() == ["Mira", "her bicycle"]


@pytest.mark.parametrize("n", [0, 1, 5, 6])
@pytest.mark.parametrize("text", ["short", "long " * 1000])
def test_parquet_is_written_in_row_groups(tmp_path, monkeypatch, n, text):
    """Their size is counted in bytes, since that is what is held in memory."""
    monkeypatch.setattr(writing, "ROW_GROUP", 2000)
    monkeypatch.setattr(writing, "BATCH", 1)
    row = argument_rows(SENTENCE)[0] | {"text": text}
    rows = [row | {"sentence": i} for i in range(n)]
    with open(tmp_path / "a.parquet", "wb") as file:
        write_parquet(iter(rows), file, arrow_schema())
    found = pq.ParquetFile(tmp_path / "a.parquet")
    assert found.schema_arrow == arrow_schema()
    in_group = -(-2000 // pa.RecordBatch.from_pylist([row], arrow_schema()).nbytes)
    assert (in_group == 1) == (text != "short")
    assert found.num_row_groups == -(-n // in_group)
    assert found.read().to_pylist() == rows


def test_nested_parquet(tmp_path):
    with open(tmp_path / "a.parquet", "wb") as file:
        write_parquet([rows_of("sentence", SENTENCE)[0]], file, arrow_schema("sentence"))
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == [rows_of("sentence", SENTENCE)[0]]


def test_rows_have_the_other_columns_and_the_error():
    document = Document("r7", "...", {"stars": 5})
    labeled = DocumentSentence(document, SENTENCE, 1)
    rows = table_rows([labeled], WriteOptions("csv", "argument", PASSED))
    assert [(row["document"], row["role"], row["stars"], row["error"]) for row in rows] == [
        ("r7", "A0", "5", None),
        ("r7", "A1", "5", None),
    ]
    [row] = table_rows([labeled], WriteOptions("csv", "sentence", PASSED))
    assert (row["document"], len(row["propositions"]), row["stars"]) == ("r7", 1, "5")
    for rows in ("argument", "sentence"):
        bad = DocumentSentence(Document("x", None, {}, "", BAD))
        [row] = table_rows([bad], WriteOptions("csv", rows, PASSED))
        assert {name: value for name, value in row.items() if value is not None} == {
            "document": "x",
            "error": "bad",
        }
    [row] = table_rows(
        [DocumentSentence(None), DocumentSentence(None, SENTENCE, 1)], WriteOptions()
    )
    assert row["document"] is None


def test_lines_of_json():
    bare = SENTENCE.to_dict()
    for document, expected in [
        (None, bare),
        (Document("notes.txt", None), bare),  # a text file, whose name is in the ids
        (Document("r7", "..."), {"document": "r7", **bare}),
        (Document("r7", "...", {"n": 1}), {"document": "r7", "fields": {"n": 1}, **bare}),
    ]:
        [line] = json_lines([DocumentSentence(document, SENTENCE, 1)])
        assert list(json.loads(line).items()) == list(expected.items())


def test_chosen_columns_of_json():
    labeled = DocumentSentence(Document("r7", "...", {"n": 1, "stars": 5}), SENTENCE, 1)
    for passed, expected in [
        (PASSED, {"n": 1, "stars": 5}),
        (replace(PASSED, are_chosen=True), {"stars": 5}),
        (Passed({}, are_chosen=True), None),
    ]:
        [line] = json_lines([labeled], passed)
        assert json.loads(line).get("fields") == expected


def test_lines_of_json_without_a_sentence():
    documents = [Document("a", ""), Document("b", None, {}, "", BAD), Document("c.txt", None)]
    lines = list(
        map(json.loads, json_lines([DocumentSentence(None), *map(DocumentSentence, documents)]))
    )
    assert lines == [
        {"document": "a", "words": []},
        {"document": "b", "error": "bad", "words": []},
    ]
    for line in lines:
        Draft202012Validator(json_schema()).validate(line)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.sampled_from(",\t"))
def test_no_cell_begins_a_formula(text, delimiter):
    """Escaped, that is: with the apostrophe by which spreadsheets know text."""
    columns = [Column(name, "string", "") for name in ("text", "=cmd|' /C calc'!A0")]
    rows = [{each.name: value for each, value in zip(columns, (text, -5), strict=True)}]
    for escape in (True, False):
        parts = csv_parts(rows, columns, delimiter=delimiter, escape=escape)
        read = csv.reader(io.StringIO("".join(parts), newline=""), delimiter=delimiter)
        header, [cell, number] = read
        assert header == ["text", "'" * escape + columns[1].name]
        assert cell == "'" * (escape and text[:1] in set("=+-@\t\r\n")) + text
        assert number == "-5"  # a number is one
