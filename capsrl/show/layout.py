"""Compute the positions of the words, arcs and brackets of one proposition.

A line takes as many words as fit. Arcs are above the words, the longest highest; words are moved
apart where the label of an arc between them needs room. An argument on another line than the
predicate, or the predicate itself, has a flag instead: a pole with a label.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from capsrl.show.formatting import text_width

WORD_SIZE, LABEL_SIZE = 15.0, 11.0  # font sizes in pixels
WORD_GAP = 11.0
SLOT = 8.0  # distance of two arcs that end at the same word
_LABEL_GAP = 9.0  # from the label of an arc to its bend


@dataclass(frozen=True, slots=True)
class Arc:
    """The arc from the predicate to the head word of an argument.

    phrase  first and last word to be bracketed
    states  for drawings that change, see `RoleHistory.states`
    """

    word: int
    role: str
    label: str
    probability: float | None = None
    phrase: tuple[int, int] | None = None
    states: str = ""

    @property
    def half(self) -> float:
        """Half the width of the label."""
        return text_width(self.label, LABEL_SIZE) / 2 + 2


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a word, and of the sense below it."""

    word: int
    left: float
    right: float

    @property
    def x(self) -> float:
        """The middle."""
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class Segment:
    """An arc or a flag, at a level counted from 1; a flag has left = right.

    tip      where the arrow points down: left or right
    label_x  the middle of the label
    """

    arc: Arc
    left: float
    right: float
    tip: float
    label_x: float
    level: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """The words of a phrase on one line; `head` is the box of the head word, if it is there."""

    arc: Arc
    left: float
    right: float
    head: Box | None
    level: int


@dataclass(slots=True)
class Line:
    """One line of words, the arcs and flags above them, and the brackets below them."""

    boxes: list[Box] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    brackets: list[Bracket] = field(default_factory=list)

    @property
    def width(self) -> float:
        """The last x of a word or label."""
        labels = [segment.label_x + segment.arc.half for segment in self.segments]
        return max([self.boxes[-1].right, *labels])


def make_layout(
    words: Sequence[str], predicate: int, sense: str, arcs: Sequence[Arc], *, max_width: float
) -> list[Line]:
    """The lines of a drawing; one long word or label may exceed `max_width`.

    predicate  position of the predicate, with its sense below; that of no word if there is none
    """
    lines = _wrap(words, predicate, sense, arcs, max_width)
    for line in lines:
        line.segments = _segments(line, predicate, arcs, max_width)
        line.brackets = _brackets(line, arcs)
    return lines


def _wrap(
    words: Sequence[str], predicate: int, sense: str, arcs: Sequence[Arc], max_width: float
) -> list[Line]:
    lines = [Line()]
    for word, form in enumerate(words):
        here = [arc for arc in arcs if word in (arc.word, predicate)]
        below = text_width(sense, LABEL_SIZE) if word == predicate else 0.0
        width = max(text_width(form, WORD_SIZE), below, len(here) * SLOT)
        x = _next_x(lines[-1], word, width, predicate, arcs)
        if lines[-1].boxes and x + width / 2 > max_width:
            lines.append(Line())
            x = width / 2
        lines[-1].boxes.append(Box(word, x - width / 2, x + width / 2))
    return lines if words else []


def _next_x(line: Line, word: int, width: float, predicate: int, arcs: Sequence[Arc]) -> float:
    """The middle of the next word; labels of arcs from earlier words need room between them."""
    places = {box.word: box.x for box in line.boxes}
    x = width / 2 + (line.boxes[-1].right + WORD_GAP if places else 0.0)
    for arc in arcs:
        first, last = sorted((arc.word, predicate))
        if last == word and first in places:
            n_ends = len(arcs) + sum(other.word == arc.word for other in arcs)
            x = max(x, places[first] + 2 * (arc.half + _LABEL_GAP) + SLOT / 2 * n_ends)
    return x


def _segments(line: Line, predicate: int, arcs: Sequence[Arc], max_width: float) -> list[Segment]:
    """Arcs at both sides of the predicate, one above the other, and flags above them."""
    boxes = {box.word: box for box in line.boxes}
    here = [arc for arc in arcs if arc.word in boxes]
    left: list[Arc] = []
    right: list[Arc] = []
    if predicate in boxes:
        left = [arc for arc in reversed(here) if arc.word < predicate]  # the nearest first
        right = [arc for arc in here if arc.word > predicate]
    flags = [arc for arc in here if arc not in left and arc not in right]
    own = [arc for arc in flags if arc.word == predicate]
    # The shortest arc is outermost at the predicate, so that arcs do not cross.
    starts = _slots(boxes[predicate], [*left, *own, *reversed(right)]) if predicate in boxes else {}
    tips = dict(starts) if own else {}
    for word in {arc.word for arc in here} - {predicate}:
        at_word = [arc for arc in [*reversed(left), *right, *flags] if arc.word == word]
        tips |= _slots(boxes[word], at_word)
    segments: list[Segment] = []
    for side in (left, right):
        for level, arc in enumerate(side, start=1):
            a, b = sorted((starts[arc], tips[arc]))
            segments.append(Segment(arc, a, b, tips[arc], (a + b) / 2, level))
    n_levels = max(len(left), len(right))
    return segments + _flags({arc: tips[arc] for arc in flags}, n_levels, max_width)


def _slots(box: Box, arcs: Sequence[Arc]) -> dict[Arc, float]:
    """Where arcs end at a word, from left to right."""
    middle = (len(arcs) - 1) / 2
    return {arc: box.x + (number - middle) * SLOT for number, arc in enumerate(arcs)}


def _flags(tips: dict[Arc, float], n_below: int, max_width: float) -> list[Segment]:
    """Labels right of their poles; the rightmost is lowest, so that no pole crosses a label."""
    flags: list[Segment] = []
    for arc, tip in sorted(tips.items(), key=lambda item: -item[1]):
        x = max(arc.half, min(tip + arc.half + 1, max_width - arc.half))
        over = [each.level for each in flags if abs(each.label_x - x) < each.arc.half + arc.half]
        flags.append(Segment(arc, tip, tip, tip, x, max(over, default=n_below) + 1))
    return flags


def _brackets(line: Line, arcs: Sequence[Arc]) -> list[Bracket]:
    """The brackets of phrases; of two that overlap, the longer is lower."""
    brackets: list[Bracket] = []
    for arc in sorted(arcs, key=lambda arc: arc.phrase[1] - arc.phrase[0] if arc.phrase else 0):
        first, last = arc.phrase or (0, -1)
        inside = [box for box in line.boxes if first <= box.word <= last]
        if inside:
            left, right = inside[0].left, inside[-1].right
            over = [each.level for each in brackets if each.left < right and left < each.right]
            head = next((box for box in inside if box.word == arc.word), None)
            brackets.append(Bracket(arc, left, right, head, max(over, default=0) + 1))
    return brackets
