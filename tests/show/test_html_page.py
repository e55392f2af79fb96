"""Pages and fragments: self-contained, well-formed, with drawings and tables of propositions."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show import html, html_fragment, html_parts
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
    assert "".join(second.itertext()).strip() == "2 Hello !No predicate."
    assert "<details" not in html([contract(traced=True)])  # nothing is hidden


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
    text = "Hiti signed the contract yesterday and left."
    assert headings == [f"1 {text}", f"ewt-7 {text}", "3 "]


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
            if width in (320, 1280):
                assert find_barriers(page) == []
            page.locator("th .capsrl-role").first.hover()
            wait_for_width(page.locator("th .capsrl-tip").first, "> 50")
            page.close()
