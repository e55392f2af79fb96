"""Hits: examples by hand, the same in all formats, and against a plain loop over sentences."""

import fnmatch
import gzip
import os
import random
import re
import shutil
import subprocess
import sys

import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.facts import denies
from capsrl.formats.formats import read_sentences, write_sentences
from capsrl.search.hits import COUNTS, search
from capsrl.search.query import parse_query
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.tables.documents import read_documents
from capsrl.tables.pipeline import DocumentSentence, split_document
from capsrl.tables.writing import WriteOptions, table_rows, text_parts, write_parquet
from tests.helpers.bulk_runs import ROOT
from tests.helpers.search_texts import EXPECTED, TEXTS

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def folder(labeler, tmp_path_factory):
    """The texts, labeled once, in every format."""
    from capsrl.tables.columns import arrow_schema

    folder = tmp_path_factory.mktemp("labeled")
    rows = "".join(f'{id},"{text.replace(chr(34), chr(34) * 2)}"\n' for id, text in TEXTS.items())
    (folder / "texts.csv").write_text(f"id,text\n{rows}")
    labeled = []
    for document in read_documents(folder / "texts.csv"):
        for each in split_document(document):
            [sentence] = labeler.label_sentences([each.sentence])
            labeled.append(DocumentSentence(document, sentence, each.number))
    for rows, prefix in (("argument", ""), ("proposition", "facts_")):
        for format in ("csv", "tsv"):
            parts = text_parts(labeled, WriteOptions(format, rows))
            (folder / f"{prefix}table.{format}").write_text("".join(parts))
        with open(folder / f"{prefix}table.parquet", "wb") as file:
            options = WriteOptions("parquet", rows)
            write_parquet(table_rows(labeled, options), file, arrow_schema(rows))
        parts = text_parts(labeled, WriteOptions("jsonl", rows))
        (folder / f"{prefix}rows.jsonl").write_text("".join(parts))
    (folder / "labeled.jsonl").write_text("".join(text_parts(labeled, WriteOptions())))
    (folder / "table.csv.gz").write_bytes(gzip.compress((folder / "table.csv").read_bytes()))
    write_sentences([each.sentence for each in labeled], folder / "labeled.conllup")
    return folder


def hits(query, *files, **options):
    with search(parse_query(query), [str(file) for file in files], **options) as found:
        rows = list(found.rows())
        assert found.n == len(rows)
        return rows


def where(rows):
    return [(row["sentence_id"], row["predicate_word"], row["predicate"]) for row in rows]


TABLES = ["table.csv", "table.tsv", "table.parquet", "table.csv.gz", "labeled.jsonl", "rows.jsonl"]
FACTS = [f"facts_{name}" for name in ("table.csv", "table.tsv", "table.parquet", "rows.jsonl")]


@pytest.mark.parametrize("file", ["table.csv", "labeled.conllup", "facts_table.parquet"])
@pytest.mark.parametrize("query", EXPECTED)
def test_examples(folder, file, query):
    found = hits(query, folder / file)
    pairs = [(row["sentence_id"].split("-")[0], row["predicate"]) for row in found]
    assert {*pairs} == EXPECTED[query] and len(pairs) == len({*pairs})


@pytest.mark.parametrize("query", ["*", "A0", "negated", "p>=0.9 A1"])
def test_the_same_in_all_formats(folder, query):
    first, *others = (hits(query, folder / file) for file in TABLES)
    assert len(first) > 2
    for rows in others:
        for one, other in zip(first, rows, strict=True):
            same = one.keys() - {"file", "document", "sentence"}
            assert {name: one[name] for name in same} == {name: other[name] for name in same}


@pytest.mark.parametrize("file", FACTS)
def test_tables_of_propositions_find_the_same(folder, file):
    roles = "A0 -A3 A1:*s*"
    assert where(hits(roles, folder / file)) == where(hits(roles, folder / "table.csv"))
    message = rf"{file}: a table with a row per proposition has no AM-DIR; label with --rows arg"
    with pytest.raises(ConfigError, match=message):
        hits("-AM-DIR", folder / file)


