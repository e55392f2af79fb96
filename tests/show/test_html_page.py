"""Pages and fragments: self-contained, well-formed, with tables of propositions."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show import html, html_fragment, html_parts
from tests.helpers.show_sentences import contract, long_sentence, with_meanings

XHTML = "{http://www.w3.org/1999/xhtml}"
MEANINGS = {"sign.01": {"A0": "signer", "A1": "thing <signed>"}}
ANY_TEXT = st.text(st.characters(codec=None), max_size=8)


def table_rows(table: ET.Element) -> list[list[str]]:
    rows = [row for row in table.iter() if row.tag.removeprefix(XHTML) == "tr"]
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def tables(root: ET.Element) -> list[ET.Element]:
    return [element for element in root.iter() if element.tag.removeprefix(XHTML) == "table"]


@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=5), ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_any_text_gives_well_formed_html(words, sense, role, name):
    parts = (Argument(role, len(words) - 1, 0.5, meaning=name),)
    proposition = Proposition(0, sense, parts, definition=name)
    sentence = Sentence(tuple(words), id=name).with_propositions([proposition])
    ET.fromstring(html([sentence], title=name).encode())
    ET.fromstring(html_fragment(sentence).encode())


def test_tables():
    sentence = with_meanings(contract(), MEANINGS)
    first, second = tables(ET.fromstring(html_fragment(sentence)))
    assert table_rows(first) == [
        ["role", "word", "probability", "characters", "meaning"],
        ["A0", "Hiti", "0.99", "0-4", "signer"],
        ["A1", "contract", "0.97", "16-24", "thing <signed>"],
        ["AM-TMP", "yesterday", "0.95", "25-34", ""],
    ]
    assert table_rows(second)[0] == ["role", "word", "probability", "characters"]


def test_definitions():
    sentence = Sentence(("Go",)).with_propositions(
        [Proposition(0, "go.02", definition="move <on>")]
    )
    assert "<b>Go</b> <i>go.02</i>: move &lt;on&gt;</caption>" in html_fragment(sentence)


def test_empty_columns_are_left_out():
    read = Sentence(("go", "on")).with_propositions(
        [Proposition(0, "go.01", (Argument("A1", 1),)), Proposition(1, None)]
    )
    first, second = tables(ET.fromstring(html_fragment(read)))
    assert table_rows(first) == [["role", "word"], ["A1", "on"]]
    assert table_rows(second) == []
    assert "".join(second.itertext()) == "on ?"


def test_trace():
    shown = html_fragment(contract(traced=True))
    first, second = tables(ET.fromstring(shown))
    assert [row[-3:] for row in table_rows(first)] == [
        ["start", "1", "2"],
        ["0.50", "0.75", "0.99"],
        ["0.25 none", "0.62", "0.97"],
        ["0.25 A1", "0.75", "0.95"],
        ["0.75", "0.50 none", "0.10 none"],
    ]
    assert table_rows(first)[-1][:2] == ["(A1)", "left"]
    assert "start" not in table_rows(second)[0]
    assert "<details open" in shown and "not in the result" in shown
    assert "<details open" not in html_fragment(contract())


def test_no_links_and_no_scripts():
    page = html([contract(traced=True), long_sentence()], title="Two <sentences>")
    links = re.findall(r"""(?:https?:|//)[^"'\s<)]*""", page)
    assert set(links) == {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"}
    assert not re.search(r"<script|<link|@import|url\(|\son\w+=", page)
    assert "<title>Two &lt;sentences&gt;</title>" in page


def test_headings():
    page = html([contract(), replace(contract(), id="ewt-7"), Sentence(())])
    root = ET.fromstring(page)
    assert [heading.text for heading in root.iter(f"{XHTML}h2")] == ["1", "ewt-7", "3"]


def test_parts():
    def endless():
        while True:
            yield contract()

    parts = html_parts(endless())
    head, first, second = (next(parts) for _ in range(3))
    assert head.startswith("<!DOCTYPE html>")
    assert "<h2>1</h2>" in first and "<h2>2</h2>" in second
