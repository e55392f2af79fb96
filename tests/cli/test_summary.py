import pytest

from capsrl.cli import summary
from capsrl.cli.summary import Summary
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.tables.columns import Column, Passed
from capsrl.tables.documents import Document
from capsrl.tables.labeled import Labeled

SENTENCE = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))
STARS = Passed({"stars": Column("stars", "string", "")})


@pytest.fixture
def summarize(capsys):
    """Count, show, and return the lines on stderr."""

    def run(counted, labeled, *, always=True):
        assert list(counted.count(labeled)) == labeled
        counted.show(always=always)
        return capsys.readouterr().err.splitlines()

    return run


def document(id, columns=None, error=None):
    return Document(id, "...", columns or {}, f"a.csv:{id}", error)


def test_documents_are_counted_once(summarize):
    labeled = [
        Labeled(document("1"), SENTENCE, 1),
        Labeled(document("1"), SENTENCE, 2),
        Labeled(document("2")),
        Labeled(document("3"), SENTENCE, 1),
    ]
    assert summarize(Summary("csv", None), labeled) == ["3 documents, 3 sentences, 3 propositions"]
    assert summarize(Summary("csv", None), labeled, always=False) == []


def test_one_document_is_not_worth_counting(summarize):
    found = summarize(Summary("csv", None), [Labeled(document("1"), SENTENCE, 1)])
    assert found == ["1 sentence, 1 proposition"]
    assert summarize(Summary("csv", None), [], always=False) == ["0 sentences, 0 propositions"]


def test_errors_are_shown_where_the_output_has_no_column_for_them(summarize):
    bad = [Labeled(document(str(n), error="no text")) for n in range(12)]
    good = [Labeled(document("x"), SENTENCE, 1)]
    lines = summarize(Summary("conll09", None), bad + good, always=False)
    assert lines[:10] == [f"error: a.csv:{n}: no text" for n in range(10)]
    assert lines[10:] == ["error: 12 documents not labeled"]
    lines = summarize(Summary("csv", None), bad[:1] + good, always=False)
    assert lines == ["error: 1 document not labeled; the column error says why"]


def test_the_place_of_an_error_is_shown_once(summarize):
    bad = [Labeled(document("7", error="a.csv:7: expected 3 cells, got 2"))]
    assert "error: a.csv:7: expected 3 cells, got 2" in summarize(Summary("conll09", None), bad)


def test_chosen_columns_that_no_document_has(summarize):
    labeled = [Labeled(document("1", {"other": 1}), SENTENCE, 1)]
    [line] = summarize(Summary("csv", STARS, are_chosen=True), labeled, always=False)
    assert line == "note: --columns: no document has 'stars'; the column is empty"
    labeled += [Labeled(document("2", {"stars": 5}), SENTENCE, 1)]
    assert summarize(Summary("csv", STARS, are_chosen=True), labeled, always=False) == []


def test_columns_that_were_left_out(summarize):
    labeled = [Labeled(document(str(n), {"stars": 1, "late": 2}), SENTENCE, 1) for n in range(2)]
    [line] = summarize(Summary("csv", STARS), labeled, always=False)
    assert line.startswith("note: left out 'late' of 2 documents, since the first lines")
    streams = Summary("csv", STARS, streams=["a.csv"])
    assert summarize(streams, labeled, always=False) == []


def test_phrases_that_the_format_cannot_hold(summarize):
    argument = Argument("A0", 0, phrase=Phrase(0, 0))
    phrases = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (argument,)),))
    labeled = [Labeled(None, phrases, 1)]
    assert summarize(Summary("conll09", None), labeled)[1].startswith("note: CoNLL-2009 has no ph")
    assert len(summarize(Summary("conllup", None), labeled)) == 1


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
