"""What `capsrl label` writes and summarizes, and options that do not fit a format."""

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capsrl.cli import outputs
from capsrl.cli.outputs import Summary
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.tables.cells import argument_rows
from capsrl.tables.columns import ARGUMENT_COLUMNS, Column, Passed, arrow_schema
from capsrl.tables.pipeline import DocumentSentence
from capsrl.tables.reading import Document
from capsrl.tables.records import Fault

TEXT = "Hi. Mira sold her bicycle, and Tom ran."
CSV = 'id,stars,text\nr1,5,"Mira sold\nher bicycle. Hi."\nr2,1,\nr3,2,Dogs bark.\nr4,3\n'


@pytest.fixture
def label(capsrl):
    return lambda *arguments, **others: capsrl("label", *arguments, **others)


@pytest.fixture
def reviews(tmp_path):
    (tmp_path / "r.csv").write_text(CSV)
    return "r.csv"


def expected_rows(labeler):
    documents = {("r1", "5"): "Mira sold\nher bicycle. Hi.", ("r3", "2"): "Dogs bark."}
    rows = []
    for (id, stars), sentences in labeler.label_many(documents.items(), as_tuples=True):
        for number, sentence in enumerate(sentences, start=1):
            found = argument_rows(sentence, document=id, number=number)
            rows += [row | {"sentence_id": f"{id}-{number}", "stars": stars} for row in found]
    empty = dict.fromkeys(rows[0])
    where = next(n for n, row in enumerate(rows) if row["document"] == "r3")
    rows.insert(where, empty | {"document": "r2", "stars": "1"})
    error = "expected 3 cells as in the header, got 2"
    return [*rows, empty | {"document": "r4", "stars": "3", "error": error}]


@pytest.mark.parametrize(
    ("name", "delimiter"), [("o.csv", ","), ("o.tsv", "\t"), ("o.csv.gz", ",")]
)
def test_csv(label, labeler, tmp_path, reviews, name, delimiter):
    done = label(reviews, "-o", name)
    assert done.code == 3
    assert done.err == (
        "4 documents, 3 sentences, 2 propositions\n"
        "error: 1 document could not be labeled; see the column `error`\n"
    )
    expected = expected_rows(labeler)
    frame = pandas.read_csv(tmp_path / name, sep=delimiter, dtype=str, keep_default_na=False)
    assert list(frame.columns) == [column.name for column in ARGUMENT_COLUMNS] + ["stars"]
    assert frame.to_dict("records") == [
        {key: "" if value is None else shown(value) for key, value in row.items()}
        for row in expected
    ]
    printed = label(reviews, "--to", "tsv" if delimiter == "\t" else "csv").out
    assert len(list(csv.reader(io.StringIO(printed), delimiter=delimiter))) == len(expected) + 1


def shown(value):
    return json.dumps(value) if isinstance(value, list) else str(value)


def test_parquet(label, labeler, tmp_path, reviews):
    assert label(reviews, "-o", "o.parquet").code == 3
    table = pq.read_table(tmp_path / "o.parquet")
    assert table.schema == arrow_schema().append(pa.field("stars", pa.string()))
    assert table.to_pylist() == expected_rows(labeler)


