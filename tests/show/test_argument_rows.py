"""Rows of tables: arguments, dropped arguments, and what is known of them."""

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.show.argument_rows import known_columns, make_rows, step_headings
from tests.helpers.show_sentences import contract, with_meanings


def test_arguments():
    sentence = with_meanings(contract(traced=True), {"sign.01": {"A0": "signer"}})
    rows = make_rows(sentence, sentence.propositions[0])
    assert [row.cells for row in rows] == [
        ("A0", "Hiti", "0.99", "0-4", "", "signer"),
        ("A1", "contract", "0.97", "16-24", "", ""),
        ("AM-TMP", "yesterday", "0.95", "25-34", "", ""),
    ]
    assert not any(row.is_dropped or row.history for row in rows)
    assert known_columns(rows) == [0, 1, 2, 3, 5]


def test_dropped_arguments():
    sentence = contract(traced=True)
    rows = make_rows(sentence, sentence.propositions[0], trace=True)
    assert [row.is_dropped for row in rows] == [False, False, False, True]
    assert rows[3].cells == ("(A1)", "left", "", "", "", "")
    assert all(len(row.history.probs) == 3 for row in rows)


def test_phrases_of_several_words():
    words = ("The", "man", "signed", "it")
    parts = (Argument("A0", 1, phrase=Phrase(0, 1)), Argument("A1", 3, phrase=Phrase(3, 3)))
    sentence = Sentence(words, (Proposition(2, "sign.01", parts),))
    rows = make_rows(sentence, sentence.propositions[0])
    assert [row.cells[4] for row in rows] == ["The man", ""]


def test_phrases_are_shown_as_in_the_text():
    words, text = ("Don", "'s", "dog", "barked"), "Don's\n  dog barked"
    parts = (Argument("A0", 2, phrase=Phrase(0, 2)),)
    sentence = Sentence(words, text=text, offsets=((0, 3), (3, 5), (8, 11), (12, 18)))
    sentence = sentence.with_propositions([Proposition(3, "bark.01", parts)])
    rows = make_rows(sentence, sentence.propositions[0])
    assert [row.cells[4] for row in rows] == ["Don's dog"]


def test_step_headings():
    assert step_headings(3) == ["start", "1", "2"]
    assert step_headings(0) == []
