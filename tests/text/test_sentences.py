"""Raw text to sentences; every text here was written for the test."""

import re
import sys
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.text import Layout
from capsrl.text import sentences as splitting
from capsrl.text.sentences import (
    MAX_WORDS,
    iter_paragraphs,
    read_text,
    split_lines,
    split_text,
)
from capsrl.text.tokenizer import BLANK

ANYTHING = st.text(st.characters(), max_size=200)  # surrogates and controls included
HTML = Layout(html=True)
PER_LINE = Layout(one_sentence_per_line=True)
MARKED = st.text("aB1 .!?\n\r\t,;:-'\")(…é漢👍\u200d\x00\ud800\u2028", max_size=200)


def sentences(text: str, layout: Layout = Layout()) -> list[str]:  # noqa: B008
    return [" ".join(sentence.words) for sentence in read_text(text, layout)]


def check_offsets(text: str) -> None:
    position = 0
    for sentence in split_text(text):
        assert sentence.text is text
        assert sentence.offsets is not None
        assert 0 < len(sentence.words) == len(sentence.offsets) <= MAX_WORDS
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert text[start:end] == word != ""
            assert start >= position
            # what lies between two words is blank, and no word holds a blank
            assert re.fullmatch(f"[{BLANK}]*", text[position:start])
            assert re.search(f"[{BLANK}]", word) is None
            position = end
    assert re.fullmatch(f"[{BLANK}]*", text[position:])


@given(ANYTHING | MARKED)
def test_offsets_are_exact_and_every_visible_character_is_in_one_word(text):
    check_offsets(text)


def test_a_worked_example():
    text = "Hiti signed the contract.  She didn't read it!"
    first, second = read_text(text)
    assert first.words == ("Hiti", "signed", "the", "contract", ".")
    assert first.offsets == ((0, 4), (5, 11), (12, 15), (16, 24), (24, 25))
    assert second.words == ("She", "did", "n't", "read", "it", "!")
    assert second.offsets is not None
    assert second.offsets[:3] == ((27, 30), (31, 34), (34, 37))


@pytest.mark.parametrize(
    "marked",
    [
        "She left.|He stayed.",
        "Is it?|Yes!!|Good...|Fine.",
        '"Stop!"|He ran.',
        '"Stop!" he said.',
        "(We won.)|They lost.",
        "They won!).|They lost.",
        "Mr. Brown met Dr. A. Smith in St. Ives.",
        "The U.S. army left.",
        "It is in the U.S.|They like it.",
        "She works at Orbit Inc.|The pay is good.",
        "Bring milk, eggs, etc. and come.",
        "See No. 5 on page 3.",
        "No.|Not five.",
        "I was ... surprised.",
        "1. Open the box.",
        "Thanks :)|See you.",
        "it works.|lower case follows.",
        "Well . . . maybe.",
        "他走了。|她来了。",
        "Write to anna@example.com.|She knows.",
    ],
)
def test_where_sentences_end(marked):
    text = marked.replace("|", " ")
    spans = [(sentence.offsets[0][0], sentence.offsets[-1][1]) for sentence in read_text(text)]
    assert [text[start:end] for start, end in spans] == marked.split("|")


def test_the_last_dot_of_an_abbreviation_at_the_end_is_a_word():
    assert sentences("We rose at 6 a.m.") == ["We rose at 6 a.m ."]
    assert sentences("It is in the U.S. They like it.") == ["It is in the U.S .", "They like it ."]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Its a shame.", "It s a shame ."),
        ("i think its not true", "i think it s not true"),
        ("Your\n going to love it", "You r going to love it"),
        ("the one whose not here", "the one who se not here"),
        ("ill call u, id say", "i ll call u , i d say"),
        ("its. Not its", "its . Not its"),
        ("its so-called army", "its so - called army"),
        ("Its army and your theory, whose goal", "Its army and your theory , whose goal"),
        ("He fell ill, his id card, its", "He fell ill , his id card , its"),
        ("See No. 5 and its No. 5", "See No. 5 and its No. 5"),
    ],
)
def test_contractions_without_their_apostrophe_are_cut_where_the_next_word_shows_them(text, words):
    assert " ".join(sentences(text)) == words


@pytest.mark.parametrize("text", ["", " ", "\n\n \t\r\n", "\x00\x07", "\ufeff", "\u200b\u2060"])
def test_text_without_anything_visible_has_no_sentences(text):
    assert read_text(text) == []


@pytest.mark.parametrize(
    "text", ["😀", "👩‍👩‍👧‍👦", "🇫🇮", "\ud800", "\ue000", ".", "a", "\u0301", "☎️"]
)
def test_one_character_is_one_word(text):
    (sentence,) = read_text(text)
    assert sentence.words == (text,)


