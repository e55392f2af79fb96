"""HTML to text with the place of every character; every page here was written for the test."""

import html
import sys
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.text.markup import PlainText

PIECES = (
    ["<", ">", "</", "<!", "<!--", "-->", "--", "<?", "/", "=", '"', "'", "&", "#", ";", "x"]
    + ["<b>", "</b>", "<p>", "<br/>", "<a href='", "<script>", "</script>", "<pre>", "</pre>"]
    + ["&amp;", "&amp", "&#39;", "&nbsp;", "&nosuch;", "&#x", " ", "\n", "\xad", "a", "Bo", "é"]
)
MESS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def check_places(source: str) -> None:
    """Every character comes from its place, in order, as it is or as an entity."""
    plain = PlainText(source)
    before = 0
    for position, character in enumerate(plain.text):
        start, end = plain.find(position, position + 1)
        assert before <= start < end <= len(source)
        there = source[start:end]
        if character == "\n" and there[0] == "<":  # a block element or <br>
            continue
        same = there == character or character in html.unescape(there)
        assert same or (character == " " and there.isspace())
        before = start


@given(st.text(max_size=100) | MESS)
def test_every_character_has_its_place(source):
    check_places(source)


@given(st.text(st.characters(exclude_characters="<&\xad"), max_size=100))
def test_text_without_markup_is_the_same(source):
    plain = PlainText(source)
    assert plain.text == source
    assert all(plain.find(i, i + 1) == (i, i + 1) for i in range(len(source)))


def test_a_worked_example():
    source = "She <b>sold</b> Ben &amp; Co. it"
    plain = PlainText(source)
    assert plain.text == "She sold Ben & Co. it"
    start, end = plain.find(4, 8)
    assert source[start:end] == "sold"
    start, end = plain.find(9, 14)
    assert source[start:end] == "Ben &amp;"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("un<i>believ</i>able", "unbelievable"),
        ("a<!-- b > c -- d -->e", "ae"),
        ("a<!-->b<!--->c<!--d--!>e", "abce"),
        ("a<!-- never closed > b", "a"),
        ("<!DOCTYPE html>a<?php echo 1 ?>b<![CDATA[c]]>d", "abd"),
        ('a<a title="x > y" href=\'>\'>b</a>c', "abc"),
        ("a<b don't>c", "ac"),
        ("a<SCRIPT>if (b < c) d('</b>')</Script >e<style\n>p > q {}</style>f", "aef"),
        ("a<scripture>b</scripture>c", "abc"),
        ("a<script>never closed > b", "a"),
        ("I <3 you & me", "I <3 you & me"),
        ("<b>1 < 2</b>, x<y and z", "1 < 2, x<y and z"),
        ("a</>b</ c>d", "abd"),
        ("<![ x", "<![ x"),
        ("x &lt;b&gt; y", "x <b> y"),
        ("AT&T, R&amp;D, Q&A", "AT&T, R&D, Q&A"),
        ("&ampsold &eacute;t&eacute &notit; &nosuch;", "&sold été ¬it; &nosuch;"),
        ("&#x20ac;&#8364;&#128;", "€€€"),
        ("&#" + "9" * 5000 + ";", "\ufffd" + "9" * 4988 + ";"),
        ("in&shy;for\xadma&#173;tion", "information"),
        ("a<br>b<br />c", "a\nb\nc"),
        ("<p>a</p><P>b</P>", "\n\na\n\n\n\nb\n\n"),
        ("<ul><li>a<li>b</ul>", "\n\n\n\na\n\nb\n\n"),
        ("<td>a</td><td>b</td>", "\n\na\n\n\n\nb\n\n"),
        ("a\nb", "a\nb"),
        ("<b>a</b>\n\nb", "a\n\nb"),
        ("a\nb<br>\r\nc", "a b\n  c"),
        ("<pre>a\nb</pre>c\nd", "\n\na\nb\n\nc d"),
    ],
)  # fmt: skip
def test_text_of_html(source, text):
    assert PlainText(source).text == text
    check_places(source)


def test_lines_are_kept_on_request():
    assert PlainText("<p>a\nb</p>", keep_lines=True).text == "\n\na\nb\n\n"


class Collector(HTMLParser):
    """What Python's own parser takes for text."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(data)


WORDS = st.lists(
    st.sampled_from(["Bo", "sold", "R&amp;D", "it&#39;s", "&lt;3", "1 &lt; 2", "caf&eacute;"]),
    max_size=4,
).map(" ".join)
TAGS = ("b", "i", "a href='x>y'", 'span title="a &amp; b"', "div", "p", "li", "script", "style")


def element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def build(tag: str, parts: list[str]) -> str:
        name = tag.split()[0]
        content = "if (1) x()" if name in ("script", "style") else "".join(parts)
        return f"<{tag}>{content}</{name}>"

    return st.builds(build, st.sampled_from(TAGS), st.lists(inside, max_size=3))


PAGES = st.recursive(WORDS | st.just("<!-- no -->") | st.just("<br/>"), element, max_leaves=12)


@given(st.lists(PAGES, max_size=4).map(" ".join))
def test_well_formed_html_has_the_text_that_the_standard_library_finds(page):
    theirs = Collector()
    theirs.feed(page)
    theirs.close()
    assert "".join(PlainText(page).text.split()) == "".join("".join(theirs.parts).split())


def steps(source: str) -> int:
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        PlainText(source)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("piece", ["<b>a</b>", "&amp;", "a<br>", "<!-- a -->", "\xad", "<", "&"])
def test_steps_grow_no_faster_than_the_text(piece):
    assert steps(piece * 4000) <= 4.2 * steps(piece * 1000)


@pytest.mark.parametrize(
    "piece", ["<a ", "<!--", "</a ", "<!", "<?", '<a x="', "<a ='>", "<a = ", "<script", "&a", "&#"]
)
@pytest.mark.parametrize("end", ["", ">", '">"'])
def test_the_time_for_unclosed_markup_is_linear(piece, end):
    begin = time.process_time()
    PlainText(piece * (500_000 // len(piece)) + end)
    assert time.process_time() - begin < 30  # about a second; quadratic time would be minutes
