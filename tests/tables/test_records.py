import csv
import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.tables import records
from capsrl.tables.records import (
    CsvReader,
    InputRecord,
    Lines,
    bad_byte,
    json_records,
    line_records,
)

CELL = st.text(alphabet=st.sampled_from("ab \"',;\t\r\n\x0b\x00é😀\u2028"), max_size=8)


def lines_of(content, codec="utf-8"):
    return Lines(io.BytesIO(content), codec)


def csv_rows(content, wanted=("text",), delimiter=None, **start):
    return list(CsvReader(lines_of(content), wanted, delimiter).records(**start))


def texts(rows):
    return [row.values.get("text") for row in rows]


@given(st.lists(st.tuples(CELL, CELL), max_size=6), st.sampled_from(records.DELIMITERS))
def test_whatever_the_csv_module_writes_is_read(table, delimiter):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
    writer.writerows([("n", "text"), *table])
    rows = csv_rows(file.getvalue().encode())
    assert [(row.values["n"], row.values["text"]) for row in rows] == table
    assert [row.number for row in rows] == list(range(len(table)))
    assert not any(row.fault for row in rows)


@given(st.binary(max_size=60), st.sampled_from([b"text\n", b"id,text\r\n"]))
def test_reading_from_any_row_gives_the_same_rows(content, header):
    content = header + content.replace(b"q", b'"').replace(b"z", b"\n").replace(b"k", b",")
    rows = csv_rows(content)
    for row in rows:
        assert csv_rows(content, first=row.number, offset=row.offset) == rows[row.number :]
        assert csv_rows(content, first=row.number) == rows[row.number :]


QUOTED = st.lists(st.sampled_from(["a", '"', '""', ",", ";", "\n", '"\n', ',"', "\r"]), max_size=30)


def rows_by_definition(content):
    """Cells of CSV records, or None for a bad one, after which the next line begins one."""
    lines = io.StringIO(content, newline="\n").readlines()
    rows, first = [], 0
    while first < len(lines):
        rest = lines[first:]
        taken = iter(rest)
        try:
            cells = next(csv.reader(taken, strict=True))
        except csv.Error:
            cells, taken = None, iter(rest[1:])
        first = len(lines) - len([*taken])
        rows += [] if cells == [] else [cells]
    return rows


@given(QUOTED)
def test_rows_are_those_of_the_definition(parts):
    content = "".join(parts)
    rows = csv_rows(f"a,b\n{content}".encode(), ["a"], ",")
    bad = [row.fault is not None and not row.values for row in rows]
    expected = rows_by_definition(content)
    assert bad == [row is None for row in expected]
    assert [[*row.values.values()] for row in rows] == [(row or [])[:2] for row in expected]


class _Stream(io.BytesIO):
    """A file that cannot go back, as a compressed one."""

    def seekable(self):
        return False


@pytest.mark.parametrize("file", [io.BytesIO, _Stream])
@given(header=QUOTED, parts=QUOTED)
def test_reading_from_any_row_after_any_header(file, header, parts):
    """Also after one with a quote that is not closed, which has been read to the end."""
    content = "".join(["text,", *header, "\n", *parts]).encode()

    def rows(**start):
        return [*CsvReader(Lines(file(content), "utf-8"), ["text"], None).records(**start)]

    whole = rows()
    for row in whole:
        assert rows(first=row.number, offset=row.offset) == whole[row.number :]


def test_lines_of_bad_rows_are_not_read_again_and_again():
    n, n_calls = 200, 0

    def count(frame, event, argument):
        nonlocal n_calls
        n_calls += event == "call" and frame.f_code.co_name == "__next__"

    sys.setprofile(count)
    try:
        rows = csv_rows(b"id,text\n" + b'a","\n' * n)
    finally:
        sys.setprofile(None)
    assert {row.fault.reason for row in rows} == {
        "expected quotes in pairs, got: unexpected end of data"
    }
    assert len(rows) == n and n < n_calls < 6 * n


def test_a_bad_quote_spoils_one_row():
    content = (
        b'id,text\n1,"closed"\n2,"open, he left\n3,"a ""b""\nc"\n4,"d" e\n5,f\n6,"never closed\n'
    )
    rows = csv_rows(content)
    assert texts(rows) == ["closed", None, 'a "b"\nc', None, "f", None]
    assert [row.fault.reason for row in rows if row.fault] == [
        "expected quotes in pairs, got: ',' expected after '\"'",
        "expected quotes in pairs, got: ',' expected after '\"'",
        "expected quotes in pairs, got: unexpected end of data",
    ]


def test_rows_of_another_length():
    short, long, right = csv_rows(b"id,text\n1\n1,2,3\n4,5\n\n")
    assert short.fault.reason == "expected 2 cells as in the header, got 1"
    assert long.fault.reason == "expected 2 cells as in the header, got 3"
    assert (short.values, right.values) == ({"id": "1"}, {"id": "4", "text": "5"})


