"""Draw propositions as SVG: the words, and arcs from the predicate to its arguments.

A drawing is self-contained (no script, font or link) and well-formed XML whatever the words are.
Its colors are plain attributes, which every viewer supports; a style sheet adds a dark theme.

A line takes as many words as fit. Arcs are above the words, the longest highest; words are moved
apart where the label of an arc between them needs room. An argument on another line than the
predicate, or the predicate itself, has a flag instead: a pole with a label.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

from capsrl.sentence import Proposition, Sentence
from capsrl.show.colors import INK, PAPER, role_class, role_color, role_style
from capsrl.show.formatting import (
    escaped,
    phrase_words,
    role_histories,
    show_probability,
    show_sense,
    text_width,
    visible,
)

MAX_WIDTH = 960.0
WORD_SIZE, LABEL_SIZE = 15.0, 11.0  # font sizes in pixels
WORD_GAP = 11.0
SLOT = 8.0  # distance of two arcs that end at the same word
_LABEL_GAP = 9.0  # from the label of an arc to its bend

_FONT = "Arial, 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', sans-serif"
_MARGIN = 10.0
_LEVEL = 19.0  # height of one level of arcs
_STEM = 8.0  # gap between the words and the first level
_WORD, _SENSE, _BREAK = 22.0, 16.0, 12.0  # heights of words, senses, and gaps between lines
_BEND = 7.0  # radius of the corners of arcs
_BRACKET = 5.0  # distance of two brackets, one below the other
_HIDDEN = ' aria-hidden="true"'  # the table beside the drawing says the same
_INKED = f'class="capsrl-ink" fill="{INK[0]}"'


@dataclass(frozen=True, slots=True)
class Arc:
    """The arc from the predicate to the head word of an argument."""

    word: int
    role: str
    label: str
    probability: float | None = None
    phrase: range = range(0)  # words to be underlined
    states: str = ""  # for drawings that change, see `RoleHistory.states`

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
    """An arc or a flag; a flag has left = right."""

    arc: Arc
    left: float
    right: float
    tip: float  # where the arrow points down: left or right
    label_x: float  # the middle of the label
    level: int  # from 1


@dataclass(slots=True)
class Line:
    """One line of words, and the arcs and flags above them."""

    boxes: list[Box] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)


def svg(*sentences: Sentence, max_width: float = MAX_WIDTH) -> str:
    """Draw the propositions of sentences one below the other; each role has its color.

    The sense is below the predicate; roles are on their arcs, with probabilities where known:
    improbable arcs are paler. Phrases are underlined, head words more thickly. Long sentences are
    wrapped; an argument on another line than the predicate has a flag instead of an arc. The theme
    is light, or dark if the viewer prefers it.

    max_width  width at which lines are wrapped, in pixels
    """
    width, y, groups = 0.0, _MARGIN, ""
    for sentence in sentences:
        for proposition in sentence.propositions or (None,):
            arcs = _arcs(proposition, numbers=True)
            for line in _drawn_lines(sentence, proposition, arcs, max_width):
                groups += f'<g transform="translate({_MARGIN:g} {y:.1f})">{line.content}</g>'
                width = max(width, line.width)
                y += line.height
    dark = f".capsrl-paper{{fill:{PAPER[1]}}}.capsrl-ink{{fill:{INK[1]}}}"
    style = f"<style>{role_style()}@media (prefers-color-scheme:dark){{{dark}}}</style>"
    paper = f'<rect class="capsrl-paper" width="100%" height="100%" fill="{PAPER[0]}"/>'
    return _element(f"{style}{paper}{groups}", width, y)


def svg_lines(
    sentence: Sentence, proposition: Proposition, *, max_width: float, steps: bool = False
) -> str:
    """Draw a proposition as HTML: every line is an SVG; successive lines without roles are folded.

    The page must have the rules of `role_style`.

    steps  with an arc for each role that a word had after any iteration, and `data-states` from
           `RoleHistory`, for a page that shows one iteration after the other
    """
    arcs = _arcs(proposition, steps=steps)
    lines = list(_drawn_lines(sentence, proposition, arcs, max_width - 2 * _MARGIN))
    html, start = "", f'<g transform="translate({_MARGIN:g} 0)">'
    for is_idle, group in groupby(lines, key=lambda line: line.is_idle):
        run = list(group)
        drawn = "".join(
            _element(f"{start}{content}</g>", width, height, _HIDDEN)
            for content, width, height, *_ in run
        )
        if is_idle and len(lines) > 2:
            n_words = sum(line.n_words for line in run)
            drawn = f"<details><summary>{n_words} words without a role</summary>{drawn}</details>"
        html += drawn
    return html


def _element(content: str, width: float, height: float, hidden: str = "") -> str:
    size = f"{width + 2 * _MARGIN:.0f}", f"{height:.0f}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
        f'viewBox="0 0 {" ".join(size)}"{hidden} '
        f'font-family="{_FONT}" font-size="{WORD_SIZE:g}" text-anchor="middle">{content}</svg>'
    )


def _arcs(shown: Proposition | None, *, numbers: bool = False, steps: bool = False) -> list[Arc]:
    arcs: list[Arc] = []
    for row in role_histories(shown, steps=steps) if shown else ():
        part, label, sure = row.argument, visible(row.role), None
        phrase = phrase_words(part) if part else range(0)
        if part and numbers:
            sure = part.probability
            label = f"{label} {show_probability(sure)}".strip()
        arcs.append(Arc(row.word, row.role, label, sure, phrase, row.states))
    return sorted(arcs, key=lambda arc: arc.word)


class _Drawn(NamedTuple):
    content: str
    width: float
    height: float
    n_words: int
    is_idle: bool


def _drawn_lines(
    sentence: Sentence, proposition: Proposition | None, arcs: list[Arc], max_width: float
) -> Iterator[_Drawn]:
    predicate, sense = -1, ""
    if proposition:
        sure = show_probability(proposition.probability)
        predicate, sense = proposition.predicate, f"{show_sense(proposition)} {sure}".strip()
    for line in make_layout(sentence.words, predicate, sense, arcs, max_width=max_width):
        n_levels = max((segment.level for segment in line.segments), default=0)
        y = n_levels * _LEVEL + (_STEM if n_levels else 0.0)  # top of the words
        base, last = y + _WORD * 0.7, line.boxes[-1]
        brackets = _brackets(line, arcs, base + 6)
        content = "".join([*brackets, *(_arc(segment, y) for segment in line.segments)])
        depth = _BRACKET if brackets else 0.0
        for box in line.boxes:
            bold = ' font-weight="700"' if box.word == predicate else ""
            content += _text(box.x, base, sentence.words[box.word], _INKED + bold)
            if box.word == predicate:
                style = f'{_INKED} font-size="{LABEL_SIZE:g}" font-style="italic"'
                content += _text(box.x, base + _SENSE, sense, style)
                depth = _SENSE
        width = max([last.x + last.half, *(each.label_x + each.arc.half for each in line.segments)])
        height = y + _WORD + depth + _BREAK
        yield _Drawn(content, width, height, len(line.boxes), not (n_levels or depth))


def _text(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escaped(text)}</text>'


def _group(arc: Arc, content: str, kind: str) -> str:
    states = f' data-states="{arc.states}"' if arc.states else ""
    names = f"{kind} {role_class(arc.role)}"
    return f'<g class="{names}" color="{role_color(arc.role)}"{states}>{content}</g>'


def _brackets(line: Line, arcs: list[Arc], y: float) -> list[str]:
    """Lines below phrases, thicker below head words; of two that overlap, the longer is lower."""
    brackets: list[str] = []
    drawn: list[set[int]] = []  # the words of the brackets so far
    for arc in sorted(arcs, key=lambda arc: len(arc.phrase)):
        boxes = [box for box in line.boxes if box.word in arc.phrase]
        if boxes:
            at = y + _BRACKET * sum(not words.isdisjoint(arc.phrase) for words in drawn)
            drawn.append(set(arc.phrase))
            left, right = boxes[0].x - boxes[0].half, boxes[-1].x + boxes[-1].half
            content = f'<path d="M{left:.1f} {at - 3:.1f}v3H{right:.1f}v-3" fill="none" '
            content += 'stroke="currentColor" stroke-width="1.2"/>'
            for head in (box for box in boxes if box.word == arc.word):
                size = f'width="{2 * head.half:.1f}" height="3.5" fill="currentColor"'
                content += f'<rect x="{head.x - head.half:.1f}" y="{at - 2:.1f}" {size}/>'
            brackets.append(_group(arc, content, "capsrl-bracket"))
    return brackets


def _arc(segment: Segment, y: float) -> str:
    """An arc or a flag with its arrow head and label; `y` is the top of the words."""
    left, right, tip, arc = segment.left, segment.right, segment.tip, segment.arc
    top, foot = y - _STEM - (segment.level - 0.5) * _LEVEL, y - 2
    bend = min(_BEND, (right - left) / 2)
    path = f"M{left:.1f} {foot:.1f}V{top + bend:.1f}"
    if left < right:
        path += f"q0 {-bend:.1f} {bend:.1f} {-bend:.1f}H{right - bend:.1f}"
        path += f"q{bend:.1f} 0 {bend:.1f} {bend:.1f}V{foot:.1f}"
    sure = 1.0 if arc.probability is None else arc.probability
    label = f'fill="currentColor" font-size="{LABEL_SIZE:g}" font-weight="700"'
    content = (
        f'<path class="capsrl-line" d="{path}" fill="none" stroke="currentColor" '
        f'stroke-width="1.4" stroke-opacity="{0.35 + 0.65 * sure:.2f}"/>'
        f'<path d="M{tip - 3.5:.1f} {foot - 6:.1f}h7l-3.5 7z" fill="currentColor"/>'
        f'<rect class="capsrl-paper" x="{segment.label_x - arc.half:.1f}" y="{top - 6:.1f}" '
        f'width="{2 * arc.half:.1f}" height="12" fill="{PAPER[0]}"/>'
        f"{_text(segment.label_x, top + 4, arc.label, label)}"
    )
    return _group(arc, content, "capsrl-arc")


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