def test_control_characters_separate_words_and_belong_to_none():
    (sentence,) = read_text("\ufeffone\x00two \x1bthree\u200b.")
    assert sentence.words == ("one", "two", "three", ".")


def test_a_blank_line_ends_a_sentence():
    assert sentences("A heading\n\nand the text") == ["A heading", "and the text"]
    assert sentences("A heading\r\n \t\r\nand the text") == ["A heading", "and the text"]


def test_short_lines_are_sentences_of_their_own():
    assert sentences("Dear Anna,\nthank you\nBest,\nBo") == [
        "Dear Anna ,",
        "thank you",
        "Best ,",
        "Bo",
    ]


def test_very_long_lines_are_paragraphs():
    line = "we walked and talked " * 8 + "until dawn"
    assert len(sentences(f"{line}\n{line}")) == 2


PROSE = (
    "The committee met on Tuesday to hear the report of its three members who had travelled north. "
    "Nobody had read it before the meeting, so the chair asked for a short break of ten minutes. "
    "When they came back the coffee was cold and the report had vanished from the table entirely."
)


@pytest.mark.parametrize("width", range(50, 100, 7))
def test_lines_wrapped_to_a_width_are_joined_again(width):
    wrapped = textwrap.fill(PROSE, width)
    assert "\n" in wrapped
    assert sentences(wrapped) == sentences(PROSE)


def test_a_long_address_on_its_own_line_does_not_hide_that_text_is_wrapped():
    address = "http://example.com/" + "a" * 150
    wrapped = textwrap.fill(f"{PROSE} See {address} for it.", 60, break_long_words=False)
    assert f"\n{address}\n" in wrapped
    assert sentences(wrapped)[:3] == sentences(PROSE)


@pytest.mark.parametrize("width", [20, 30, 130, 200])
def test_lines_of_any_width_are_joined_before_lower_case(width):
    wrapped = textwrap.fill(PROSE, width)
    assert "\n" in wrapped
    assert sentences(wrapped) == sentences(PROSE)


@pytest.mark.parametrize(
    "text",
    [
        "My order was placed on 3 May\nand has not arrived.",
        "It was written by Dr. Jones\nand her colleagues",
        "We went to the\nstore and bought milk\nand bread",
        "She asked Mr.\nSmith to leave.",
        "Please ask Dr.\r\nBrown.",
        "They joined the\nEuropean Union.",
        "We met Anna, Bo, Carla and Dan,\nwho had come by train.",
        "The shop closes at 5 p.m.\nand opens at nine.",
        "We sell milk, eggs, etc.\nto anybody who asks.",
        "Nobody has ever seen\nEngland from there, because\nof the fog and the rain.",
        "We flew from\nParis to\nRome.",
        "my order was placed on 3 May\nand has not arrived.",  # no capitals, but *and*
        "i wrote to the shop on Monday\nthat nothing had come so far\nwhich nobody believed",
    ],
)
def test_a_line_break_inside_a_sentence(text):
    assert sentences(text) == [" ".join(read_text(" ".join(text.split()))[0].words)]
    check_offsets(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dear Anna,\nthank you for the book",  # a greeting
        "milk\neggs\nand bread",  # a list without capitals
        "hey\nare you there\ni am late",  # a chat
        "Shopping\nmilk\neggs",  # narrow lines
        "Things to buy today:\nmilk and eggs",
        "No.\nWe are closed.",
        "First of all we are late\na) pack the bags\nb) go",
        "The great escape\nIt was late when they left the house.",  # a heading
    ],
)
def test_a_line_break_between_sentences(text):
    assert len(sentences(text)) == len(text.split("\n"))


def test_one_break_inside_a_sentence_among_many_lines():
    """Lines that are sentences stay apart; only the one that begins in lower case is joined."""
    notes = "Call Anna\nPay the rent\nWater the plants\nFeed the cat"
    text = f"{notes}\nAsk Bo for the key\nand bring it back"
    assert sentences(text) == [*notes.split("\n"), "Ask Bo for the key and bring it back"]


@pytest.mark.parametrize("width", [24, 30, 130, 180])
def test_lower_case_text_wrapped_to_an_unusual_width_is_joined(width):
    text = PROSE.lower().replace(".", ";") * 2
    wrapped = textwrap.fill(text, width)
    assert len(wrapped.split("\n")) > 2
    assert len(read_text(wrapped)) == 1


@pytest.mark.parametrize("name", ["Yahoo! Inc.", "Yahoo! Inc", "Jump! Ltd.", "Go! LLC"])
def test_a_company_with_an_exclamation_mark(name):
    assert len(sentences(f"Last year {name} was sold.")) == 1


