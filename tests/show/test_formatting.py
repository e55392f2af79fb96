"""Text that would break XML or terminals, widths, and short forms of numbers."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.sentence import Argument, Sentence, Trace
from capsrl.show.formatting import (
    RoleHistory,
    escaped,
    role_histories,
    show_offsets,
    show_percent,
    show_probability,
    text_width,
    visible,
)
from tests.helpers.show_sentences import contract, signing

ANY_TEXT = st.text(st.characters(codec=None))


@given(ANY_TEXT)
def test_escaped_text_is_xml(text):
    attribute = ET.fromstring(f'<a b="{escaped(text)}">{escaped(text)}</a>')
    assert (attribute.text or "") == attribute.get("b") == visible(text)


@pytest.mark.parametrize(
    ("probability", "shown"),
    [(0, "0 %"), (1e-6, "< 1 %"), (0.006, "1 %"), (0.5, "50 %"), (0.9999, "99 %"), (1, "100 %")],
)
def test_percent_of_what_is_not_certain(probability, shown):
    assert show_percent(probability) == shown


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


def test_worked_example():
    histories = role_histories(contract(traced=True).propositions[0])
    assert [(each.word, each.role, bool(each.argument), each.states) for each in histories] == [
        (0, "A0", True, "nnn"),
        (3, "A1", True, "fnn"),
        (4, "A1", False, "npp"),
        (4, "AM-TMP", True, "fnn"),
        (6, "A1", False, "npp"),
    ]
    assert histories[1].probs == pytest.approx((0.25, 0.625, 0.97))
    assert histories[1].best == ("none", "A1", "A1")
    assert histories[2].best == histories[3].best == ("A1", "AM-TMP", "AM-TMP")
    left = histories[4]
    assert left == RoleHistory(6, "A1", None, left.probs, ("A1", "none", "none"))
    assert left.probs == pytest.approx((0.75, 0.5, 0.1))


def test_argument_below_the_threshold_is_not_kept():
    proposition = contract(traced=True).propositions[0]
    bare = replace(proposition, arguments=proposition.arguments[:1])
    dropped = role_histories(bare)[1]
    assert (dropped.word, dropped.role, dropped.argument, dropped.states) == (3, "A1", None, "fnp")


def test_argument_that_was_never_most_probable():
    proposition = contract(traced=True).propositions[0]
    forced = replace(proposition, arguments=(Argument("A0", 3),))
    histories = {(each.word, each.role): each.states for each in role_histories(forced)}
    assert histories[3, "A0"] == "ffn"


def test_arguments_without_a_trace():
    proposition = contract().propositions[0]
    rows = role_histories(proposition)
    assert [row.argument for row in rows] == list(proposition.arguments)
    assert {(row.probs, row.states) for row in rows} == {((), "")}
    traced = contract(traced=True).propositions[0]
    assert role_histories(traced, steps=False) == rows != role_histories(traced)


def test_without_arguments_or_words():
    proposition = replace(contract().propositions[0], arguments=())
    assert role_histories(proposition) == []
    empty = Trace(roles=("_", "A0"), beliefs=np.zeros((1, 0, 2), dtype=np.float32))
    assert role_histories(replace(proposition, trace=empty)) == []


@pytest.mark.parametrize("argument", [Argument("A9", 0), Argument("A0", 8)])
def test_trace_of_another_proposition(argument):
    proposition = replace(contract().propositions[0], arguments=(argument,), trace=signing())
    wanted = f"expected .* of {{{argument.word}: '{argument.role}'}}, got 4 roles and 8 words"
    with pytest.raises(ValueError, match=wanted):
        role_histories(proposition)
