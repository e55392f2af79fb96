"""The short ways from a Sentence to other forms, against the functions that do the work."""

import json
from dataclasses import replace

import pytest

from capsrl.data.conll09 import read_conll09
from capsrl.data.jsonl import read_jsonl
from capsrl.sentence import Argument, Proposition, Sentence


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


def test_alone_it_has_its_own_stretch_of_the_text_and_says_where_that_was():
    text = "Go!  Dogs bark. Stop."
    bare = Sentence(("Dogs", "bark", "."), text=text, offsets=((5, 9), (10, 14), (14, 15)))
    sentence = bare.with_propositions([Proposition(1, "bark.01", (Argument("A0", 0),))])
    alone = sentence.alone()
    assert (alone.text, alone.start) == ("Dogs bark.", 5)
    assert alone.offsets == ((0, 4), (5, 9), (9, 10))
    assert alone.propositions == (
        Proposition(1, "bark.01", (Argument("A0", 0, None, 0, 4),), None, 5, 9),
    )
    assert alone.alone() == alone
    in_part = replace(sentence, text=text[3:], offsets=((2, 6), (7, 11), (11, 12)), start=3)
    assert in_part.alone() == alone


@pytest.mark.parametrize("given", [Sentence(("Go",)), Sentence((), text=" ", offsets=())])
def test_without_text_or_words_there_is_no_stretch(given):
    assert given.alone() is given


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


def test_conll09_reads_back(sentence):
    (read,) = read_conll09(sentence.to_conll09().splitlines())
    assert read.words == sentence.words
    assert [proposition.sense for proposition in read.propositions] == ["hit.01", "sign.01"]


def test_displacy_is_one_drawing_per_proposition(sentence):
    hit, signed = sentence.to_displacy()
    assert hit["arcs"] == []
    assert [arc["label"] for arc in signed["arcs"]] == ["A0", "A1"]


def test_notebooks_show_a_drawing(sentence):
    shown = sentence._repr_html_()
    assert "<svg" in shown and "sign.01" in shown
    shown.encode()  # a lone surrogate would stop the notebook
