from capsrl.tables.documents import Document
from capsrl.tables.labeled import Labeled, labeled_rows, split_document
from capsrl.tables.schema import Column, Passed
from capsrl.text.layout import Layout
from tests.tables.test_rows import SENTENCE

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
