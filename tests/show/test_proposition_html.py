"""Headings, phrases by role and tables of propositions."""

import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.show.colors import role_meaning
from capsrl.show.proposition_html import heading_html, phrases_html, table_html
from tests.helpers.show_sentences import contract, with_meanings

MEANINGS = {"sign.01": {"A0": "signer", "A1": "thing <signed>"}}
ANY_TEXT = st.text(st.characters(codec=None), max_size=8)


def parsed(html: str) -> ET.Element:
    return ET.fromstring(f"<div>{html}</div>".encode())


def rows_of(sentence: Sentence) -> list[list[str]]:
    """The cells of the table of the first proposition, without the meanings of roles."""
    root = parsed(table_html(sentence, sentence.propositions[0]))
    for tip in [each for each in root.iter("span") if each.get("data-role")]:
        for child in [each for each in tip if each.tag == "span"]:
            tip.remove(child)
    return [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]


@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=5), ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_gives_well_formed_html(words, sense, role, name):
    part = Argument(role, len(words) - 1, 0.5, meaning=name, phrase=Phrase(0, len(words) - 1))
    proposition = Proposition(0, sense, (part,), definition=name)
    sentence = Sentence(tuple(words)).with_propositions([proposition])
    for html in (
        heading_html(sentence.propositions[0]),
        phrases_html(sentence, proposition),
        table_html(sentence, proposition),
    ):
        root = parsed(html)
        known = {"div", "b", "i", "s", "ul", "li", "span", "small"}
        assert {each.tag for each in root.iter()} <= known | {"table", "thead", "tbody"} | {
            *("tr", "th", "td")
        }


def test_heading():
    guess = Proposition(
        0, "go.02", probability=0.5, form="Go", guessed=True, definition="move <on>"
    )
    assert heading_html(guess) == (
        '<b>Go</b> <i>go.02? 0.50</i> <span class="capsrl-definition">move &lt;on&gt;</span>'
    )
    assert heading_html(Proposition(0, form="Go")) == "<b>Go</b> <i>?</i>"


def test_phrases_are_sorted_by_role_with_bold_heads():
    words = ("Yesterday", "the", "old", "man", "didn", "'t", "sell", "it")
    parts = (
        Argument("AM-TMP", 0),
        Argument("A0", 3, phrase=Phrase(1, 3), meaning="seller"),
        Argument("AM-NEG", 5),
        Argument("A1", 7),
    )
    sentence = Sentence(words).with_propositions([Proposition(6, "sell.01", parts)])
    items = parsed(phrases_html(sentence, sentence.propositions[0])).findall(".//li/span")
    assert [item.find("b").text for item in items] == ["A0", "A1", "AM-TMP", "AM-NEG"]
    text, tip = items[0].findall("span")
    assert ET.tostring(text, encoding="unicode").endswith(">the old <b>man</b></span>")
    assert tip.text == f" seller; {role_meaning('A0')}"
    assert all(item.get("tabindex") == "0" for item in items)
    assert phrases_html(Sentence(("go",)), Proposition(0)) == ""


def test_table():
    assert rows_of(with_meanings(contract(), MEANINGS)) == [
        ["role", "words", "probability"],
        ["A0", "Hitisigner", "0.99"],
        ["A1", "contractthing <signed>", "0.97"],
        ["AM-TMP", "yesterday", "0.95"],
    ]


def test_table_without_probabilities_or_arguments():
    parts = (Argument("A1", 1),)
    read = Sentence(("go", "on")).with_propositions([Proposition(0, "go.01", parts)])
    assert rows_of(read) == [["role", "words"], ["A1", "on"]]
    assert table_html(read, Proposition(1, "on.01")) == ""


def test_trace():
    assert rows_of(contract(traced=True)) == [
        ["role", "words", "probability", "start", "1", "2"],
        ["A0", "Hiti", "0.99", "0.50", "0.75", "0.99"],
        ["A1", "contract", "0.97", "0.25", "0.62", "0.97"],
        ["A1", "yesterday", "", "0.75", "0.25", ""],
        ["AM-TMP", "yesterday", "0.95", "0.25", "0.75", "0.95"],
        ["A1", "left", "", "0.75", "0.50", "0.10"],
    ]
    root = parsed(table_html(contract(traced=True), contract(traced=True).propositions[0]))
    rows = root.findall(".//tbody/tr")
    assert [row.get("data-states") for row in rows] == ["nnn", "fnn", "npp", "fnn", "npp"]
    assert [row.find(".//s") is not None for row in rows] == [False, False, True, False, True]


def test_steps_without_a_number_are_left_out():
    sentence = contract(traced=True)
    trace = sentence.propositions[0].trace
    assert trace is not None
    trace.beliefs[0] = 0.02
    assert rows_of(sentence)[0] == ["role", "words", "probability", "1", "2"]
