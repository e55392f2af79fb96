"""The dictionaries that displaCy draws."""

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show import to_displacy
from tests.helpers.show_sentences import contract, long_sentence


def test_worked_example():
    sentence = contract()
    drawn, other = to_displacy(sentence)
    assert other["words"][6] == {"text": "left", "tag": "leave.01"}
    assert [word["text"] for word in drawn["words"]] == list(sentence.words)
    assert [word["tag"] for word in drawn["words"]] == ["", "sign.01", "", "", "", "", "", ""]
    assert drawn["arcs"] == [
        {"start": 0, "end": 1, "label": "A0", "dir": "left"},
        {"start": 1, "end": 3, "label": "A1", "dir": "right"},
        {"start": 1, "end": 4, "label": "AM-TMP", "dir": "right"},
    ]


def test_arcs_have_the_form_that_displacy_requires():
    sentence = long_sentence()
    for proposition, drawn in zip(sentence.propositions, to_displacy(sentence), strict=True):
        for arc in drawn["arcs"]:
            assert 0 <= arc["start"] < arc["end"] < len(sentence)
            target = arc["start"] if arc["dir"] == "left" else arc["end"]
            assert {arc["start"], arc["end"]} == {proposition.predicate, target}


def test_own_role_is_in_the_tag():
    own = Proposition(1, "win.01", (Argument("A0", 1),))
    [drawn] = to_displacy(Sentence(("the", "winner"), (own,)))
    assert drawn["arcs"] == []
    assert drawn["words"][1] == {"text": "winner", "tag": "win.01 A0"}


def test_unknown_sense():
    [drawn] = to_displacy(Sentence(("go",), (Proposition(0),)))
    assert drawn["words"] == [{"text": "go", "tag": ""}]
    assert to_displacy(Sentence(("go",))) == []