def test_types_of_parquet_are_kept(label, tmp_path):
    table = pa.table({"text": ["Go on."], "n": pa.array([7], pa.int16()), "sense": [1.5]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert label("a.parquet", "-o", "o.parquet").code == 0
    found = pq.read_table(tmp_path / "o.parquet")
    assert found.schema.field("n").type == pa.int16()
    assert found.column("input_sense").to_pylist() == [1.5] * found.num_rows


def test_one_row_per_sentence(label, labeler, tmp_path, reviews):
    assert label(reviews, "-o", "o.parquet", "--rows", "sentence").code == 3
    rows = pq.read_table(tmp_path / "o.parquet").to_pylist()
    assert [(row["document"], row["sentence"]) for row in rows] == [
        ("r1", 1),
        ("r1", 2),
        ("r2", None),
        ("r3", 1),
        ("r4", None),
    ]
    [sentence] = labeler.label("Dogs bark.")
    arguments = rows[3]["propositions"][0]["arguments"]
    assert [each["role"] for each in arguments] == [
        each.role for each in sentence.propositions[0].arguments
    ]


def test_one_line_of_json_per_argument(label, labeler, reviews):
    done = label(reviews, "--to", "jsonl", "--rows", "argument")
    assert [json.loads(line) for line in done.out.splitlines()] == expected_rows(labeler)


def test_text_and_corpora_as_tables(label, labeler, tmp_path):
    rows = [
        row
        for number, sentence in enumerate(labeler.label(TEXT), start=1)
        for row in argument_rows(sentence, number=number)
    ]
    found = pandas.read_csv(io.StringIO(label(TEXT, "--to", "csv").out))
    assert found["phrase"].fillna("").tolist() == [row["phrase"] or "" for row in rows]
    (tmp_path / "a.jsonl").write_text('{"id": "s7", "words": ["Dogs", "bark"]}\n')
    [row] = csv.DictReader(io.StringIO(label("a.jsonl", "--to", "csv").out))
    assert (row["document"], row["sentence"], row["sentence_id"]) == ("a.jsonl", "1", "s7")
    assert (row["text"], row["head_start"], row["head_word"]) == ("Dogs bark", "", "0")
    assert label(" ", "--to", "csv").out.count("\n") == 1


def test_chosen_columns(label, tmp_path, reviews):
    (tmp_path / "a.csv").write_text("text,x,y\nGo on.,1,2\n")
    for chosen, expected in [("y", ["y"]), ("y, x", ["y", "x"]), ("", [])]:
        header = label("a.csv", "--to", "csv", "--columns", chosen).out.splitlines()[0].split(",")
        assert header[len(ARGUMENT_COLUMNS) :] == expected
    done = label("--from", "csv", "--to", "csv", "--columns", "x", stdin=b"text,x\nGo on.,1\n")
    assert (done.err, done.out.splitlines()[-1][-2:]) == ("", ",1")


def test_chosen_columns_that_are_not_there(label, tmp_path):
    (tmp_path / "a.csv").write_text("text,Sterne,Datum\nGo on.,1,2\n")
    (tmp_path / "b.jsonl").write_text('{"text": "Go on.", "Sterne": 3}\n')
    done = label("a.csv", "--columns", "Datum,Stars", "-o", "o.csv")
    assert done.code == 2
    assert done.err == (
        "error: --columns: expected some of the columns besides text and id ('Sterne', 'Datum'), "
        "got 'Stars'\n"
    )
    assert not (tmp_path / "o.csv").exists()
    note = "note: --columns: no document has 'Stars'; the column is empty\n"
    chosen = ("--to", "csv", "--columns", "Sterne,Stars")
    for done in (
        label("a.csv", "b.jsonl", *chosen),
        label("--from", "csv", *chosen, stdin=b"text,Sterne\nGo on.,1\n"),
    ):
        assert (done.code, done.err) == (0, note)


def test_keys_that_come_late_are_reported(label, tmp_path):
    lines = ['{"text": ""}'] * 1000 + ['{"text": "", "late": 1}'] * 2
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    done = label("a.jsonl", "--to", "csv")
    assert "note: left out 'late' of 2 documents, since the first lines" in done.err
    assert "late" not in label("a.jsonl", "--to", "csv", "--columns", "late").err
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:-1]))
    done = label("Go on.", "a.jsonl", "--to", "csv")
    assert "note: left out 'late' of 1 document, since" in done.err


