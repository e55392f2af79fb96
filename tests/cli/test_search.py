"""`capsrl search`: lines, counts, CSV and HTML."""

import csv
import sys

import pytest

from tests.test_readme import BLOCK, commands, read, shell

pytest.importorskip("duckdb")
TEXT = "Mira sold her car to Omar. The company did not sell the old house. Nobody bought it."


@pytest.fixture
def labeled(capsrl):
    assert capsrl("label", TEXT, "-o", "all.jsonl").code == 0
    return "all.jsonl"


def test_lines(capsrl, labeled):
    done = capsrl("search", "sell A0", labeled)
    assert done.code == 0 and done.err == "2 hits\n"
    first, second = done.out.splitlines()
    assert "[A0 Mira] sold [A1 her car] [A2 to Omar]." in first
    assert "[A0 The company] did [AM-NEG not] sell [A1 the old house]." in second
    assert first.index("sold") == second.index("sell")


def test_limit_and_no_hits(capsrl, labeled):
    done = capsrl("search", "*", labeled, "--limit", 1)
    assert len(done.out.splitlines()) == 1
    assert done.err == "3 hits, 1 of them shown; --limit N\n"
    done = capsrl("search", "sold", labeled)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("0 hits; words alone are lemmas (sell, not sold)")


def test_csv(capsrl, labeled):
    capsrl("search", "sell|buy", labeled, "-o", "hits.csv")
    with open("hits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["predicate"] for row in rows] == ["sold", "sell", "bought"]
    assert (rows[0]["left"], rows[0]["right"]) == ("Mira ", " her car to Omar.")
    assert (rows[0]["file"], rows[0]["A2"], rows[1]["A2"]) == ("all.jsonl", "to Omar", "")
    assert float(rows[0]["probability"]) > 0.5


def test_counts(capsrl, labeled):
    assert capsrl("search", "sell", labeled, "--count", "valency").out.split() == [
        *("sense", "roles", "n"),
        *("sell.01", "A0", "A1", "1"),
        *("sell.01", "A0", "A1", "A2", "1"),
    ]
    done = capsrl("search", "sell A1", labeled, "--count", "head", "--to", "csv")
    assert done.out == "role,head,n\nA1,car,1\nA1,house,1\n"
    assert done.err == "2 hits\n"


def test_html(capsrl, labeled):
    page = capsrl("search", "negated", labeled, "--to", "html").out
    assert page.count("<section>") == 2 and "<h1>negated</h1>" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sell buy"], "query: expected one predicate, got sell and buy"),
        (["sell", "--count", "word"], "--count: expected role, head, phrase, lemma, predicate,"),
        (["sell", "--to", "xml"], "--to: expected one of table, csv, html, got xml"),
        (["sell", "--count", "role", "--to", "html"], "--count: expected the format table or csv"),
        (["sell", "--limit", "0"], "--limit: expected an integer of at least 1, got 0"),
    ],
)
def test_mistakes(capsrl, labeled, arguments, message):
    done = capsrl("search", arguments[0], labeled, *arguments[1:])
    assert done.code == 2 and done.err.startswith(f"error: {message}")


def test_the_extra_is_named(capsrl, labeled, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    done = capsrl("search", "sell", labeled)
    assert done.code == 2
    assert done.err.startswith("error: this command needs duckdb: pip install 'capsrl[search]'")


def test_the_page_shows_what_is_printed(tmp_path):
    n_run = 0
    for _, language, block in BLOCK.findall(read("docs/search.md").replace("\n  ", "\n")):
        for command, shown in commands(block) if language == "console" else ():
            printed = shell(command, tmp_path)
            assert [line.split() for line in printed.splitlines()] == [
                line.split() for line in shown.splitlines()
            ]
            n_run += 1
    assert n_run == 4
