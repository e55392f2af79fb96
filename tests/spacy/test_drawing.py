"""Drawings of Docs by displaCy."""

import re

import pytest
from spacy import displacy
from spacy.tokens import Doc

from capsrl.errors import ConfigError
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.colors import role_color
from capsrl.spacy import displacy_colors, to_displacy
from capsrl.spacy.drawing import add_colors
from tests.helpers.show_sentences import contract, long_sentence
from tests.helpers.spacy_docs import TEXT, labeled


def test_spans_of_each_proposition(nlp):
    signed, read = to_displacy(nlp(TEXT))
    assert signed["tokens"] == ["Hiti", "signed", "the", "contract", "yesterday", "."]
    assert [
        (span["label"], span["kb_id"], span["start_token"], span["end_token"])
        for span in signed["spans"]
    ] == [("V", "sign.02", 1, 2), ("A0", "", 0, 1), ("A1", "", 2, 4), ("AM-TMP", "", 4, 5)]
    assert read["tokens"][0] == "She" and read["spans"][0]["start_token"] == 3


def test_arcs(nlp):
    signed, read = to_displacy(nlp(TEXT), style="dep")
    assert [(arc["start"], arc["end"], arc["label"]) for arc in signed["arcs"]] == [
        (0, 1, "A0"),
        (1, 3, "A1"),
        (1, 4, "AM-TMP"),
    ]
    assert read["words"][3] == {"text": "read", "tag": "read.01"}


def test_arcs_of_sentences():
    sentence = contract()
    drawn, other = to_displacy([sentence], style="dep")
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
    drawings = to_displacy([sentence], style="dep")
    for proposition, drawn in zip(sentence.propositions, drawings, strict=True):
        for arc in drawn["arcs"]:
            assert 0 <= arc["start"] < arc["end"] < len(sentence)
            target = arc["start"] if arc["dir"] == "left" else arc["end"]
            assert {arc["start"], arc["end"]} == {proposition.predicate, target}


def test_own_role_is_in_the_tag():
    own = Proposition(1, "win.01", (Argument("A0", 1),))
    [drawn] = to_displacy([Sentence(("the", "winner"), (own,))], style="dep")
    assert drawn["arcs"] == []
    assert drawn["words"][1] == {"text": "winner", "tag": "win.01 A0"}


def test_nothing_to_draw(nlp):
    assert to_displacy(Doc(nlp.vocab)) == to_displacy(nlp("Yes.")) == []


def test_unknown_style(nlp):
    with pytest.raises(ConfigError, match="style: expected span or dep, got 'ent'"):
        to_displacy(nlp("Go."), style="ent")


@pytest.mark.parametrize("style", ["span", "dep"])
def test_displacy_draws_them(nlp, style):
    html = displacy.render(to_displacy(nlp(TEXT), style=style), style=style, manual=True)
    for label in ("A0", "A1", "AM-TMP", "AM-NEG", "sign.02", "read.01"):
        assert label in html


def test_displacy_draws_docs_in_the_colors_of_roles():
    """They need not be named in the options."""
    html = displacy.render(labeled(), style="span", options={"spans_key": "capsrl"})
    assert "sell.01" in html
    drawn = set(re.findall(r"#[0-9a-f]{6}", html))
    assert drawn >= {role_color(role, dark=True) for role in ("A0", "A1", "AM-TMP")}
    assert "#ddd" not in html  # displaCy's color of unknown labels


def test_labels_are_readable():
    """Black on any color has at least the contrast that WCAG 2 asks for."""

    def luminance(color: str) -> float:
        parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for color in displacy_colors().values():
        assert (luminance(color) + 0.05) / 0.05 >= 4.5


def test_roles_of_other_models():
    assert "arg1-pat" not in displacy_colors()
    add_colors(["arg1-pat"])
    assert displacy_colors()["arg1-pat"] == displacy_colors()["A1"] == role_color("A1", dark=True)