def test_items_of_a_wrapped_list_stay_apart():
    text = (
        "- bring the red folder with last year's figures and\n"
        "- bring the blue one with the plans for next summer\n"
        "2) leave the rest where it is, nobody will need it"
    )
    assert [sentence.split()[0] for sentence in sentences(text)] == ["-", "-", "2"]


def test_a_dash_that_begins_a_wrapped_line_is_not_an_item():
    text = (
        "The trip took them all of the last week of June\n"
        "- the hottest week in living memory, said Anna."
    )
    assert len(read_text(text)) == 1


def test_ten_thousand_words_without_a_stop_are_cut_at_commas():
    text = "walk on and on and on, " * 1500
    cut = read_text(text)
    assert all(len(sentence) <= MAX_WORDS for sentence in cut)
    assert all(sentence.words[-1] == "," for sentence in cut)
    assert sum(map(len, cut)) == 1500 * 7
    assert len(cut) < 2 * 1500 * 7 / MAX_WORDS
    check_offsets(text)


def test_words_without_any_mark_are_cut_at_the_limit():
    cut = read_text("on " * 10_000)
    assert [len(sentence) for sentence in cut[:-1]] == [MAX_WORDS - 1] * (len(cut) - 1)
    assert sum(map(len, cut)) == 10_000


def steps(text: str) -> int:
    """How many calls splitting a text takes, C functions included."""
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        for _ in split_text(text):
            pass
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "Anna left. ",
        "on ",
        "a, ",
        ").",
        "x\n",
        "\n\n",
        "one two\n",
        ".)\"' ",
        "U.S. ",
        "... a ",
        "漢",
    ],
)
def test_steps_grow_no_faster_than_the_text(piece):
    short, long = steps(piece * 1000), steps(piece * 4000)
    assert short > 0
    assert long <= 4.2 * short


def test_a_megabyte_is_split_lazily_and_whole():
    text = (PROSE + "\n\n") * (1_000_000 // len(PROSE))
    assert next(split_text(text)).words[:2] == ("The", "committee")
    assert len(read_text(text)) == 3 * text.count("\n\n")


WORDS = st.lists(
    st.sampled_from("she found long-term plans can't sell the dog's $5 e-mail in 1999".split()),
    min_size=1,
    max_size=12,
)


@given(
    st.lists(st.tuples(WORDS, st.sampled_from([".", "!", "?", "?!", "."])), min_size=1, max_size=5)
)
@settings(max_examples=50)
def test_a_sentence_alone_is_split_as_in_its_text(parts):
    text = " ".join(f"So {' '.join(words)}{mark}" for words, mark in parts)
    together = read_text(text)
    assert len(together) == len(parts)
    for sentence in together:
        assert sentence.offsets is not None
        (alone,) = read_text(text[sentence.offsets[0][0] : sentence.offsets[-1][1]])
        assert alone.words == sentence.words


def test_paragraphs_have_offsets_and_lose_no_sentence():
    text = "One.\nTwo.\n\n \nThree\n\n\nFour.\nFive."
    paragraphs = list(iter_paragraphs(text.split("\n")))
    assert paragraphs == [(0, "One.\nTwo."), (13, "Three"), (21, "Four.\nFive.")]
    assert all(text[start:].startswith(part) for start, part in paragraphs)
    assert [s for _, part in paragraphs for s in sentences(part)] == sentences(text)


@given(MARKED.map(lambda text: re.sub("[\r\u2028]", " ", text)))
def test_splitting_by_paragraphs_gives_the_sentences_of_the_whole(text):
    parts = list(iter_paragraphs(text.split("\n")))
    assert [s for _, part in parts for s in sentences(part)] == sentences(text)
    assert all(text[start:].startswith(part) for start, part in parts)


def test_paragraphs_without_end_are_cut(monkeypatch):
    """Otherwise a file without blank lines would be held whole: all its sentences."""
    monkeypatch.setattr(splitting, "MAX_PARAGRAPH", 20)
    lines = ["Dogs bark.", "Cats sleep.", "Birds sing.", "", "word " * 10 + "x" * 50]
    text = "\n".join(lines)
    parts = list(iter_paragraphs(lines))
    assert [part for _, part in parts[:3]] == [
        "Dogs bark.\nCats sleep.",
        "Birds sing.",
        "word " * 4,
    ]
    assert all(text.startswith(part, start) for start, part in parts)
    assert "".join(part for _, part in parts[2:]) == lines[-1]
    assert max(len(part) for _, part in parts) <= 40


def test_paragraphs_are_yielded_before_the_file_ends():
    def lines():
        yield from ["One.", ""]
        raise AssertionError("read too far")

    assert next(iter_paragraphs(lines())) == (0, "One.")


def test_one_sentence_per_line():
    text = "He left. She stayed.\nand\n\n  no mark at all \r\nDear Mr.\nSmith"
    assert sentences(text, PER_LINE) == [
        "He left . She stayed .",
        "and",
        "no mark at all",
        "Dear Mr .",
        "Smith",
    ]


def test_a_line_that_is_too_long_is_cut_all_the_same():
    cut = read_text("walk on and on, " * 100, PER_LINE)
    assert [len(sentence) for sentence in cut] == [255, 245]
    assert all(sentence.words[-1] == "," for sentence in cut)


@given(ANYTHING | MARKED)
def test_lines_have_exact_offsets_too(text):
    position = 0
    for sentence in read_text(text, PER_LINE):
        assert sentence.offsets is not None
        assert [text[a:b] for a, b in sentence.offsets] == list(sentence.words)
        start, end = sentence.offsets[0][0], sentence.offsets[-1][1]
        assert "\n" not in text[start:end]
        assert re.fullmatch(f"[{BLANK}]*", text[position:start])
        position = end
    assert re.fullmatch(f"[{BLANK}]*", text[position:])


def test_html_has_the_words_of_its_text():
    text = "<p>She <b>sold</b> Ben &amp; Jerry&#39;s&nbsp;cream <!-- no -->un<i>known</i>.</p>"
    [sentence] = read_text(text, HTML)
    assert " ".join(sentence.words) == "She sold Ben & Jerry 's cream unknown ."
    assert sentence.text is text
    assert sentence.offsets is not None
    assert [text[start:end] for start, end in sentence.offsets] == (
        ["She", "sold", "Ben", "&amp;", "Jerry", "&#39;s", "cream", "un<i>known", "."]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<h1>The great escape</h1>It was late", ["The great escape", "It was late"]),
        ("<ul><li>milk<li>eggs</ul>and bread", ["milk", "eggs", "and bread"]),
        ("<p>He\n\nleft\nThe House</p>", ["He left The House"]),
        ("<td>Anna<td>Bo", ["Anna", "Bo"]),
        ("I like <i>it</i>\n\nand you", ["I like it", "and you"]),
        ("First part<br><br>second part", ["First part", "second part"]),
        ("a<script>Stop. Go!</script>b", ["ab"]),
        ("She said <q>Stop!</q> He ran.", ["She said Stop !", "He ran ."]),
    ],
)
def test_where_sentences_of_html_end(text, expected):
    assert sentences(text, HTML) == expected


