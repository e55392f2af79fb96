"""Sentence, its propositions and its short ways to other formats."""

import json
import pickle
from dataclasses import replace
from operator import is_

import numpy as np
import pytest

from capsrl.formats.jsonl import read_jsonl
from capsrl.sentence import Argument, Proposition, Sentence, Trace


@pytest.fixture
def sentence() -> Sentence:
    words = ("Hiti", "signed", "\ud800", "it")
    offsets = ((0, 4), (5, 11), (12, 13), (14, 16))
    bare = Sentence(words, text="Hiti signed \ud800 it", offsets=offsets)
    return bare.with_propositions(
        [
            Proposition(1, "sign.01", (Argument("A0", 0, 0.75), Argument("A1", 3))),
            Proposition(0, "hit.01"),
        ]
    )


def test_with_propositions_orders_and_places_them(sentence):
    assert sentence.predicates == (0, 1)
    signed = sentence.propositions[1]
    assert (signed.start, signed.end) == (5, 11)
    assert signed.arguments[1] == Argument("A1", 3, None, 14, 16)


def test_standalone_has_its_own_part_of_the_text():
    text = "Go!  Dogs bark. Stop."
    bare = Sentence(("Dogs", "bark", "."), text=text, offsets=((5, 9), (10, 14), (14, 15)))
    sentence = bare.with_propositions([Proposition(1, "bark.01", (Argument("A0", 0),))])
    alone = sentence.standalone()
    assert (alone.text, alone.start) == ("Dogs bark.", 5)
    assert alone.offsets == ((0, 4), (5, 9), (9, 10))
    assert alone.propositions == (
        Proposition(1, "bark.01", (Argument("A0", 0, None, 0, 4),), None, 5, 9),
    )
    assert alone.standalone() == alone
    in_part = replace(sentence, text=text[3:], offsets=((2, 6), (7, 11), (11, 12)), start=3)
    assert in_part.standalone() == alone


@pytest.mark.parametrize("given", [Sentence(("Go",)), Sentence((), text=" ", offsets=())])
def test_standalone_without_text_or_words(given):
    assert given.standalone() is given


def test_json_holds_all_of_it(sentence):
    line = sentence.to_json()
    assert "\n" not in line
    assert list(read_jsonl([line])) == [sentence]
    assert json.loads(line) == sentence.to_dict()
    assert sentence.to_dict()["propositions"][1]["arguments"][0] == {
        "role": "A0",
        "word": 0,
        "form": "Hiti",
        "probability": 0.75,
        "start": 0,
        "end": 4,
    }


def test_forms_are_those_of_the_words(sentence):
    hit, signed = sentence.propositions
    assert (hit.form, signed.form) == ("Hiti", "signed")
    assert [argument.form for argument in signed.arguments] == ["Hiti", "it"]
    other = replace(sentence, words=("Ada", "wrote", "\ud800", "that"))
    assert [argument.form for argument in other.propositions[1].arguments] == ["Ada", "that"]
    made = Sentence(["Dogs", "bark"], (Proposition(1, "bark.01", (Argument("A0", 0),)),))
    assert made.words == ("Dogs", "bark")
    assert (made.propositions[0].form, made.propositions[0].arguments[0].form) == ("bark", "Dogs")
    assert made.propositions == (Proposition(1, "bark.01", (Argument("A0", 0),)),)


@pytest.mark.parametrize("position", [-1, 2])
def test_positions_must_be_those_of_words(position):
    with pytest.raises(ValueError, match=rf"positions of 2 words, got \[{position}\] in 'Dogs"):
        Sentence(("Dogs", "bark"), (Proposition(position),))


def test_filled_propositions_are_not_copied(sentence):
    again = replace(sentence, id="x")
    assert all(map(is_, again.propositions, sentence.propositions))


def test_sentences_can_be_hashed_and_pickled(sentence):
    other = replace(sentence, columns={"MISC": ("_",) * 4})
    assert other != sentence and hash(other) == hash(sentence)
    assert {sentence, other, replace(sentence)} == {sentence, other}
    traced = replace(sentence.propositions[1], trace=Trace(("_",), np.ones((1, 4, 1), np.float32)))
    given = replace(other, propositions=(traced,))
    again = pickle.loads(pickle.dumps(given))
    assert (again, hash(again), again.to_json()) == (given, hash(given), given.to_json())


def test_a_string_is_not_a_sequence_of_words():
    with pytest.raises(TypeError, match="expected a sequence of words, got the string 'Dogs bark'"):
        Sentence("Dogs bark")


def test_printed_as_a_table(sentence):
    assert str(replace(sentence, text="Hiti signed x it")).splitlines() == [
        "Hiti signed x it",
        "  Hiti  hit.01  0-4",
        "  signed  sign.01  5-11",
        "    A0  Hiti  0.75  0-4",
        "    A1  it          14-16",
    ]


def test_notebooks_show_a_drawing(sentence):
    shown = sentence._repr_html_()
    assert "<svg" in shown and "sign.01" in shown
    shown.encode()  # a lone surrogate would stop the notebook
