"""Words that break XML, terminals or drawings, and how wide they are."""

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.text import check_positions, describe, escaped, text_width, visible

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_escaped_text_is_xml_and_means_the_visible_text(text):
    attribute = ET.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert (attribute.text or "") == attribute.get("b") == visible(text)


@given(ANY_TEXT)
def test_visible_text_goes_through_utf8_on_one_line(text):
    shown = visible(text)
    assert shown.encode().decode() == shown
    assert len(shown) == len(text)
    assert len(shown.splitlines()) <= 1


def test_signs_for_what_cannot_be_shown():
    assert visible("a\tb\x1b[31m\x7f\x85\ud800\uffff\u2028") == "a␉b␛[31m␡\ufffd\ufffd\ufffd\ufffd"
    assert visible("naïve 首次 🙂 עברית") == "naïve 首次 🙂 עברית"


def test_wide_characters_count_about_double():
    assert 1.5 < text_width("首次", 10) / text_width("ab", 10) < 2.5
    assert text_width("iiii", 10) < text_width("aaaa", 10) < text_width("WWWW", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("abc", 20) == 2 * text_width("abc", 10)


def test_descriptions_by_sense():
    known = {"sign.01": {"A0": "signer", "C-A1": "rest of it", "A1": "document"}}
    assert describe("A0", "sign.01", known) == "signer"
    assert describe("R-A0", "sign.01", known) == "signer"
    assert describe("C-A1", "sign.01", known) == "rest of it"
    assert describe("A2", "sign.01", known) == ""
    assert describe("A0", "sign.02", known) == ""
    assert describe("A0", None, known) == ""
    assert describe("A0", "sign.01", None) == ""


@pytest.mark.parametrize("proposition", [Proposition(2), Proposition(0, "x", (Argument("A0", 7),))])
def test_positions_outside_are_refused(proposition):
    with pytest.raises(ValueError, match=r"sentence 'a b': \[.*[27]\] are not all among 2 words"):
        check_positions(Sentence(("a", "b")), [proposition])