def test_columns_of_standard_input_are_reported_once(label, tmp_path):
    (tmp_path / "a.csv").write_text("text,x\nGo on.,1\n")
    done = label("a.csv", "-", "--from", "csv", "--to", "csv", stdin=b"text,stars\nGo on.,1\n")
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert done.err.startswith("note: -: the other columns of standard input are left out, since ")


def test_an_error_leaves_no_file(label, tmp_path):
    (tmp_path / "bad.txt").write_bytes(b"Dogs bark.\n\n\xff")
    for name in ("o.csv", "o.parquet"):
        assert label("bad.txt", "-o", name).code == 2
    assert [file.name for file in tmp_path.iterdir()] == ["bad.txt"]


def test_spans_and_tables_of_the_same_suffix(label, tmp_path):
    assert label(TEXT, "-o", "o.spans.tsv").code == label(TEXT, "-o", "o.tsv").code == 0
    assert (tmp_path / "o.spans.tsv").read_text()[0].isdigit()
    assert (tmp_path / "o.tsv").read_text().startswith("document\tsentence\t")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--to", "spans", "--no-phrases"), "--no-phrases: spans has nothing but phrases; leave "
         "the option out\n"),
        (("--rows", "word"), "--rows: expected argument, proposition or sentence, got word\n"),
        (("--rows", "argument"), "--rows argument: expected a table (csv, tsv, parquet, jsonl), "
         "got table; choose one: --to csv\n"),
        (("-o", "o.parquet.gz"), "o.parquet.gz: Parquet files are compressed already; leave out "),
        (("-o", "s3://box/o.csv"), "s3://box/o.csv: a URL cannot be written; "),
        (("--trace", "--to", "csv"), "--trace: expected a format that shows it (table, json, "),
    ],
)  # fmt: skip
def test_options_that_do_not_fit(label, tmp_path, arguments, message):
    done = label(TEXT, *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert list(tmp_path.iterdir()) == []


def test_names_of_options_are_not_cut(label, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    page = label("--help").out
    for name in ("--proposition-threshold", "--one-sentence-per-line", "--no-phrases"):
        assert name in page
    assert "…" not in page


BARK = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))
STARS = Passed({"stars": Column("stars", "string", "")})
CHOSEN = Passed(STARS.columns, are_chosen=True)


@pytest.fixture
def summarize(capsys):
    """Count, show, and return the lines on stderr."""

    def run(counted, labeled, *, always=True):
        assert list(counted.count(labeled)) == labeled
        counted.show(always=always)
        return capsys.readouterr().err.splitlines()

    return run


def document(id, columns=None, error=None):
    fault = error and Fault("bad row", error)
    return Document(id, "...", columns or {}, f"a.csv:{id}", fault)


def test_documents_are_counted_once(summarize):
    labeled = [
        DocumentSentence(document("1"), BARK, 1),
        DocumentSentence(document("1"), BARK, 2),
        DocumentSentence(document("2")),
        DocumentSentence(document("3"), BARK, 1),
    ]
    assert summarize(Summary("csv"), labeled) == ["3 documents, 3 sentences, 3 propositions"]
    assert summarize(Summary("csv"), labeled, always=False) == []


def test_one_document_is_not_worth_counting(summarize):
    found = summarize(Summary("csv"), [DocumentSentence(document("1"), BARK, 1)])
    assert found == ["1 sentence, 1 proposition"]
    assert summarize(Summary("csv"), [], always=False) == ["0 sentences, 0 propositions"]


def test_errors_are_shown_where_the_output_has_no_column_for_them(summarize):
    bad = [DocumentSentence(document(str(n), error="no text")) for n in range(12)]
    good = [DocumentSentence(document("x"), BARK, 1)]
    lines = summarize(Summary("conll09"), bad + good, always=False)
    assert lines[:10] == [f"error: a.csv:{n}: no text" for n in range(10)]
    assert lines[10:] == ["error: 12 documents could not be labeled"]
    lines = summarize(Summary("csv"), bad[:1] + good, always=False)
    assert lines == ["error: 1 document could not be labeled; see the column `error`"]


