import datetime
import decimal
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsrl.errors import ConfigError
from capsrl.tables.cells import argument_rows, rows_of
from capsrl.tables.columns import (
    ARGUMENT_COLUMNS,
    PROPOSITION_COLUMNS,
    SENTENCE_COLUMNS,
    arrow_schema,
    as_text,
    columns_of,
    find_passed,
)
from capsrl.tables.documents import make_input
from tests.tables.test_cells import SENTENCE

PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def documented(heading):
    """The (name, type) of the rows of the table after a heading of the page."""
    text = PAGE.read_text(encoding="utf-8").partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", text, re.MULTILINE)
    return [(name, type) for names, type in rows for name in re.findall(r"`(\w+)`", names)]


def test_the_page_says_what_the_columns_are():
    columns = [(column.name, column.type) for column in ARGUMENT_COLUMNS]
    assert documented("One row per argument") == columns


def test_the_page_says_what_the_columns_of_propositions_and_sentences_are():
    known = {column.name for column in ARGUMENT_COLUMNS}
    own = [column.name for column in SENTENCE_COLUMNS if column.name not in known]
    assert [name for name, _ in documented("One row per sentence")] == own
    own = [(each.name, each.type) for each in PROPOSITION_COLUMNS[6:-1]]
    assert documented("One row per proposition") == own


def test_rows_fit_the_schema():
    rows = argument_rows(SENTENCE, document="d", number=1)
    table = pa.Table.from_pylist(rows, arrow_schema())
    assert table.to_pylist() == rows
    row = rows_of("sentence", SENTENCE, document="d", number=1)[0]
    assert pa.Table.from_pylist([row], arrow_schema("sentence")).to_pylist() == [row]


def test_arrow_types():
    schema = arrow_schema()
    assert schema.field("document").type == pa.string()
    assert schema.field("sentence").type == pa.int32()
    assert schema.field("head_start").type == pa.int64()
    assert schema.field("sense_probability").type == pa.float64()
    assert schema.field("guessed").type == pa.bool_()
    assert schema.field("frames").type == pa.list_(pa.string())
    nested = arrow_schema("sentence").field("propositions").type.value_type
    assert nested.field("arguments").type.value_type.field("role").type == pa.string()


@pytest.fixture
def files(tmp_path):
    (tmp_path / "a.csv").write_text("id,text,stars,sense\n1,Go.,5,x\n")
    (tmp_path / "b.jsonl").write_text('{"text": "Go.", "stars": 5, "meta": {"é": [1]}}\n')
    table = pa.table({"text": ["Go."], "stars": [5], "day": [datetime.date(2024, 5, 1)]})
    pq.write_table(table, tmp_path / "c.parquet")
    return [make_input(tmp_path / name) for name in ("a.csv", "b.jsonl", "c.parquet")]


def test_passed_columns(files):
    passed = find_passed(files)
    assert {name: (each.name, each.type) for name, each in passed.columns.items()} == {
        "stars": ("stars", "string"),  # the files do not agree
        "sense": ("input_sense", "string"),  # the table has a column of that name
        "meta": ("meta", "string"),
        "day": ("day", pa.date32()),
    }
    assert find_passed(files[2:]).columns["stars"].type == pa.int64()
    assert passed.values({"stars": 5, "meta": {"é": [1]}, "other": 1}) == {
        "stars": "5",
        "input_sense": None,
        "meta": '{"é": [1]}',
        "day": None,
    }
    assert passed.missed(["stars", "other"]) == ["other"]
    names = [column.name for column in columns_of("argument", passed)]
    assert names[-4:] == ["stars", "input_sense", "meta", "day"]
    assert len(set(names)) == len(names)


def test_chosen_columns(files):
    passed = find_passed(files, ["meta", "new"])
    assert [each.name for each in passed.columns.values()] == ["meta", "new"]
    assert passed.values({"meta": "x", "stars": 1}) == {"meta": "x", "new": None}


def test_chosen_columns_that_no_file_has(tmp_path):
    (tmp_path / "a.csv").write_text("text,x\nGo.,1\n")
    (tmp_path / "b.csv").write_text("text,y\nGo.,1\n")
    inputs = [make_input(str(tmp_path / name)) for name in ("a.csv", "b.csv")]
    assert list(find_passed(inputs, ["y"]).columns) == ["y"]
    with pytest.raises(ConfigError, match=r"besides text and id \('x', 'y'\), got 'z', 'text'$"):
        find_passed(inputs, iter(["x", "z", "text"]))
    assert list(find_passed(inputs, ["z"], are_all=False).columns) == ["z"]


def test_values_as_text():
    day = datetime.date(2024, 5, 1)
    values = [None, "a", 1.5, True, [1, None, day], day, decimal.Decimal("1.50")]
    texts = [None, "a", "1.5", "true", '[1, null, "2024-05-01"]', "2024-05-01", "1.50"]
    assert list(map(as_text, values)) == texts


def test_names_of_passed_columns_differ(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,sense,input_sense\na,1,2\n")
    columns = find_passed([make_input(path)]).columns
    assert {name: column.name for name, column in columns.items()} == {
        "sense": "input_input_sense",
        "input_sense": "input_sense",
    }