@given(MARKED)
def test_text_without_tags_is_split_alike_with_html(text):
    with_html = read_text(text, HTML)
    assert with_html == read_text(text)


PAGE = st.lists(
    st.sampled_from(
        ["<p>", "<b>", "</b>", "<br>", "<!-- x -->", "<script>a.", "</script>", "<", ">", "&amp;"]
        + ["&#39;", "&NotEqualTilde;", "&ampsold", "\xad", "Anna", " left", ". ", "\n", '"', "&"]
    ),
    max_size=30,
).map("".join)


@given(PAGE)
def test_offsets_into_html_are_in_order(text):
    for sentence in read_text(text, HTML):
        assert sentence.text is text
        assert sentence.offsets is not None
        assert len(sentence.offsets) == len(sentence.words) > 0
        starts = [start for start, _ in sentence.offsets]
        assert starts == sorted(starts)
        for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
            assert 0 <= start < end <= len(text)
            if "<" not in text[start:end] and "&" not in text[start:end]:
                assert text[start:end].replace("\xad", "") == word
        alone = sentence.standalone()
        assert alone.words == sentence.words
        assert alone.text == text[starts[0] : sentence.offsets[-1][1]]


def test_lines_of_html():
    layout = Layout(html=True, one_sentence_per_line=True)
    text = "He <b>left</b>. She stayed.\n<!-- one\ntwo -->R&amp;D<p>Go"
    assert sentences(text, layout) == ["He left . She stayed .", "R&D", "Go"]


@pytest.mark.parametrize("layout", [Layout(), HTML, PER_LINE])
@given(text=MARKED.map(lambda text: re.sub("[\r\u2028]", " ", text)))
@settings(max_examples=30)
def test_the_lines_of_a_file_give_the_sentences_of_the_text(layout, text):
    found = [sentence for part in split_lines(text.split("\n"), layout) for sentence in part]
    assert found == [sentence.standalone() for sentence in split_text(text, layout)]


def test_lines_are_split_as_they_come():
    def lines():
        yield "One. Two."
        raise AssertionError("read too far")

    [sentence] = next(split_lines(lines(), PER_LINE))
    assert sentence.words == ("One", ".", "Two", ".")
