"""Compute the positions of the words and arcs of one proposition.

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

    phrase  first and last word to be underlined
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
    """The place of a word, and of the sense below it; `half` is half of its width."""

    word: int
    x: float
    half: float


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


@dataclass(slots=True)
class Line:
    """One line of words, and the arcs and flags above them."""

    boxes: list[Box] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)


def make_layout(
    words: Sequence[str], predicate: int, sense: str, arcs: Sequence[Arc], *, max_width: float
) -> list[Line]:
    """The lines of a drawing; one long word or label may exceed `max_width`.

    predicate  position of the predicate, with its sense below; that of no word if there is none
    arcs       in the order of their words
    """
    lines = [Line()] if words else []
    for word, form in enumerate(words):
        n_ends = sum(word in (arc.word, predicate) for arc in arcs)
        below = text_width(sense, LABEL_SIZE) if word == predicate else 0.0
        half = max(text_width(form, WORD_SIZE), below, n_ends * SLOT) / 2
        x = _next_x(lines[-1], word, half, predicate, arcs)
        if lines[-1].boxes and x + half > max_width:
            lines.append(Line())
            x = half
        lines[-1].boxes.append(Box(word, x, half))
    for line in lines:
        line.segments = _segments(line, predicate, arcs, max_width)
    return lines


def _next_x(line: Line, word: int, half: float, predicate: int, arcs: Sequence[Arc]) -> float:
    """The middle of the next word; labels of arcs from earlier words need room between them."""
    places = {box.word: box.x for box in line.boxes}
    x = half + (line.boxes[-1].x + line.boxes[-1].half + WORD_GAP if places else 0.0)
    for arc in arcs:
        first, last = sorted((arc.word, predicate))
        if last == word and first in places:
            n_ends = len(arcs) + sum(other.word == arc.word for other in arcs)
            x = max(x, places[first] + 2 * (arc.half + _LABEL_GAP) + SLOT / 2 * n_ends)
    return x


def _segments(line: Line, predicate: int, arcs: Sequence[Arc], max_width: float) -> list[Segment]:
    """Arcs at both sides of the predicate, one above the other, and flags above them."""
    places = {box.word: box.x for box in line.boxes}
    here = [arc for arc in arcs if arc.word in places]
    joined = [arc for arc in here if predicate in places and arc.word != predicate]
    left = [arc for arc in reversed(joined) if arc.word < predicate]  # the nearest first
    right = [arc for arc in joined if arc.word > predicate]
    flags = [arc for arc in here if arc not in joined]
    own = [arc for arc in flags if arc.word == predicate]
    # The shortest arc is outermost at the predicate, so that arcs do not cross.
    starts = _slots(places.get(predicate, 0.0), [*left, *own, *reversed(right)])
    tips = {arc: starts[arc] for arc in own}
    for word in {arc.word for arc in here} - {predicate}:
        tips |= _slots(places[word], [arc for arc in here if arc.word == word])
    segments: list[Segment] = []
    for side in (left, right):
        for level, arc in enumerate(side, start=1):
            a, b = sorted((starts[arc], tips[arc]))
            segments.append(Segment(arc, a, b, tips[arc], (a + b) / 2, level))
    n_levels = max(len(left), len(right))
    return segments + _flags({arc: tips[arc] for arc in flags}, n_levels, max_width)


def _slots(x: float, arcs: Sequence[Arc]) -> dict[Arc, float]:
    """Where arcs end at a word, from left to right."""
    middle = (len(arcs) - 1) / 2
    return {arc: x + (number - middle) * SLOT for number, arc in enumerate(arcs)}


def _flags(tips: dict[Arc, float], n_below: int, max_width: float) -> list[Segment]:
    """Labels right of their poles; the rightmost is lowest, so that no pole crosses a label."""
    flags: list[Segment] = []
    for arc, tip in sorted(tips.items(), key=lambda item: -item[1]):
        x = max(arc.half, min(tip + arc.half + 1, max_width - arc.half))
        over = [each.level for each in flags if abs(each.label_x - x) < each.arc.half + arc.half]
        flags.append(Segment(arc, tip, tip, tip, x, max(over, default=n_below) + 1))
    return flags