def test_the_delimiter_is_the_one_that_gives_the_columns():
    for delimiter in ",;\t|":
        header = delimiter.join(["a", "text", "c, d" if delimiter != "," else "c"])
        reader = CsvReader(lines_of(f"{header}\n".encode()), ["text"], None)
        assert (reader.delimiter, reader.names[:2]) == (delimiter, ("a", "text"))
    assert CsvReader(lines_of(b"a;b;c,d"), ["text"], None).names == ("a", "b", "c,d")
    assert CsvReader(lines_of(b"a,text\tb"), ["b"], "\t").names == ("a,text", "b")


def test_the_delimiter_that_excel_names():
    reader = CsvReader(lines_of(b"sep=;\r\na;text\r\n1;x, y\r\n"), ["text"], None)
    assert (reader.names, texts(reader.records())) == (("a", "text"), ["x, y"])


def test_names_of_columns():
    content = "\ufeff\n\r\n,text, a ,a,a,\n".encode()
    names = CsvReader(lines_of(content), ["text"], None).names
    assert names == ("column_1", "text", "a", "a.1", "a.2", "column_6")


@pytest.mark.parametrize("content", [b"", b"\n", b"text\n", b"text", b"id,text\r1,a\r"])
def test_no_rows(content):
    assert csv_rows(content) == []


TOO_LONG = "expected a line of at most 8 bytes, got a longer one; split the text"


def test_long_lines_are_cut(monkeypatch):
    monkeypatch.setattr(records, "MAX_LINE", 8)
    rows = list(line_records(lines_of(b"1234567\n12345678\n123456789abcdefghij\n\nab")))
    assert rows[0] == InputRecord(0, 0, {"text": "1234567"})
    assert rows[1].fault.reason == rows[2].fault.reason == TOO_LONG
    assert rows[3] == InputRecord(4, 38, {"text": "ab"})
    long, short = csv_rows(b"text\n123456789\nab\n")
    assert (long.fault.reason, short.values) == (TOO_LONG, {"text": "ab"})


def test_cells_longer_than_the_csv_module_allows():
    [row] = csv_rows(b'text\n"' + b"x\n" * 100_000 + b'"\n')
    assert len(row.values["text"]) == 200_000


def test_lines_of_text():
    content = b"one\r\n\n  \ntwo\nthree"
    rows = list(line_records(lines_of(content)))
    assert [(row.number, row.values["text"]) for row in rows] == [
        (0, "one"),
        (3, "two"),
        (4, "three"),
    ]
    assert list(line_records(lines_of(content), first=3, offset=rows[1].offset)) == rows[1:]
    assert list(line_records(lines_of(content), first=4)) == rows[2:]


@pytest.mark.parametrize("codec", ["utf-16", "utf-32", "latin-1", "cp1252"])
def test_encodings(codec):
    rows = list(line_records(lines_of("café\nnaïve\n".encode(codec), codec)))
    assert texts(rows) == ["café", "naïve"]


def test_a_file_that_cannot_seek():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    content = b"text\n" + b"0123456789\n" * 20_000
    reader = CsvReader(Lines(io.BufferedReader(Pipe(content)), "utf-8"), ["text"], None)
    assert len(list(reader.records(first=19_990, offset=5 + 11 * 19_990))) == 10


def test_json_lines():
    content = b'{"text": "a", "n": 1}\n\n[1]\nno\n{"text": "\xe9"}\n{"text": NaN}\n' + b"[" * 9999
    rows = list(json_records(lines_of(content), "utf-8"))
    assert rows[0].values == {"text": "a", "n": 1}
    assert [row.number for row in rows] == [0, 2, 3, 4, 5, 6]
    assert rows[1].fault.reason == "expected a JSON object, got '[1]'"
    assert rows[2].fault.reason.startswith("expected a JSON object, got 'no': Expecting value")
    assert rows[3].fault.reason.startswith(
        "expected UTF-8 text, got byte 0xe9; name the encoding, such"
    )
    assert rows[4].fault is None
    assert rows[5].fault.reason.startswith("expected a JSON object, got '[[[[")


def test_bad_bytes():
    def reason(raw, codec):
        return bad_byte(raw.decode(codec, "surrogateescape"), codec).reason

    assert bad_byte("fine 😀", "utf-8") is None
    assert "got byte 0xe9; name the encoding, such as --encoding latin-1" in reason(
        b"\xe9", "utf-8"
    )
    assert "such as --encoding cp1252" in reason(b"\x93hi\x94", "utf-8")
    assert "expected CP1252 text, got byte 0x81" in reason(b"\x81", "cp1252")
