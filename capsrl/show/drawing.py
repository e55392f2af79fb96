"""Draw sentences as SVG: words, and arcs from predicates to their arguments.

A drawing is self-contained (no script, font or link) and well-formed XML whatever the words are.
Its colors are plain attributes, which every viewer supports; a style sheet adds a dark theme.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from capsrl.sentence import Sentence
from capsrl.show.formatting import escaped, text_width
from capsrl.show.geometry import LABEL_SIZE, WORD_SIZE, Segment
from capsrl.show.layout import make_layout, sense_label

MAX_WIDTH = 960.0
FONT = "Arial, 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', sans-serif"

_MARGIN = 14.0
_LEVEL = 19.0  # height of one level of arcs
_STEM = 8.0  # gap between the words and the first level
_WORD, _SENSE, _BREAK = 19.0, 14.0, 14.0  # heights of words, senses, and gaps between lines
_BEND = 7.0  # radius of the corners of arcs


@dataclass(frozen=True, slots=True)
class Palette:
    """Colors of words and background, and one hue per proposition; the ninth takes the first again.

    Every hue has a contrast of at least 4.5 to the background.
    """

    ink: str
    paper: str
    hues: tuple[str, ...]


LIGHT = Palette(
    "#1f2328",
    "#ffffff",
    ("#0b5fa5", "#b3400e", "#0f7355", "#8a3d9e", "#856000", "#b0245f", "#3d6b00", "#4a4fb8"),
)
DARK = Palette(
    "#e6e6e6",
    "#16181d",
    ("#6db3f2", "#ff9b6a", "#4fd1a5", "#d49ae6", "#e0b84a", "#ff8fb8", "#a8d05a", "#a5a9ff"),
)


def svg(sentence: Sentence, *, max_width: float = MAX_WIDTH) -> str:
    """Draw the propositions of a sentence, each in its own color.

    The sense is below its predicate; roles are on their arcs, with probabilities where known:
    improbable arcs are paler. Long sentences are wrapped; an arc to another line leaves at the
    edge, and its label on the other line names the predicate too. The theme is light, or dark if
    the viewer prefers it.

    max_width  width at which lines are wrapped, in pixels
    """
    return svg_sheet([sentence], max_width=max_width)


def svg_sheet(sentences: Iterable[Sentence], *, max_width: float = MAX_WIDTH) -> str:
    """Draw several sentences one below the other, each as `svg` does."""
    width = height = 0.0
    groups: list[str] = []
    for sentence in sentences:
        drawing = _draw(sentence, max_width)
        origin = f"translate({_MARGIN:g} {height:g})"
        groups.append(f'<g class="capsrl-svg" transform="{origin}">{drawing.content}</g>')
        width = max(width, drawing.width)
        height += drawing.height
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="{FONT}" '
        f'font-size="{WORD_SIZE:g}" text-anchor="middle"><style>{style()}</style>'
        f'<rect class="capsrl-paper" width="100%" height="100%" fill="{LIGHT.paper}"/>'
        f"{''.join(groups)}</svg>"
    )


@dataclass(frozen=True, slots=True)
class _Drawing:
    content: str
    width: float
    height: float


def _draw(sentence: Sentence, max_width: float) -> _Drawing:
    layout = make_layout(sentence, max_width=max_width)
    numbers_of: dict[int, list[int]] = {}  # propositions by predicate; a word may have two
    for number, proposition in enumerate(sentence.propositions):
        numbers_of.setdefault(proposition.predicate, []).append(number)
    groups: list[list[str]] = [[] for _ in sentence.propositions]
    words: list[str] = []
    y = _MARGIN
    for line in layout.lines:
        y += line.n_levels * _LEVEL + (_STEM if line.segments else 0.0)
        base = y + _WORD * 0.75
        for segment in line.segments:
            groups[segment.arc.proposition].append(_arc(segment, y))
        for box in line.boxes:
            numbers = numbers_of.get(box.word, [])
            owner = groups[numbers[0]] if numbers else words
            owner.append(_word(box.x, base, sentence.words[box.word], colored=bool(numbers)))
            for row, number in enumerate(numbers, start=1):
                sense = sense_label(sentence.propositions[number])
                groups[number].append(_sense(box.x, base + row * _SENSE, sense))
        n_senses = max(len(numbers_of.get(box.word, [])) for box in line.boxes)
        y += _WORD + n_senses * _SENSE + _BREAK
    content = [f'<g class="capsrl-ink" fill="{LIGHT.ink}">{"".join(words)}</g>']
    content += [_group(parts, number) for number, parts in enumerate(groups)]
    height = max(y - _BREAK, _MARGIN) + _MARGIN
    return _Drawing("".join(content), layout.width + 2 * _MARGIN, height)


def style() -> str:
    """CSS rules for the dark theme, and to highlight the proposition under the mouse."""
    hues = "".join(f".capsrl-c{number}{{color:{hue}}}" for number, hue in enumerate(DARK.hues))
    return (
        ".capsrl-svg:has(.capsrl-p:hover) .capsrl-p:not(:hover){opacity:.15}"
        "@media (prefers-color-scheme:dark){"
        f".capsrl-paper{{fill:{DARK.paper}}}.capsrl-ink{{fill:{DARK.ink}}}{hues}}}"
    )


def _group(parts: list[str], number: int) -> str:
    """Everything that belongs to one proposition, so that it can be highlighted."""
    hue = number % len(LIGHT.hues)
    return f'<g class="capsrl-p capsrl-c{hue}" color="{LIGHT.hues[hue]}">{"".join(parts)}</g>'


def _word(x: float, y: float, word: str, *, colored: bool) -> str:
    fill = ' fill="currentColor"' if colored else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{fill}>{escaped(word)}</text>'


def _sense(x: float, y: float, sense: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" font-size="{LABEL_SIZE:g}" '
        f'font-style="italic">{escaped(sense)}</text>'
    )


def _arc(segment: Segment, y: float) -> str:
    """An arc with its arrow head and label; `y` is the top of the words."""
    left, right = segment.left, segment.right
    top = y - _STEM - (segment.level - 0.5) * _LEVEL
    foot = y - 2
    bend = min(_BEND, (right - left) / 2)
    down_left, down_right = segment.down_at
    path = [f"M{left:.1f} {top:.1f}"]
    if down_left:
        path = [f"M{left:.1f} {foot:.1f}V{top + bend:.1f}q0 {-bend:.1f} {bend:.1f} {-bend:.1f}"]
    path.append(f"H{right - bend if down_right else right:.1f}")
    if down_right:
        path.append(f"q{bend:.1f} 0 {bend:.1f} {bend:.1f}V{foot:.1f}")
    parts = [
        f'<path d="{"".join(path)}" fill="none" stroke="currentColor" stroke-width="1.3" '
        f'stroke-opacity="{_opacity(segment.arc.probability):.2f}"/>'
    ]
    if segment.head_at is not None:
        tip = left if segment.head_at == "left" else right
        head = f"M{tip - 3.5:.1f} {foot - 6:.1f}h7l-3.5 7z"
        parts.append(f'<path d="{head}" fill="currentColor"/>')
    width = text_width(segment.label, LABEL_SIZE)
    parts.append(
        f'<rect class="capsrl-paper" x="{segment.label_x - width / 2:.1f}" y="{top - 6:.1f}" '
        f'width="{width:.1f}" height="12" fill="{LIGHT.paper}"/>'
        f'<text x="{segment.label_x:.1f}" y="{top + 4:.1f}" fill="currentColor" '
        f'font-size="{LABEL_SIZE:g}">{escaped(segment.label)}</text>'
    )
    return "".join(parts)


def _opacity(probability: float | None) -> float:
    known = 1.0 if probability is None else min(max(probability, 0.0), 1.0)
    return 0.35 + 0.65 * known
