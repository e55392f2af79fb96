"""Draw propositions as SVG: the words, and arcs from the predicate to its arguments.

A drawing is self-contained (no script, font or link) and well-formed XML whatever the words are.
Its colors are plain attributes, which every viewer supports; a style sheet adds a dark theme.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.colors import DARK, LIGHT, role_class, role_color, role_style
from capsrl.show.formatting import escaped, show_probability, show_sense, visible
from capsrl.show.layout import LABEL_SIZE, WORD_SIZE, Arc, Bracket, Line, Segment, make_layout
from capsrl.show.role_history import role_histories

MAX_WIDTH = 960.0
FONT = "Arial, 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', sans-serif"

_MARGIN = 10.0
_LEVEL = 19.0  # height of one level of arcs
_STEM = 8.0  # gap between the words and the first level
_WORD, _SENSE, _BREAK = 22.0, 16.0, 12.0  # heights of words, senses, and gaps between lines
_BEND = 7.0  # radius of the corners of arcs
_BRACKET = 5.0  # distance of two brackets, one below the other
_INK = f'class="capsrl-ink" fill="{LIGHT.ink}"'


def svg(sentence: Sentence, *, max_width: float = MAX_WIDTH) -> str:
    """Draw the propositions of a sentence one below the other; each role has its color.

    The sense is below the predicate; roles are on their arcs, with probabilities where known:
    improbable arcs are paler. Phrases are underlined, head words more thickly. Long sentences are
    wrapped; an argument on another line than the predicate has a flag instead of an arc. The theme
    is light, or dark if the viewer prefers it.

    max_width  width at which lines are wrapped, in pixels
    """
    return svg_sheet([sentence], max_width=max_width)


def svg_sheet(sentences: Iterable[Sentence], *, max_width: float = MAX_WIDTH) -> str:
    """Draw several sentences one below the other, each as `svg` does."""
    width, y, groups = 0.0, _MARGIN, ""
    for sentence in sentences:
        for proposition in sentence.propositions or (None,):
            for line in _lines(sentence, proposition, _arcs(proposition), max_width):
                groups += f'<g transform="translate({_MARGIN:g} {y:.1f})">{line.content}</g>'
                width = max(width, line.width)
                y += line.height
    style = (
        f"{role_style()}@media (prefers-color-scheme:dark){{.capsrl-paper{{fill:{DARK.paper}}}"
        f".capsrl-ink{{fill:{DARK.ink}}}}}"
    )
    paper = f'<rect class="capsrl-paper" width="100%" height="100%" fill="{LIGHT.paper}"/>'
    namespace = 'xmlns="http://www.w3.org/2000/svg"'
    return _element(f"<style>{style}</style>{paper}{groups}", width, y, namespace)


def svg_lines(
    sentence: Sentence, proposition: Proposition, *, max_width: float, steps: bool = False
) -> str:
    """Draw a proposition as HTML: every line is an SVG; successive lines without roles are folded.

    The page must have the rules of `role_style`.

    steps  with an arc for each role that a word had after any iteration, and `data-states` from
           `RoleHistory`, for a page that shows one iteration after the other
    """
    arcs = _step_arcs(proposition) if steps else _arcs(proposition, numbers=False)
    lines = _lines(sentence, proposition, arcs, max_width - 2 * _MARGIN)
    html = ""
    for is_idle, group in groupby(lines, key=lambda line: line.is_idle):
        run = list(group)
        shift = f'<g transform="translate({_MARGIN:g} 0)">'
        drawn = "".join(
            _element(f"{shift}{content}</g>", width, height, 'aria-hidden="true"')
            for content, width, height, *_ in run
        )
        if is_idle and len(lines) > 2:
            n_words = sum(line.n_words for line in run)
            drawn = f"<details><summary>{n_words} words without a role</summary>{drawn}</details>"
        html += drawn
    return html


def _element(content: str, width: float, height: float, attributes: str) -> str:
    size = f"{width + 2 * _MARGIN:.0f}", f"{height:.0f}"
    return (
        f'<svg {attributes} width="{size[0]}" height="{size[1]}" viewBox="0 0 {" ".join(size)}" '
        f'font-family="{FONT}" font-size="{WORD_SIZE:g}" text-anchor="middle">{content}</svg>'
    )


def sense_label(proposition: Proposition) -> str:
    """The text below a predicate."""
    return _joined(show_sense(proposition), show_probability(proposition.probability))


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _arcs(proposition: Proposition | None, *, numbers: bool = True) -> list[Arc]:
    arcs: list[Arc] = []
    for part in proposition.arguments if proposition else ():
        probability = show_probability(part.probability) if numbers else ""
        label = _joined(visible(part.role), probability)
        arcs.append(Arc(part.word, part.role, label, part.probability, _bracketed(part)))
    return list(dict.fromkeys(arcs))


def _bracketed(part: Argument) -> tuple[int, int]:
    return (part.phrase.first, part.phrase.last) if part.phrase else (part.word, part.word)


def _step_arcs(proposition: Proposition) -> list[Arc]:
    """An arc for each role that a word has after any iteration."""
    kept = {(part.word, part.role): _bracketed(part) for part in proposition.arguments}
    return [
        Arc(each.word, each.role, visible(each.role), None, phrase, each.states)
        for each in role_histories(proposition)
        for phrase in (kept.get((each.word, each.role)),)
    ]


class _Drawn(NamedTuple):
    content: str
    width: float
    height: float
    n_words: int
    is_idle: bool


def _lines(
    sentence: Sentence, proposition: Proposition | None, arcs: list[Arc], max_width: float
) -> list[_Drawn]:
    predicate = proposition.predicate if proposition else -1
    sense = sense_label(proposition) if proposition else ""
    layout = make_layout(sentence.words, predicate, sense, arcs, max_width=max_width)
    return [_draw_line(line, sentence.words, predicate, sense) for line in layout]


def _draw_line(line: Line, words: Sequence[str], predicate: int, sense: str) -> _Drawn:
    n_levels = max((segment.level for segment in line.segments), default=0)
    y = n_levels * _LEVEL + (_STEM if n_levels else 0.0)
    base = y + _WORD * 0.7
    parts = [
        _group(each.arc, _bracket(each, base + 6), " capsrl-bracket") for each in line.brackets
    ]
    parts += [_group(each.arc, _arc(each, y)) for each in line.segments]
    below = max((each.level for each in line.brackets), default=0) * _BRACKET
    for box in line.boxes:
        bold = ' font-weight="700"' if box.word == predicate else ""
        parts.append(_text(box.x, base, words[box.word], _INK + bold))
        if box.word == predicate:
            style = f'{_INK} font-size="{LABEL_SIZE:g}" font-style="italic"'
            parts.append(_text(box.x, base + _SENSE, sense, style))
            below = max(below, _SENSE)
    is_idle = not (line.segments or line.brackets or below)
    height = y + _WORD + below + _BREAK
    return _Drawn("".join(parts), line.width, height, len(line.boxes), is_idle)


def _group(arc: Arc, content: str, more: str = "") -> str:
    states = f' data-states="{arc.states}"' if arc.states else ""
    kind = f"capsrl-arc {role_class(arc.role)}{more}"
    return f'<g class="{kind}" color="{role_color(arc.role)}"{states}>{content}</g>'


def _text(x: float, y: float, text: str, attributes: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{escaped(text)}</text>'


def _bracket(bracket: Bracket, y: float) -> str:
    """A line below the words of a phrase, thicker below its head word."""
    y += (bracket.level - 1) * _BRACKET
    path = f"M{bracket.left:.1f} {y - 3:.1f}v3H{bracket.right:.1f}v-3"
    thin = f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="1.2"/>'
    if bracket.head is None:
        return thin
    left, width = bracket.head.left, bracket.head.right - bracket.head.left
    thick = f'<rect x="{left:.1f}" y="{y - 2:.1f}" width="{width:.1f}" height="3.5"'
    return f'{thin}{thick} fill="currentColor"/>'


def _arc(segment: Segment, y: float) -> str:
    """An arc or a flag with its arrow head and label; `y` is the top of the words."""
    left, right, tip, half = segment.left, segment.right, segment.tip, segment.arc.half
    top = y - _STEM - (segment.level - 0.5) * _LEVEL
    foot = y - 2
    bend = min(_BEND, (right - left) / 2)
    path = f"M{left:.1f} {foot:.1f}V{top + bend:.1f}"
    if left < right:
        path += f"q0 {-bend:.1f} {bend:.1f} {-bend:.1f}H{right - bend:.1f}"
        path += f"q{bend:.1f} 0 {bend:.1f} {bend:.1f}V{foot:.1f}"
    label = f'fill="currentColor" font-size="{LABEL_SIZE:g}" font-weight="700"'
    return (
        f'<path class="capsrl-line" d="{path}" fill="none" stroke="currentColor" '
        f'stroke-width="1.4" stroke-opacity="{_opacity(segment.arc.probability):.2f}"/>'
        f'<path d="M{tip - 3.5:.1f} {foot - 6:.1f}h7l-3.5 7z" fill="currentColor"/>'
        f'<rect class="capsrl-paper" x="{segment.label_x - half:.1f}" y="{top - 6:.1f}" '
        f'width="{2 * half:.1f}" height="12" fill="{LIGHT.paper}"/>'
        f"{_text(segment.label_x, top + 4, segment.arc.label, label)}"
    )


def _opacity(probability: float | None) -> float:
    known = 1.0 if probability is None else min(max(probability, 0.0), 1.0)
    return 0.35 + 0.65 * known
