import pytest

from capsrl.options import Options
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.tables.pipeline import Labeled, Totals, label_stream, split_document
from capsrl.tables.reading import Document
from capsrl.tables.records import Fault
from capsrl.text import Layout

BAD = Fault("bad row", "bad")
BARK = Sentence(("Dogs", "bark"), (Proposition(1, "bark.01", (Argument("A0", 0),)),))


def test_the_sentences_of_a_document():
    document = Document("r7", "Dogs bark. Cats sleep.")
    first, second = split_document(document)
    assert [each.sentence.id for each in (first, second)] == ["r7-1", "r7-2"]
    assert (second.sentence.text, second.sentence.start, second.number) == ("Cats sleep.", 11, 2)
    [html] = split_document(Document("r8", "<b>Go</b> on"), Layout(html=True))
    assert html.sentence.words == ("Go", "on")


def test_documents_without_sentences():
    for document in (Document("a", ""), Document("b", " \n"), Document("c", None, fault=BAD)):
        assert list(split_document(document)) == [Labeled(document)]


@pytest.mark.parametrize("order", ["abc", "bac", "cab", "bca"])
def test_documents_are_labeled_in_order(labeler, order):
    """With and without sentences, as one that is labeled alone."""
    texts = {"a": "Dogs bark. Mira left.", "b": None, "c": "Hiti signed the contract."}
    documents = [Document(name, texts[name]) for name in order]
    split = [each for document in documents for each in split_document(document)]
    labeled = list(label_stream(labeler, split, Options()))
    assert [(each.document, each.number) for each in labeled] == [
        (each.document, each.number) for each in split
    ]
    for each in labeled:
        text = texts[each.document.id]
        alone = labeler.label(text)[each.number - 1] if text else None
        assert (each.sentence and each.sentence.propositions) == (
            alone and alone.standalone().propositions
        )


def test_counts():
    def place(name, fault=None):
        return Document("1", "...", {}, name, fault)

    labeled = [
        Labeled(place("a.csv, row 1"), BARK, 1),
        Labeled(place("a.csv, row 1"), BARK, 2),
        Labeled(place("a.csv, row 2")),
        Labeled(place("a.csv, row 3", BAD)),
        Labeled(place("a.csv, row 4", Fault("no text", "none"))),
        Labeled(place("b.csv, row 4", Fault("no text", "none"))),
    ]
    counts = Totals()
    assert list(counts.count(labeled)) == labeled
    assert counts == Totals(5, 2, 2, 2, {"bad row": 1, "no text": 2})
    assert Totals.from_dict({**counts.to_dict(), "more": 1}) == counts
    total = Totals()
    for _ in range(2):
        total.add(counts)
    assert total.to_dict() == {
        "documents": 10,
        "sentences": 4,
        "propositions": 4,
        "arguments": 4,
        "errors": {"bad row": 2, "no text": 4},
    }
