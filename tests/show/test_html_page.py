"""Pages and fragments: self-contained, well-formed, with drawings and tables of propositions."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.show import html, html_fragment, html_parts
from capsrl.show.colors import role_meaning
from capsrl.show.html_page import (
    heading_html,
    line_html,
    phrases_html,
    second_best_html,
    table_html,
)
from tests.helpers.browser import (
    find_barriers,
    find_overlaps,
    needs_browser,
    open_browser,
    scroll_width,
    wait_for_width,
)
from tests.helpers.show_sentences import contract, long_sentence, with_meanings

SVG = "{http://www.w3.org/2000/svg}"
TEXT = "Hiti signed the contract yesterday and left."
XHTML = "{http://www.w3.org/1999/xhtml}"
ANY_TEXT = st.text(st.characters(codec=None), max_size=8)


@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=5), ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_gives_well_formed_html(words, sense, role, name):
    parts = (Argument(role, len(words) - 1, 0.5, meaning=name),)
    proposition = Proposition(0, sense, parts, definition=name)
    sentence = Sentence(tuple(words), id=name).with_propositions([proposition])
    ET.fromstring(html([sentence], title=name).encode())
    ET.fromstring(html_fragment(sentence).encode())


def test_every_proposition_has_a_drawing_and_a_table():
    root = ET.fromstring(html([contract(), Sentence(("Hello", "!"))]))
    first, second = root.iter(f"{XHTML}section")
    assert len(list(first.iter(f"{SVG}svg"))) == len(list(first.iter(f"{XHTML}table"))) == 2
    assert "".join(second.itertext()).strip() == "2 Hello!No predicate."
    assert "<details" not in html([contract()])  # nothing is hidden


def test_the_sentence_is_colored_for_every_proposition():
    root = ET.fromstring(html([contract()]))
    lines = [each for each in root.iter(f"{XHTML}p") if each.get("class") == "capsrl-line"]
    assert {"".join(line.itertext()) for line in lines} == {TEXT} and len(lines) == 2
    marks = [
        (each.get("data-role"), "".join(each.itertext())) for each in lines[0].iter(f"{XHTML}mark")
    ]
    assert [role for role, _ in marks] == [
        part.role for part in contract().propositions[0].arguments
    ]
    links = [each.get("href", "")[1:] for each in lines[0].iter(f"{XHTML}a")]
    ids = [each.get("id") for each in root.iter() if each.get("id")]
    assert links == ids == ["s1p1", "s1p6"]


def test_words_of_two_phrases_have_the_color_of_the_shorter():
    parts = (Argument("A1", 1, phrase=Phrase(1, 3)), Argument("A2", 3))
    sentence = Sentence(("see", "a", "<b>", "c")).with_propositions([Proposition(0, "s", parts)])
    marks = parsed(line_html(sentence, sentence.propositions[0])).findall("mark")
    assert [(each.get("data-role"), "".join(each.itertext())) for each in marks] == [
        ("A1", "a <b>"),
        ("A2", "c"),
    ]


def test_second_best():
    sentence = contract(traced=True)
    root = parsed(second_best_html(sentence, sentence.propositions[0]))
    assert [each.text for each in root.iter("dt")] == ["signed", "Hiti", "contract", "yesterday"]
    assert "".join(root.findall(".//dd")[1].find("ul/li").itertext()) == "A0 99 %"
    assert second_best_html(contract(), contract().propositions[0]) == ""


def test_iterations_are_explained_once_and_only_with_a_trace():
    traced = contract(traced=True)
    head, first, second, third, _ = html_parts([contract(), traced, traced])
    explained = ["after each iteration" in part for part in (head, first, second, third)]
    assert explained == [False, False, True, False]
    plain = html([contract(), Sentence(("Hello", "!"))])
    assert "after each iteration" not in plain and "Crossed out" not in plain


def test_notes():
    assert "A sense with ? is a guess" in html([contract()])
    calibrated = "the column probability is calibrated"
    assert calibrated in html([contract(traced=True)]) and calibrated not in html([contract()])


@needs_browser
def test_notes_explain_only_what_is_shown():
    """Narrow screens have no drawings, and with a trace no calibrated probabilities."""
    playwright = pytest.importorskip("playwright.sync_api")
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_content(html([contract(traced=True)]))
        for width in (1280, 375):
            page.set_viewport_size({"width": width, "height": 900})
            for shown in ("Phrases are underlined", "; the column probability"):
                playwright.expect(page.get_by_text(shown)).to_be_visible(visible=width > 640)
            playwright.expect(page.locator("main")).to_contain_text("Crossed out: not in")


def test_no_links_and_no_scripts():
    page = html([contract(traced=True), long_sentence()], title="Two <sentences>")
    links = re.findall(r"""(?:https?:|//)[^"'\s<)]*""", page)
    assert set(links) == {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"}
    assert not re.search(r"<script|<link|@import|url\(|\son\w+=|\sstyle=", page)
    assert "<title>Two &lt;sentences&gt;</title>" in page


def test_headings():
    page = html([contract(), replace(contract(), id="ewt-7"), Sentence(())])
    headings = ["".join(each.itertext()) for each in ET.fromstring(page).iter(f"{XHTML}h2")]
    assert headings == ["1", "ewt-7", "3 "]


def test_parts():
    def endless():
        while True:
            yield contract()

    parts = html_parts(endless())
    head, first, second = (next(parts) for _ in range(3))
    assert head.startswith("<!DOCTYPE html>")
    assert "<small>1</small>" in first and "<small>2</small>" in second


@needs_browser
def test_in_a_browser(tmp_path):
    pytest.importorskip("playwright.sync_api")
    meanings = {"sign.01": {"A0": "signer", "AM-TMP": "time"}}
    sentences = [with_meanings(contract(traced=True), meanings), long_sentence(20)]
    file = tmp_path / "page.html"
    file.write_text(html(sentences, title="Two sentences"), encoding="utf-8")
    with open_browser() as browser:
        for width, scheme in ((320, "dark"), (390, "light"), (1280, "light"), (1920, "dark")):
            size = {"width": width, "height": 800}
            page = browser.new_page(viewport=size, color_scheme=scheme)
            page.goto(file.as_uri())
            assert scroll_width(page) <= width
            assert page.locator("svg").first.is_visible() == (width > 640)
            assert page.locator("table").first.is_visible()
            assert find_overlaps(page) == []
            if width >= 1280:  # no empty third beside the table
                table, main = (
                    page.locator(each).first.bounding_box() for each in ("table", "main")
                )
                assert table["x"] + table["width"] > main["x"] + main["width"] - 4
            if width in (320, 1280):
                assert find_barriers(page) == []
            page.locator("th .capsrl-role").first.hover()
            wait_for_width(page.locator("th .capsrl-tip").first, "> 50")
            page.close()


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
def test_any_text_gives_well_formed_parts(words, sense, role, name):
    part = Argument(role, len(words) - 1, 0.5, meaning=name, phrase=Phrase(0, len(words) - 1))
    proposition = Proposition(0, sense, (part,), definition=name)
    sentence = Sentence(tuple(words)).with_propositions([proposition])
    for part in (
        heading_html(sentence.propositions[0]),
        phrases_html(sentence, proposition),
        table_html(sentence, proposition),
    ):
        root = parsed(part)
        known = {"div", "b", "i", "s", "ul", "li", "span", "small", "em"}
        assert {each.tag for each in root.iter()} <= known | {"table", "thead", "tbody"} | {
            *("tr", "th", "td", "caption")
        }


def test_heading():
    guess = Proposition(
        0, "go.02", probability=0.5, form="Go", guessed=True, definition="move <on>"
    )
    assert heading_html(guess) == (
        '<b>Go</b> <i>go.02?</i> <span class="capsrl-definition">move &lt;on&gt;</span> '
        '<span class="capsrl-sure">sure: 50 %</span>'
    )
    linked = Proposition(
        0,
        "go.02",
        form="Go",
        frames=("verbnet:escape-51.1", "framenet:Motion", "verbnet:run-51.3.2"),
    )
    assert "VerbNet escape-51.1, run-51.3.2<" in heading_html(linked)
    assert heading_html(Proposition(0, form="Go")) == "<b>Go</b> <i>?</i>"


def test_phrases_are_in_the_order_of_words_with_bold_heads():
    words = ("Yesterday", "the", "old", "man", "didn", "'t", "sell", "it")
    parts = (
        Argument("AM-TMP", 0),
        Argument("A0", 3, phrase=Phrase(1, 3), meaning="seller"),
        Argument("AM-NEG", 5),
        Argument("A1", 7),
    )
    sentence = Sentence(words).with_propositions([Proposition(6, "sell.01", parts)])
    items = parsed(phrases_html(sentence, sentence.propositions[0])).findall(".//li/span")
    assert [item.find("b").text for item in items] == ["AM-TMP", "A0", "AM-NEG", "A1"]
    assert [item.find("em").text for item in items] == ["time", "seller", "negation", None]
    text, tip = items[1].findall("span")
    assert ET.tostring(text, encoding="unicode").endswith(">the old <b>man</b></span>")
    assert tip.text == f" {role_meaning('A0')}"
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
