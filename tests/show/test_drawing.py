"""Drawings are well-formed whatever the words are, complete, and readable in both themes."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.show import svg
from capsrl.show.colors import INK, PAPER, role_color
from capsrl.show.drawing import (
    LABEL_SIZE,
    SLOT,
    WORD_SIZE,
    Arc,
    Line,
    Segment,
    make_layout,
    svg_lines,
)
from capsrl.show.formatting import text_width, visible
from tests.helpers.show_sentences import contract, long_sentence

SVG = "{http://www.w3.org/2000/svg}"
ANY_TEXT = st.text(st.characters(codec=None), max_size=8)


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.iter() if text.tag.removeprefix(SVG) == "text"]


def groups(root: ET.Element, kind: str) -> list[ET.Element]:
    return [each for each in root.iter() if kind in each.get("class", "").split()]


def lines_of(sentence: Sentence, **options) -> ET.Element:
    """The HTML of the first proposition."""
    html = svg_lines(sentence, sentence.propositions[0], **{"max_width": 900, **options})
    return ET.fromstring(f"<div>{html}</div>")


@settings(deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=12), ANY_TEXT, ANY_TEXT)
def test_any_text_gives_well_formed_xml(words, sense, role):
    arguments = (Argument(role, len(words) - 1, 0.5), Argument(role, 0))
    sentence = Sentence(tuple(words)).with_propositions([Proposition(0, sense, arguments, 0.25)])
    for root in (ET.fromstring(svg(sentence).encode()), lines_of(sentence)):
        shown = texts(root)
        assert {visible(word) for word in words} <= set(shown)
        assert f"{visible(sense) or '?'} 0.25".strip() in shown


def test_worked_example():
    root = ET.fromstring(svg(contract()))
    words = ["Hiti", "signed", "sign.01 0.98", "the", "contract", "yesterday", "and", "left", "."]
    again = ["Hiti", "signed", "the", "contract", "yesterday", "and", "left", "leave.01 0.60", "."]
    assert texts(root) == ["A0 0.99", "A1 0.97", "AM-TMP 0.95", *words, "A0 0.81", *again]
    arcs = groups(root, "capsrl-arc")
    assert [arc.get("color") for arc in arcs] == [
        role_color(role) for role in ("A0", "A1", "AM-TMP", "A0")
    ]
    paths = [next(arc.iter(f"{SVG}path")) for arc in arcs]
    assert [path.get("stroke-opacity") for path in paths] == ["0.99", "0.98", "0.97", "0.88"]


def test_phrases_have_brackets_that_are_thicker_below_the_head():
    part = Argument("A1", 3, phrase=Phrase(2, 4))
    sentence = Sentence(("We", "sold", "the", "boat", "house")).with_propositions(
        [Proposition(1, "sell.01", (part,))]
    )
    root = ET.fromstring(svg(sentence))
    (bracket,) = groups(root, "capsrl-bracket")
    at = {text.text: float(text.get("x", 0)) for text in root.iter(f"{SVG}text")}
    path, head = bracket
    left, right = re.fullmatch(r"M(\S+) \S+v3H(\S+)v-3", path.get("d", "")).groups()
    assert at["sold"] < float(left) < at["the"] < at["house"] < float(right)
    thick = float(head.get("x", 0)), float(head.get("x", 0)) + float(head.get("width", 0))
    assert at["the"] < thick[0] < at["boat"] < thick[1] < at["house"]


def test_phrases_that_overlap_have_brackets_at_different_heights():
    parts = (Argument("A1", 2, phrase=Phrase(1, 3)), Argument("A2", 3, phrase=Phrase(3, 3)))
    sentence = Sentence(("go", "a", "b", "c")).with_propositions([Proposition(0, "go.01", parts)])
    brackets = groups(ET.fromstring(svg(sentence)), "capsrl-bracket")
    heights = [re.search(r"M\S+ (\S+?)v", bracket[0].get("d", ""))[1] for bracket in brackets]
    assert len(set(heights)) == 2


def test_phrases_over_two_lines():
    words = ("sold", *["word"] * 30)
    part = Argument("A1", 1, phrase=Phrase(1, 30))
    sentence = Sentence(words).with_propositions([Proposition(0, "sell.01", (part,))])
    root = lines_of(sentence, max_width=300)
    brackets = [groups(line, "capsrl-bracket") for line in root]
    assert len(root) > 3 and all(len(each) == 1 for each in brackets)
    assert [len(list(each[0].iter(f"{SVG}rect"))) for each in brackets] == [1] + [0] * (
        len(root) - 1
    )


def test_lines_for_a_page_have_the_states_of_roles():
    root = lines_of(contract(traced=True), steps=True)
    arcs = [(texts(arc)[0], arc.get("data-states")) for arc in groups(root, "capsrl-arc")]
    assert arcs == [("A0", "nnn"), ("A1", "fnn"), ("A1", "npp"), ("AM-TMP", "fnn"), ("A1", "npp")]
    brackets = [each.get("data-states") for each in groups(root, "capsrl-bracket")]
    assert brackets == ["nnn", "fnn", "fnn"]
    static = lines_of(contract(traced=True))
    assert [texts(arc)[0] for arc in groups(static, "capsrl-arc")] == ["A0", "A1", "AM-TMP"]
    assert not [each for each in static.iter() if each.get("data-states")]


def test_lines_without_roles_are_folded():
    words = ("We", "sold", "it", *["word"] * 60)
    parts = (Argument("A0", 0), Argument("A1", 2))
    sentence = Sentence(words).with_propositions([Proposition(1, "sell.01", parts)])
    first, folded = lines_of(sentence, max_width=300)
    assert (first.tag, folded.tag) == (f"{SVG}svg", "details")
    shown = len([text for text in texts(first) if text in words])
    assert folded[0].text == f"{len(words) - shown} words without a role"
    assert len(list(folded.iter(f"{SVG}svg"))) > 3
    short = lines_of(replace(sentence, words=words[:8]), max_width=300)
    assert [line.tag for line in short] == [f"{SVG}svg"] * 2


def test_sheet():
    alone = ET.fromstring(svg(contract())), ET.fromstring(svg(long_sentence()))
    sheet = ET.fromstring(svg(contract(), long_sentence()))
    assert texts(sheet) == texts(alone[0]) + texts(alone[1])
    assert sheet.get("width") == alone[1].get("width")
    heights = [float(root.get("height", 0)) for root in (*alone, sheet)]
    assert heights[2] == pytest.approx(heights[0] + heights[1] - 10, abs=1)  # one margin


def test_sheet_of_one_and_of_none():
    assert texts(ET.fromstring(svg())) == []


def test_everything_is_inside():
    root = ET.fromstring(svg(long_sentence()))
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    for group in root.findall(f"{SVG}g"):
        x0, y0 = map(float, re.findall(r"[\d.]+", group.get("transform", "")))
        for element in [*group.iter(f"{SVG}text"), *group.iter(f"{SVG}rect")]:
            x, y = x0 + float(element.get("x", 0)), y0 + float(element.get("y", 0))
            assert 0 <= x <= x + float(element.get("width", 0)) <= width
            assert 0 < y < height


def test_improbable_arcs_are_paler():
    def opacity(probability: float | None) -> float:
        part = Proposition(0, "go.01", (Argument("A0", 1, probability),))
        root = ET.fromstring(svg(Sentence(("go", "on")).with_propositions([part])))
        (arc,) = groups(root, "capsrl-arc")
        return float(arc[0].get("stroke-opacity", "nan"))

    assert 0.3 < opacity(0.0) < opacity(0.5) < opacity(0.9) < opacity(1.0) == opacity(None) == 1.0


def test_sentences_without_propositions_or_words():
    assert texts(ET.fromstring(svg(Sentence(("Hello", "!"))))) == ["Hello", "!"]
    assert texts(ET.fromstring(svg(Sentence(())))) == []


def test_themes():
    light, dark = svg(contract()).split("</style>")[::-1]
    assert PAPER[0] in light and INK[0] in light and PAPER[1] not in light
    assert "prefers-color-scheme:dark" in dark
    assert f"paper{{fill:{PAPER[1]}}}" in dark and INK[1] in dark


@pytest.mark.parametrize("max_width", [200, 500, 1000])
def test_lines_wrap_at_max_width(max_width):
    root = ET.fromstring(svg(replace(long_sentence(), propositions=()), max_width=max_width))
    assert max_width * 0.6 < float(root.get("width", 0)) <= max_width + 20
    lines = lines_of(long_sentence(), max_width=max_width)
    assert max(float(line.get("width", 0)) for line in lines.iter(f"{SVG}svg")) <= max_width


WIDTH = 300.0


@st.composite
def drawings(draw):
    words = draw(st.lists(st.sampled_from(["i", "the", "首次", "Rindfleisch", ""]), min_size=1))
    positions = st.integers(0, len(words) - 1)
    pairs = st.tuples(positions, st.sampled_from(["A0", "A1", "AM-TMP", "C-A1"]))
    arcs = [Arc(word, role, role) for word, role in sorted(draw(st.sets(pairs, max_size=6)))]
    return words, draw(positions), draw(st.sampled_from(["", "conceptualise.01"])), arcs


def layout_of(drawing, max_width: float = WIDTH) -> list[Line]:
    words, predicate, sense, arcs = drawing
    return make_layout(words, predicate, sense, arcs, max_width=max_width)


def reach(segment: Segment) -> tuple[float, float]:
    left, right = segment.label_x - segment.arc.half, segment.label_x + segment.arc.half
    return min(segment.left, left), max(segment.right, right)


@settings(deadline=None)
@given(drawings())
def test_words_do_not_overlap(drawing):
    words, predicate, sense, _ = drawing
    lines = layout_of(drawing)
    assert [box.word for line in lines for box in line.boxes] == list(range(len(words)))
    for line in lines:
        assert line.boxes[0].x - line.boxes[0].half >= -1e-6
        for box, after in zip(line.boxes, line.boxes[1:], strict=False):
            assert box.x + box.half < after.x - after.half
        for box in line.boxes:
            assert 2 * box.half >= text_width(words[box.word], WORD_SIZE)
            if box.word == predicate:
                assert 2 * box.half >= text_width(sense, LABEL_SIZE)


@settings(deadline=None)
@given(drawings())
def test_every_arc_is_drawn_once_and_ends_at_its_words(drawing):
    _, predicate, _, arcs = drawing
    drawn: list[Arc] = []
    for line in layout_of(drawing):
        boxes = {box.word: box for box in line.boxes}
        for segment in line.segments:
            drawn.append(segment.arc)
            target = boxes[segment.arc.word]
            assert abs(segment.tip - target.x) <= target.half
            assert segment.tip in (segment.left, segment.right)
            is_joined = predicate in boxes and segment.arc.word != predicate
            assert (segment.left < segment.right) == is_joined
            if is_joined:
                (start,) = {segment.left, segment.right} - {segment.tip}
                assert abs(start - boxes[predicate].x) <= boxes[predicate].half
    assert sorted(drawn, key=arcs.index) == arcs


@settings(deadline=None)
@given(drawings())
def test_arcs_are_nested_and_labels_are_free(drawing):
    for line in layout_of(drawing):
        arcs = [segment for segment in line.segments if segment.left < segment.right]
        for segment in arcs:
            assert segment.left <= segment.label_x - segment.arc.half
            assert segment.label_x + segment.arc.half <= segment.right
            for other in arcs:  # one is outside the other, or they are apart
                if other is not segment and other.level <= segment.level:
                    is_inside = segment.left < other.left and other.right < segment.right
                    is_apart = segment.right < other.left or other.right < segment.left
                    assert is_apart or (is_inside and other.level < segment.level)
        ends = sorted(x for segment in line.segments for x in {segment.left, segment.right})
        assert all(b - a > SLOT - 1e-6 for a, b in zip(ends, ends[1:], strict=False))


@settings(deadline=None)
@given(drawings())
def test_flags_do_not_overlap_and_no_pole_crosses_a_label(drawing):
    for line in layout_of(drawing):
        flags = [segment for segment in line.segments if segment.left == segment.right]
        for number, flag in enumerate(flags):
            others = [s for s in line.segments if s.left < s.right]
            assert all(flag.level > other.level for other in others)
            for other in flags[:number]:
                apart = reach(flag)[1] <= reach(other)[0] or reach(other)[1] <= reach(flag)[0]
                assert apart or flag.level != other.level
                low, high = sorted((flag, other), key=lambda each: each.level)
                if low.label_x > low.tip + low.arc.half:  # not moved away from the margin
                    assert high.tip <= low.tip or reach(low)[1] <= high.tip


@settings(deadline=None)
@given(drawings(), st.sampled_from([120.0, 300.0, 800.0]))
def test_lines_fit(drawing, max_width):
    for line in layout_of(drawing, max_width):
        if len(line.boxes) > 1:
            assert line.boxes[-1].x + line.boxes[-1].half <= max_width
        for segment in line.segments:
            assert reach(segment)[0] >= -1e-6
            assert segment.label_x + segment.arc.half <= max_width + 1e-6


def test_the_places_of_a_worked_example():
    arcs = [Arc(0, "A0", "A0"), Arc(3, "A1", "A1"), Arc(4, "AM-TMP", "AM-TMP")]
    words = ("Hiti", "signed", "the", "contract", "yesterday")
    (line,) = make_layout(words, 1, "sign.01", arcs, max_width=960)
    assert [(each.arc.role, each.level) for each in line.segments] == [
        ("A0", 1),
        ("A1", 1),
        ("AM-TMP", 2),
    ]


def test_arguments_on_other_lines_have_flags():
    words = ("sign", *["word"] * 20)
    lines = make_layout(words, 0, "sign.01", [Arc(20, "A1", "A1")], max_width=WIDTH)
    assert len(lines) > 2
    assert [len(line.segments) for line in lines] == [0] * (len(lines) - 1) + [1]
    (flag,) = lines[-1].segments
    assert flag.left == flag.right == flag.tip == lines[-1].boxes[-1].x


def test_own_argument_has_a_flag_above_the_arcs():
    arcs = [Arc(1, "AM-ADJ", "AM-ADJ"), Arc(2, "A0", "A0"), Arc(3, "A1", "A1")]
    (line,) = make_layout(("the", "young", "winner", "here"), 2, "win.01", arcs, max_width=400)
    flag = next(segment for segment in line.segments if segment.arc.word == 2)
    others = [segment for segment in line.segments if segment is not flag]
    assert flag.left == flag.right and flag.level == 2
    assert others[0].right < flag.tip < others[1].left


def test_no_words():
    assert make_layout((), -1, "", [], max_width=400) == []


@pytest.mark.parametrize("max_width", [1.0, 20.0])
def test_one_word_may_be_wider_than_the_line(max_width):
    lines = make_layout(("Rindfleisch", "x"), -1, "", [], max_width=max_width)
    assert [len(line.boxes) for line in lines] == [1, 1]
