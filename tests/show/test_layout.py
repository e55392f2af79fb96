"""Positions of words and arcs: no overlaps, and every arc ends at its words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.formatting import text_width
from capsrl.show.geometry import LABEL_SIZE, WORD_SIZE, Layout
from capsrl.show.layout import SLOT, make_layout
from tests.helpers.show_sentences import contract, long_sentence


@st.composite
def sentences(draw):
    words = draw(st.lists(st.sampled_from(["i", "the", "首次", "Rindfleisch", ""]), min_size=1))
    positions = st.integers(0, len(words) - 1)
    roles = st.sampled_from(["A0", "A1", "AM-TMP", "C-A1"])
    probabilities = st.none() | st.floats(0, 1)
    arguments = st.builds(Argument, roles, positions, probabilities)
    propositions = st.builds(
        Proposition,
        positions,
        st.sampled_from([None, "sign.01", "conceptualise.01"]),
        st.lists(arguments, max_size=5).map(tuple),
        probabilities,
    )
    return Sentence(tuple(words)).with_propositions(draw(st.lists(propositions, max_size=6)))


def layout_of(sentence: Sentence, max_width: float = 400.0) -> Layout:
    return make_layout(sentence, max_width=max_width)


@settings(deadline=None)
@given(sentences())
def test_words_do_not_overlap(sentence):
    layout = layout_of(sentence)
    assert [box.word for line in layout.lines for box in line.boxes] == list(range(len(sentence)))
    for line in layout.lines:
        assert line.boxes[0].x - line.boxes[0].width / 2 >= 0
        assert line.boxes[-1].x + line.boxes[-1].width / 2 <= layout.width
        for box, after in zip(line.boxes, line.boxes[1:], strict=False):
            assert box.x + box.width / 2 < after.x - after.width / 2
        for box in line.boxes:
            assert box.width >= text_width(sentence.words[box.word], WORD_SIZE)


@settings(deadline=None)
@given(sentences())
def test_arcs_end_at_their_words(sentence):
    layout = layout_of(sentence)
    boxes = {box.word: box for line in layout.lines for box in line.boxes}
    down: list[tuple[int, int]] = []
    for line in layout.lines:
        here = {box.word for box in line.boxes}
        for segment in line.segments:
            arc = segment.arc
            first, last = sorted((arc.source, arc.target))
            ends = zip((first, last), (segment.left, segment.right), segment.down_at, strict=True)
            for word, x, comes_down in ends:
                assert comes_down == (word in here)
                if comes_down:
                    assert abs(x - boxes[word].x) <= boxes[word].width / 2
                    down.append((arc.proposition, word))
            if segment.head_at is not None:
                x = segment.left if segment.head_at == "left" else segment.right
                assert abs(x - boxes[arc.target].x) <= boxes[arc.target].width / 2
            assert (segment.head_at is not None) == (arc.target in here)
    wanted = [
        (number, word)
        for number, proposition in enumerate(sentence.propositions)
        for argument in proposition.arguments
        for word in (proposition.predicate, argument.word)
    ]
    assert sorted(down) == sorted(wanted)


@settings(deadline=None)
@given(sentences())
def test_segments_of_a_level_do_not_overlap(sentence):
    for line in layout_of(sentence).lines:
        for number, segment in enumerate(line.segments):
            for other in line.segments[:number]:
                if segment.level == other.level:
                    assert segment.reach[1] <= other.reach[0] or other.reach[1] <= segment.reach[0]
        feet = sorted(x for segment in line.segments for x in segment.legs)
        for foot, after in zip(feet, feet[1:], strict=False):
            assert after - foot > SLOT - 1e-6


@settings(deadline=None)
@given(sentences())
def test_labels_are_inside_their_arcs(sentence):
    layout = layout_of(sentence)
    for line in layout.lines:
        for segment in line.segments:
            half = text_width(segment.label, LABEL_SIZE) / 2
            assert -1e-6 <= segment.label_x - half and segment.label_x + half <= layout.width + 1e-6
            if segment.arc.source != segment.arc.target:
                assert segment.left <= segment.label_x - half + 1e-6
                assert segment.label_x + half <= segment.right + 1e-6


def test_nested_arcs():
    (line,) = layout_of(contract(), max_width=960).lines
    levels = {
        (segment.arc.proposition, segment.arc.label): segment.level for segment in line.segments
    }
    assert levels == {
        (0, "A0 0.99"): 1,
        (0, "A1 0.97"): 1,
        (0, "AM-TMP 0.95"): 2,
        (1, "A0 0.81"): 3,
    }


def test_labels_of_arcs_between_lines():
    sentence = Sentence(("sign",) + ("word",) * 20).with_propositions(
        [Proposition(0, "sign.01", (Argument("A1", 20, 0.5),))]
    )
    layout = layout_of(sentence)
    assert len(layout.lines) > 2
    labels = [[segment.label for segment in line.segments] for line in layout.lines]
    assert labels[0] == ["A1 0.50"]
    assert labels[-1] == ["sign.01 A1 0.50"]
    assert not any(labels[1:-1])
    assert layout.lines[0].segments[0].right == layout.width
    assert layout.lines[-1].segments[0].left == 0


def test_own_argument_is_a_loop():
    sentence = Sentence(("the", "young", "winner", "here")).with_propositions(
        [
            Proposition(
                2, "win.01", (Argument("AM-ADJ", 1), Argument("AM-LOC", 2), Argument("A1", 3))
            )
        ]
    )
    (line,) = layout_of(sentence).lines
    loop = next(segment for segment in line.segments if segment.arc.target == 2)
    others = [segment for segment in line.segments if segment is not loop]
    others.sort(key=lambda segment: segment.left)
    assert loop.level > max(segment.level for segment in others)
    assert others[0].right < loop.left < loop.right < others[1].left


@pytest.mark.parametrize("n_words", [40, 60, 200])
def test_long_sentences(n_words):
    layout = make_layout(long_sentence(n_words), max_width=960)
    assert layout.width < 1000
    assert max(line.n_levels for line in layout.lines) < 15


def test_labels_avoid_arcs():
    # b's arc comes down in the middle of the arc from a to c, where its label would be.
    words = ("a", "xxxxxxxxxxxxxxxx", "b", "xxxxxxxxxxxxxxxx", "c", "xxxxxxxxxxxxxxxx", "d" * 30)
    sentence = Sentence(words).with_propositions(
        [Proposition(0, "a.01", (Argument("A1", 4),)), Proposition(6, "d.01", (Argument("A0", 2),))]
    )
    (line,) = make_layout(sentence, max_width=2000).lines
    low, high = sorted(line.segments, key=lambda segment: segment.level)
    assert low.left < high.left < low.right
    assert abs(low.label_x - high.left) >= text_width(low.label, LABEL_SIZE) / 2


def test_no_words():
    assert layout_of(Sentence(())).lines == []
