from dataclasses import replace

import pytest

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.tables.cells import argument_rows, rows_of
from capsrl.tables.columns import ARGUMENT_COLUMNS, SENTENCE_COLUMNS

TEXT = "Hi. Mira sold her bicycle."
OFFSETS = ((4, 8), (9, 13), (14, 17), (18, 25), (25, 26))
ARGUMENTS = (
    Argument("A0", 0, 0.9, meaning="Agent", phrase=Phrase(0, 0)),
    Argument("A1", 3, 0.8, phrase=Phrase(2, 3)),
)
SOLD = Proposition(
    1,
    "sell.01",
    ARGUMENTS,
    0.7,
    definition="exchange for money",
    frames=("verbnet:give-13.1-1",),
    predicate_probability=0.6,
    joint_probability=0.5,
)
SENTENCE = Sentence(
    ("Mira", "sold", "her", "bicycle", "."), text=TEXT, offsets=OFFSETS, id="s1"
).with_propositions([SOLD])


def known(row):
    return {name: value for name, value in row.items() if value is not None}


def test_a_row_by_hand():
    first, second = argument_rows(SENTENCE, document="d", number=2)
    common = {
        "document": "d",
        "sentence": 2,
        "sentence_id": "s1",
        "text": "Mira sold her bicycle.",
        "sentence_start": 4,
        "sentence_end": 26,
        "predicate": "sold",
        "predicate_word": 1,
        "predicate_start": 9,
        "predicate_end": 13,
        "predicate_probability": 0.6,
        "sense": "sell.01",
        "sense_probability": 0.7,
        "guessed": False,
        "definition": "exchange for money",
        "frames": ["verbnet:give-13.1-1"],
        "joint_probability": 0.5,
    }
    assert known(first) == common | {
        "role": "A0",
        "meaning": "Agent",
        "argument_probability": 0.9,
        "head": "Mira",
        "head_word": 0,
        "head_start": 4,
        "head_end": 8,
        "phrase": "Mira",
        "phrase_first": 0,
        "phrase_last": 0,
        "phrase_start": 4,
        "phrase_end": 8,
    }
    assert known(second) == common | {
        "role": "A1",
        "argument_probability": 0.8,
        "head": "bicycle",
        "head_word": 3,
        "head_start": 18,
        "head_end": 25,
        "phrase": "her bicycle",
        "phrase_first": 2,
        "phrase_last": 3,
        "phrase_start": 14,
        "phrase_end": 25,
    }


def test_offsets_count_into_the_document_however_the_sentence_was_cut():
    assert argument_rows(SENTENCE.standalone()) == argument_rows(SENTENCE)
    assert rows_of("sentence", SENTENCE.standalone())[0] == rows_of("sentence", SENTENCE)[0]


def test_every_row_has_all_columns():
    bare = Sentence(("Go", "!"))
    for sentence in (SENTENCE, bare, None):
        for row in argument_rows(sentence):
            assert list(row) == [column.name for column in ARGUMENT_COLUMNS]
        nested = rows_of("sentence", sentence)[0]
        assert list(nested) == [column.name for column in SENTENCE_COLUMNS]


def test_nothing_is_lost():
    no_arguments = replace(SOLD, arguments=())
    [row] = argument_rows(replace(SENTENCE, propositions=(no_arguments,)))
    assert (row["sense"], row["role"]) == ("sell.01", None)
    [row] = argument_rows(replace(SENTENCE, propositions=()))
    assert (row["text"], row["predicate"]) == ("Mira sold her bicycle.", None)
    [row] = argument_rows(None, document="d")
    assert known(row) == {"document": "d"}


def test_sentences_without_text_have_no_offsets():
    sentence = Sentence(("Mira", "sold", "her", "bicycle", "."), (SOLD,))
    first = argument_rows(sentence)[0]
    assert first["text"] == "Mira sold her bicycle ."
    assert {name for name in first if name.endswith(("_start", "_end"))} == {
        name for name in first if name.endswith(("_start", "_end")) and first[name] is None
    }
    assert (first["phrase"], first["phrase_first"]) == ("Mira", 0)


def test_a_nested_row_has_the_same_cells():
    nested = rows_of("sentence", SENTENCE, document="d", number=2)[0]
    flat = []
    for proposition in nested["propositions"]:
        for argument in proposition["arguments"]:
            flat.append({**nested, **proposition, **argument})
    rows = argument_rows(SENTENCE, document="d", number=2)
    assert rows == [{name: row[name] for name in rows[0]} for row in flat]
    assert nested["words"] == ["Mira", "sold", "her", "bicycle", "."]


def test_rows_of_the_english_model(labeler):
    """`text[start:end]` is what the columns say, for every row."""
    text = "Hi! The teacher gave every child a book.\n\nNobody has read it yet. Why not?"
    for sentence in labeler.label(text):
        rows = sentence.to_rows()
        assert rows == argument_rows(sentence)
        arguments = [each for found in sentence.propositions for each in found.arguments]
        assert [row["role"] for row in rows if row["role"]] == [each.role for each in arguments]
        for row in rows:
            for prefix, column in [
                ("sentence", "text"),
                ("predicate", "predicate"),
                ("head", "head"),
                ("phrase", "phrase"),
            ]:
                if row[column] is not None:
                    assert text[row[f"{prefix}_start"] : row[f"{prefix}_end"]] == row[column]


def test_html_is_shown_without_tags():
    sentence = Sentence(("R&D", "left"), text="<b>R&amp;D</b> left", offsets=((3, 10), (15, 19)))
    assert argument_rows(sentence)[0]["text"] == "R&D left"


@pytest.mark.parametrize("number", [None, 3])
def test_numbers(number):
    assert {row["sentence"] for row in SENTENCE.to_rows(document=7, number=number)} == {number}
