"""Text that would break XML or terminals, widths, and short forms of numbers."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from capsrl.sentence import Argument, Sentence
from capsrl.show.formatting import escaped, show_offsets, show_probability, text_width, visible

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_escaped_text_is_xml(text):
    attribute = ET.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert (attribute.text or "") == attribute.get("b") == visible(text)


@given(ANY_TEXT)
def test_visible_text_is_one_line_of_utf8(text):
    shown = visible(text)
    assert shown.encode().decode() == shown
    assert len(shown) == len(text)
    assert len(shown.splitlines()) <= 1


def test_symbols_of_unprintable_characters():
    assert visible("a\tb\x1b[31m\x7f\x85\ud800\uffff\u2028") == "a␉b␛[31m␡\ufffd\ufffd\ufffd\ufffd"
    assert visible("naïve 首次 🙂 עברית") == "naïve 首次 🙂 עברית"


def test_text_width():
    assert 1.5 < text_width("首次", 10) / text_width("ab", 10) < 2.5
    assert text_width("iiii", 10) < text_width("aaaa", 10) < text_width("WWWW", 10)
    assert text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("abc", 20) == 2 * text_width("abc", 10)


def test_probabilities_and_offsets():
    assert (show_probability(0.256), show_probability(None)) == ("0.26", "")
    part = Argument("A0", 0, start=3, end=7)
    assert show_offsets(part, Sentence(("a",))) == "3-7"
    assert show_offsets(part, Sentence(("a",), start=10)) == "13-17"
    assert show_offsets(Argument("A0", 0), Sentence(("a",))) == ""
