"""Positions of words and arcs: no overlaps, and every arc ends at its words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.show.formatting import text_width
from capsrl.show.layout import LABEL_SIZE, SLOT, WORD_SIZE, Arc, Line, Segment, make_layout

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


def test_worked_example():
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
