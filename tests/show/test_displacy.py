"""The dictionaries that displaCy draws, checked against what it asks for."""

import pytest

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show import to_displacy
from tests.helpers.show_sentences import contract, long_sentence


def test_worked_example():
    sentence = contract()
    drawn = to_displacy(sentence, sentence.propositions[0])
    assert [word["text"] for word in drawn["words"]] == list(sentence.words)
    assert [word["tag"] for word in drawn["words"]] == ["", "sign.01", "", "", "", "", "", ""]
    assert drawn["arcs"] == [
        {"start": 0, "end": 1, "label": "A0", "dir": "left"},
        {"start": 1, "end": 3, "label": "A1", "dir": "right"},
        {"start": 1, "end": 4, "label": "AM-TMP", "dir": "right"},
    ]


def test_what_displacy_asks_of_arcs():
    sentence = long_sentence()
    for proposition in sentence.propositions:
        for arc in to_displacy(sentence, proposition)["arcs"]:
            assert 0 <= arc["start"] < arc["end"] < len(sentence)
            target = arc["start"] if arc["dir"] == "left" else arc["end"]
            assert {arc["start"], arc["end"]} == {proposition.predicate, target}


def test_own_role_stands_in_the_tag():
    sentence = Sentence(("the", "winner"))
    own = Proposition(1, "win.01", (Argument("A0", 1),))
    drawn = to_displacy(sentence, own)
    assert drawn["arcs"] == []
    assert drawn["words"][1] == {"text": "winner", "tag": "win.01 A0"}


def test_unknown_sense_and_wrong_position():
    assert to_displacy(Sentence(("go",)), Proposition(0))["words"] == [{"text": "go", "tag": ""}]
    with pytest.raises(ValueError, match=r"\[3\] are not all among 1 words"):
        to_displacy(Sentence(("go",)), Proposition(3))
