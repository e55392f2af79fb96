import pytest

from capsrl.cli import summary
from capsrl.cli.summary import Summary
from capsrl.tables.documents import Document
from capsrl.tables.labeled import Labeled


def notes(capsys, ids, format="csv"):
    """What is said of documents with two sentences each."""
    counted = Summary(format, None)
    documents = [Document(id, "", {}, f"a.csv, row {n}") for n, id in enumerate(ids, start=1)]
    assert len(list(counted.count(Labeled(each) for each in documents for _ in "ab"))) == 2 * len(
        ids
    )
    counted.show(always=True)
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize(
    ("ids", "found"),
    [("abc", None), ("aab", "a"), ("abcb", "b"), ("abca", "a"), ("abccdd", None), ("abcda", "a")],
)
def test_ids_that_are_not_unique(capsys, monkeypatch, ids, found):
    """Only the first two ids are remembered here, but any later document may have one of them."""
    monkeypatch.setattr(summary, "_IDS", 2)
    note = f"note: several documents have the id {found!r}, so their rows cannot be told apart; "
    fix = "name a column of unique ids with --id-column"
    assert notes(capsys, ids) == ([note + fix] if found else [])
    assert notes(capsys, ids, "table") == []  # which shows no ids


def test_the_same_ids_in_two_files(capsrl, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,text\n1,We left.\n2,It rained.\n")
    assert "note: several documents have the id '1'" in capsrl("label", "a.csv", "b.csv").err
    assert "note" not in capsrl("label", "a.csv").err