def test_several_files_are_in_order(folder):
    rows = hits("sell", folder / "table.csv", folder / "labeled.jsonl", folder / "table.parquet")
    assert len(rows) == 9
    names = [row["file"].split("/")[-1] for row in rows[::3]]
    assert names == ["table.csv", "labeled.jsonl", "table.parquet"]
    assert len({*where(rows)}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [["parquet"], ["jsonl"], ["parquet", "--rows", "proposition"], ["jsonl", "--rows", "argument"]],
)
def test_a_folder_of_bulk(folder, tmp_path, options):
    command = [sys.executable, "-m", "capsrl", "bulk", folder / "texts.csv", tmp_path / "run"]
    command += ["--shard-size", "2", "--to", *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    subprocess.run(list(map(str, command)), check=True, env=environment, capture_output=True)
    assert len(list((tmp_path / "run" / "data").iterdir())) == 3
    for query in ("sell", "A0:waiter", "negated"):
        assert where(hits(query, tmp_path / "run")) == where(hits(query, folder / "table.csv"))


# --- against a plain loop ---

TERMS = {
    "sell.01": lambda s, p: p.sense == "sell.01",
    "*.01": lambda s, p: p.sense.endswith(".01"),
    "s*": lambda s, p: p.sense.startswith("s"),
    "bring|sell": lambda s, p: p.sense.split(".")[0] in ("bring", "sell"),
    "*": lambda s, p: True,
    "A0": lambda s, p: any(a.role == "A0" for a in p.arguments),
    "AM-*": lambda s, p: any(a.role.startswith("AM-") for a in p.arguments),
    "A1:it|soup": lambda s, p: any(
        a.role == "A1" and a.form.lower() in ("it", "soup") for a in p.arguments
    ),
    "A*:*er": lambda s, p: any(
        fnmatch.fnmatchcase(a.role, "A*") and a.form.lower().endswith("er") for a in p.arguments
    ),
    'A0:"the company"': lambda s, p: any(
        a.role == "A0" and re.search(r"\bthe company\b", (a.phrase or a).text.lower())
        for a in p.arguments
    ),
    '"soup"': lambda s, p: "soup" in s.words,
    "negated": lambda s, p: any(
        a.role == "AM-NEG" or denies(a.role, a.phrase.text) for a in p.arguments
    ),
    "p>=0.95": lambda s, p: p.joint_probability >= 0.95,
    "p<0.95": lambda s, p: p.joint_probability < 0.95,
}
PREDICATES = ("sell.01", "*.01", "s*", "bring|sell", "*")


def test_a_plain_loop_finds_the_same(folder):
    sentences = list(read_sentences(folder / "labeled.jsonl"))
    chooser = random.Random(3)
    n_found = 0
    for _ in range(60):
        others = [name for name in TERMS if name not in PREDICATES]
        names = [chooser.choice(PREDICATES), *chooser.sample(others, chooser.randrange(4))]
        terms = [(chooser.random() < 0.3, name) for name in names]
        expected = [
            (sentence.id, each.predicate, each.form)
            for sentence in sentences
            for each in sentence.propositions
            if all(TERMS[name](sentence, each) is not minus for minus, name in terms)
        ]
        query = " ".join(f"{'-' * minus}{name}" for minus, name in terms)
        assert where(hits(query, folder / "table.parquet")) == expected, query
        n_found += bool(expected)
    assert n_found > 20


def test_counts(folder):
    with search(parse_query("sell"), [str(folder / "table.parquet")]) as found:
        assert found.count("lemma") == [{"lemma": "sell", "n": 3}]
        assert {"predicate": "sold", "n": 1} in found.count("predicate")
        assert found.count("document")[0] == {"document": "d1", "n": 1}
        roles = {row["role"]: row["n"] for row in found.count("role")}
        assert (roles["A0"], roles["A2"], roles["AM-NEG"]) == (2, 1, 1)
        sets = {row["roles"]: row["n"] for row in found.count("valency")}
        assert sets["A0 A1 A2"] == sets["A0 A1"] == 1 and sum(sets.values()) == 3
        assert [*map(len, map(found.count, COUNTS))]  # all can be counted
    with search(parse_query("* A0:waiter"), [str(folder / "table.parquet")]) as found:
        assert found.count("head") == [{"role": "A0", "head": "waiter", "n": 2}]


def test_words_alone_without_offsets_probabilities_and_senses(tmp_path):
    words = ("it", "is", "said", "that", "it", "rains")
    first = Proposition(2, None, (Argument("A1", 5),))
    second = Proposition(5, "rain.01", (Argument("A0", 4),))
    write_sentences([Sentence(words, (first, second))], tmp_path / "a.conllup")
    [row] = hits("said", tmp_path / "a.conllup")
    assert (row["predicate_start"], row["probability"]) == (6, None)
    [row] = hits("rain A0:it", tmp_path / "a.conllup")
    assert row["arguments"] == [{"role": "A0", "phrase": "it", "phrase_start": 16}]
    assert hits("rain p>=0", tmp_path / "a.conllup") == []
    assert len(hits("rain -p>=0", tmp_path / "a.conllup")) == 1


def test_columns_of_the_user_do_no_harm(tmp_path, folder):
    header, *rows = (folder / "table.csv").read_text().splitlines()
    names = "filename,number,start,stop,file,lemma,negated,probability,place,found,capsrl"
    others = ",".join("7" * (names.count(",") + 1))
    lines = [f"{header},{names}", *(f"{row},{others}" for row in rows)]
    (tmp_path / "table.csv").write_text("".join(f"{line}\n" for line in lines))
    for query in ("sell", "negated", "A1:soup"):
        assert where(hits(query, tmp_path / "table.csv")) == where(
            hits(query, folder / "table.csv")
        )


def test_what_cannot_be_searched(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(folder / "texts.csv", "texts.csv")
    message = (
        "^texts.csv: expected a table with a row per argument or proposition, as capsrl label "
    )
    message += "writes with --rows argument, got 'id', 'text'$"
    with pytest.raises(ConfigError, match=message):
        hits("sell", "texts.csv")
    with pytest.raises(ConfigError, match="^none.csv: no such file"):
        hits("sell", "none.csv")
    with pytest.raises(ConfigError, match="^notes.txt: expected a suffix of"):
        (tmp_path / "notes.txt").write_text("x")
        hits("sell", "notes.txt")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="^bad.parquet: cannot be searched: "):
        hits("sell", "bad.parquet")
    (tmp_path / "bad.jsonl").write_text('{"words": 3}\n')
    with pytest.raises(DataError, match="^bad.jsonl:1: words"):
        hits("sell", "bad.jsonl")


def test_a_line_among_rows_that_is_none(folder, tmp_path):
    rows = (folder / "rows.jsonl").read_text().splitlines()
    for line in ("7", '{"words": []}', "{"):
        (tmp_path / "rows.jsonl").write_text("\n".join([*rows[:2], line]))
        with pytest.raises(DataError, match=r"rows.jsonl:3: expected a row, got "):
            hits("*", tmp_path / "rows.jsonl")
