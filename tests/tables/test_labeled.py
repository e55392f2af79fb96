import json
from dataclasses import replace

from jsonschema import Draft202012Validator

from capsrl.formats.jsonl import json_schema
from capsrl.tables.columns import Column, Passed
from capsrl.tables.documents import Document
from capsrl.tables.labeled import Labeled, json_lines, labeled_rows, split_document
from capsrl.text.layout import Layout
from tests.tables.test_cells import SENTENCE

PASSED = Passed({"stars": Column("stars", "string", "")})


def test_the_sentences_of_a_document():
    document = Document("r7", "Dogs bark. Cats sleep.")
    first, second = split_document(document)
    assert [each.sentence.id for each in (first, second)] == ["r7-1", "r7-2"]
    assert (second.sentence.text, second.sentence.start, second.number) == ("Cats sleep.", 11, 2)
    [html] = split_document(Document("r8", "<b>Go</b> on"), Layout(html=True))
    assert html.sentence.words == ("Go", "on")


def test_documents_without_sentences():
    for document in (Document("a", ""), Document("b", " \n"), Document("c", None, error="bad")):
        assert list(split_document(document)) == [Labeled(document)]


def test_rows_have_the_other_columns_and_the_error():
    document = Document("r7", "...", {"stars": 5})
    labeled = Labeled(document, SENTENCE, 1)
    rows = labeled_rows(labeled, passed=PASSED)
    assert [(row["document"], row["role"], row["stars"], row["error"]) for row in rows] == [
        ("r7", "A0", "5", None),
        ("r7", "A1", "5", None),
    ]
    [row] = labeled_rows(labeled, rows="sentence", passed=PASSED)
    assert (row["document"], len(row["propositions"]), row["stars"]) == ("r7", 1, "5")
    for rows in ("argument", "sentence"):
        [row] = labeled_rows(Labeled(Document("x", None, {}, "", "bad")), rows=rows, passed=PASSED)
        assert {name: value for name, value in row.items() if value is not None} == {
            "document": "x",
            "error": "bad",
        }
    assert labeled_rows(Labeled(None, SENTENCE, 1))[0]["document"] is None


def test_lines_of_json():
    bare = SENTENCE.to_dict()
    for document, expected in [
        (None, bare),
        (Document("notes.txt", None), bare),  # a text file, whose name is in the ids
        (Document("r7", "..."), {"document": "r7", **bare}),
        (Document("r7", "...", {"n": 1}), {"document": "r7", "fields": {"n": 1}, **bare}),
    ]:
        [line] = json_lines([Labeled(document, SENTENCE, 1)])
        assert list(json.loads(line).items()) == list(expected.items())


def test_chosen_columns_of_json():
    labeled = Labeled(Document("r7", "...", {"n": 1, "stars": 5}), SENTENCE, 1)
    for passed, expected in [
        (PASSED, {"n": 1, "stars": 5}),
        (replace(PASSED, are_chosen=True), {"stars": 5}),
        (Passed({}, are_chosen=True), None),
    ]:
        [line] = json_lines([labeled], passed)
        assert json.loads(line).get("fields") == expected


def test_lines_of_json_without_a_sentence():
    documents = [Document("a", ""), Document("b", None, {}, "", "bad"), Document("c.txt", None)]
    lines = list(map(json.loads, json_lines([Labeled(None), *map(Labeled, documents)])))
    assert lines == [
        {"document": "a", "words": []},
        {"document": "b", "error": "bad", "words": []},
    ]
    for line in lines:
        Draft202012Validator(json_schema()).validate(line)