def test_the_place_of_an_error_is_shown_once(summarize):
    bad = [DocumentSentence(document("7", error="a.csv:7: expected 3 cells, got 2"))]
    assert "error: a.csv:7: expected 3 cells, got 2" in summarize(Summary("conll09"), bad)


def test_chosen_columns_that_no_document_has(summarize):
    labeled = [DocumentSentence(document("1", {"other": 1}), BARK, 1)]
    [line] = summarize(Summary("csv", CHOSEN), labeled, always=False)
    assert line == "note: --columns: no document has 'stars'; the column is empty"
    labeled += [DocumentSentence(document("2", {"stars": 5}), BARK, 1)]
    assert summarize(Summary("csv", CHOSEN), labeled, always=False) == []


def test_columns_that_were_left_out(summarize):
    labeled = [
        DocumentSentence(document(str(n), {"stars": 1, "late": 2}), BARK, 1) for n in range(2)
    ]
    [line] = summarize(Summary("csv", STARS), labeled, always=False)
    assert line.startswith("note: left out 'late' of 2 documents, since the first lines")
    streams = Summary("csv", STARS, ("a.csv",))
    assert summarize(streams, labeled, always=False) == []


def test_phrases_that_the_format_cannot_hold(summarize):
    argument = Argument("A0", 0, phrase=Phrase(0, 0))
    phrases = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (argument,)),))
    labeled = [DocumentSentence(None, phrases, 1)]
    assert summarize(Summary("conll09"), labeled)[1].startswith("note: CoNLL-2009 has no ph")
    assert len(summarize(Summary("conllup"), labeled)) == 1


def notes(capsys, ids, format="csv"):
    """What is said of documents with two sentences each."""
    counted = Summary(format)
    documents = [Document(id, "", {}, f"a.csv, row {n}") for n, id in enumerate(ids, start=1)]
    assert len(
        list(counted.count(DocumentSentence(each) for each in documents for _ in "ab"))
    ) == 2 * len(ids)
    counted.show(always=True)
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("note: ")]


@pytest.mark.parametrize(
    ("ids", "found"),
    [("abc", None), ("aab", "a"), ("abcb", "b"), ("abca", "a"), ("abccdd", None), ("abcda", "a")],
)
def test_ids_that_are_not_unique(capsys, monkeypatch, ids, found):
    """Only the first two ids are remembered here, but any later document may have one of them."""
    monkeypatch.setattr(outputs, "_IDS", 2)
    note = f"note: several documents have the id {found!r}, so their rows cannot be told apart; "
    fix = "name a column of unique ids with --id-column"
    assert notes(capsys, ids) == ([note + fix] if found else [])
    assert notes(capsys, ids, "table") == []  # which shows no ids


def test_the_same_ids_in_two_files(capsrl, tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("id,text\n1,We left.\n2,It rained.\n")
    assert "note: several documents have the id '1'" in capsrl("label", "a.csv", "b.csv").err
    assert "note" not in capsrl("label", "a.csv").err


PAGE = Path(__file__).parents[2] / "docs" / "tables.md"


def test_the_page_about_tables(label, tmp_path, capsys):
    """Its commands and its Python, in order, print what it says they print."""
    page = PAGE.read_text(encoding="utf-8")
    (tmp_path / "reviews.csv").write_text(page.split("```text\n")[1].split("```")[0])
    names = {}
    blocks = re.findall(r"```(console|python)\n(.*?)```(?:\n\n```\n(.*?)```)?", page, re.DOTALL)
    assert [kind for kind, _, _ in blocks] == ["console", "console", "python", "python"]
    for kind, code, shown in blocks:
        if kind == "console":
            command, _, shown = code.removeprefix("$ capsrl label ").partition("\n")
            assert label(*shlex.split(command)).out == shown
        else:
            exec(code, names)
            assert capsys.readouterr().out == shown
