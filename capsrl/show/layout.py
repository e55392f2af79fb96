"""Compute the positions of the words and arcs of a drawing.

Arcs are above the words in levels, as in drawings of dependency trees. A line takes as many words
as fit; an arc between two lines leaves one at its edge and enters the other at its edge. Words are
moved apart where the label of an arc between them needs room.
"""

from dataclasses import replace

from capsrl.sentence import Proposition, Sentence
from capsrl.show.arc_levels import with_free_labels, with_levels
from capsrl.show.formatting import show_probability, show_sense, text_width, visible
from capsrl.show.geometry import LABEL_SIZE, WORD_SIZE, Arc, Box, Layout, Line, Segment

WORD_GAP = 11.0
SLOT = 7.0  # distance of two arcs that end at the same word
LABEL_GAP = 9.0  # from the label of an arc to its bend


def make_layout(sentence: Sentence, *, max_width: float) -> Layout:
    """The positions of words and arcs; one long word or label may exceed `max_width`.

    An arc is drawn on the lines of its two ends only, with a label on each.
    """
    arcs = _arcs(sentence)
    lines = _wrap(sentence, arcs, max_width)
    width = _width(lines, arcs)
    if width > max_width:
        # Arcs that leave at the right need room past the words, which is only known after
        # wrapping: wrap again, to lines that are shorter by as much.
        shorter = _wrap(sentence, arcs, 2 * max_width - width)
        if _width(shorter, arcs) < width:
            lines, width = shorter, _width(shorter, arcs)
    line_of = _line_of(lines)
    arcs_of: list[list[Arc]] = [[] for _ in lines]
    for arc in arcs:
        for number in {line_of[arc.source], line_of[arc.target]}:
            arcs_of[number].append(arc)
    for number, line in enumerate(lines):
        segments = _segments(number, line, arcs_of[number], line_of, width)
        line.segments = with_free_labels(with_levels(segments))
    return Layout(lines, width)


def sense_label(proposition: Proposition) -> str:
    """The text below a predicate."""
    return _joined(show_sense(proposition), show_probability(proposition.probability))


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _arcs(sentence: Sentence) -> list[Arc]:
    arcs: list[Arc] = []
    for number, proposition in enumerate(sentence.propositions):
        name = visible(proposition.sense or proposition.form or "")
        for part in proposition.arguments:
            label = _joined(visible(part.role), show_probability(part.probability))
            far = _joined(name, label)
            arcs.append(Arc(number, proposition.predicate, part.word, label, far, part.probability))
    return arcs


def _wrap(sentence: Sentence, arcs: list[Arc], max_width: float) -> list[Line]:
    ends = [0] * len(sentence)
    by_right_end: dict[int, list[Arc]] = {}
    for arc in arcs:
        ends[arc.source] += 1
        ends[arc.target] += 1
        by_right_end.setdefault(max(arc.source, arc.target), []).append(arc)
    widths = [
        max(text_width(word, WORD_SIZE), n_ends * SLOT)
        for word, n_ends in zip(sentence.words, ends, strict=True)
    ]
    for proposition in sentence.propositions:
        needed = text_width(sense_label(proposition), LABEL_SIZE)
        widths[proposition.predicate] = max(widths[proposition.predicate], needed)
    for arc in arcs:
        if arc.source == arc.target:  # its label is above the word, not beside it
            needed = text_width(arc.label, LABEL_SIZE) + ends[arc.source] * SLOT
            widths[arc.source] = max(widths[arc.source], needed)
    lines = [Line()]
    for word, width in enumerate(widths):
        here = by_right_end.get(word, [])
        box, indent = _placed(lines[-1], word, width, here, ends)
        if lines[-1].boxes and box.x + indent + width / 2 > max_width:
            lines.append(Line())
            box, indent = _placed(lines[-1], word, width, here, ends)
        lines[-1].boxes.append(box)
        if indent:
            lines[-1].boxes = [replace(each, x=each.x + indent) for each in lines[-1].boxes]
    return lines if sentence.words else []


def _placed(
    line: Line, word: int, width: float, arcs: list[Arc], ends: list[int]
) -> tuple[Box, float]:
    """The box of the next word of a line, and how far the whole line must move to the right.

    The labels of arcs from earlier words need room between the words; the labels of arcs that
    enter from other lines need room before the word.
    """
    places = {box.word: box.x for box in line.boxes}
    last = line.boxes[-1] if line.boxes else None
    x = width / 2 + (last.x + last.width / 2 + WORD_GAP if last else 0.0)
    before = 0.0
    for arc in arcs:
        other = min(arc.source, arc.target)
        if other in places:
            x = max(x, places[other] + _room(arc.label) + SLOT / 2 * (ends[other] + ends[word]))
        elif other != word:
            label = arc.label if arc.source == word else arc.far_label
            before = max(before, _room(label) + SLOT / 2 * ends[word])
    return Box(word, x, width), max(0.0, before - x)


def _width(lines: list[Line], arcs: list[Arc]) -> float:
    line_of = _line_of(lines)
    width = max([line.boxes[-1].x + line.boxes[-1].width / 2 for line in lines], default=0.0)
    boxes = {box.word: box for line in lines for box in line.boxes}
    for arc in arcs:
        near, far = sorted((arc.source, arc.target))
        if line_of[near] < line_of[far]:
            label = arc.label if arc.source == near else arc.far_label
            width = max(width, boxes[near].x + boxes[near].width / 2 + _room(label))
    return width


def _line_of(lines: list[Line]) -> dict[int, int]:
    return {box.word: number for number, line in enumerate(lines) for box in line.boxes}


def _room(label: str) -> float:
    return text_width(label, LABEL_SIZE) + 2 * LABEL_GAP


def _segments(
    number: int, line: Line, arcs: list[Arc], line_of: dict[int, int], width: float
) -> list[Segment]:
    places = _slots(line, arcs)
    segments: list[Segment] = []
    for index, arc in enumerate(arcs):
        first, last = sorted((arc.source, arc.target))
        down_at = (line_of[first] == number, line_of[last] == number)
        left = places[index, "right"] if down_at[0] else 0.0
        right = places[index, "left"] if down_at[1] else width
        if arc.source == arc.target:
            left, right = right, left
        side = 0 if arc.target == first else 1
        head_at = ("left", "right")[side] if down_at[side] else None
        label = arc.label if line_of[arc.source] == number else arc.far_label
        middle = (left + right) / 2
        segments.append(Segment(arc, left, right, down_at, head_at, label, middle))
    return segments


def _slots(line: Line, arcs: list[Arc]) -> dict[tuple[int, str], float]:
    """The x where each arc ends: (number of the arc, side to which it leaves the word) -> x.

    The shortest arc is outermost at each side, so that nested arcs do not cross; an arc from a
    word to itself is between the two sides.
    """
    ends: dict[int, list[tuple[float, int, str]]] = {box.word: [] for box in line.boxes}
    for index, arc in enumerate(arcs):
        first, last = sorted((arc.source, arc.target))
        # The longest arc is last among those to the left, first among those to the right.
        length = last - first + index / len(arcs)
        order = 0.0 if first == last else 1 / length
        if first in ends:
            ends[first].append((order, index, "right"))
        if last in ends:
            ends[last].append((-order, index, "left"))
    return {
        (index, side): box.x + (number - (len(ends[box.word]) - 1) / 2) * SLOT
        for box in line.boxes
        for number, (_, index, side) in enumerate(sorted(ends[box.word]))
    }
