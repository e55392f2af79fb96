"""A sentence in, an SVG drawing out: arcs from predicates to their arguments, as linguists draw.

The drawing stands alone (no script, no font, no link) and is well-formed XML whatever the words.
Its colours are plain attributes, which every viewer knows; a style adds those for dark screens.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from capsrl.sentence import Proposition, Sentence
from capsrl.show.layout import make_layout, sense_label
from capsrl.show.svg import LABEL_SIZE, WORD_SIZE, Segment
from capsrl.show.text import escaped, text_width

Theme = Literal["auto", "light", "dark"]

MAX_WIDTH = 960.0
FONT = "Arial, 'Helvetica Neue', 'Liberation Sans', 'DejaVu Sans', sans-serif"

_MARGIN = 14.0
_LEVEL = 19.0  # height of a level of arcs
_STEM = 8.0  # from the words up to the first level, less its own height
_WORD, _SENSE, _BREAK = 19.0, 14.0, 14.0  # heights of words, of senses, of the space between lines
_BEND = 7.0  # radius of the corners of arcs


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours: words, background, and one hue per proposition (the ninth begins anew).

    Every hue can be read on the background (contrast 4.5 and more).
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


def svg(
    sentence: Sentence,
    propositions: Sequence[Proposition] | None = None,
    *,
    max_width: float = MAX_WIDTH,
    theme: Theme = "auto",
) -> str:
    """Draw all propositions of a sentence, or those given, each in its own colour.

    The sense stands under its predicate; roles stand on their arcs, with probabilities when they
    are known: less sure arcs are paler. Long sentences are wrapped; an arc to another line leaves
    at the edge, and where it comes in its label names the predicate too.

    max_width  where lines are wrapped, in pixels
    theme      auto: light, or dark where the viewer asks for that
    """
    palette = DARK if theme == "dark" else LIGHT
    return _frame([_draw(sentence, propositions, max_width, palette)], palette, theme)


def svg_sheet(
    sentences: Iterable[Sentence], *, max_width: float = MAX_WIDTH, theme: Theme = "auto"
) -> str:
    """Draw several sentences one below the other; of one sentence, the same as `svg`."""
    palette = DARK if theme == "dark" else LIGHT
    drawings = [_draw(sentence, None, max_width, palette) for sentence in sentences]
    return _frame(drawings, palette, theme)


@dataclass(frozen=True, slots=True)
class _Drawing:
    content: str
    width: float
    height: float


def _draw(
    sentence: Sentence,
    propositions: Sequence[Proposition] | None,
    max_width: float,
    palette: Palette,
) -> _Drawing:
    chosen = sentence.propositions if propositions is None else tuple(propositions)
    layout = make_layout(sentence, chosen, max_width=max_width)
    numbers_of: dict[int, list[int]] = {}  # of propositions, by predicate; a word may have two
    for number, proposition in enumerate(chosen):
        numbers_of.setdefault(proposition.predicate, []).append(number)
    groups: list[list[str]] = [[] for _ in chosen]
    words: list[str] = []
    y = _MARGIN
    for line in layout.lines:
        y += line.n_levels * _LEVEL + (_STEM if line.segments else 0.0)
        base = y + _WORD * 0.75
        for segment in line.segments:
            groups[segment.arc.proposition].append(_arc(segment, y, palette.paper))
        for box in line.boxes:
            numbers = numbers_of.get(box.word, [])
            owner = groups[numbers[0]] if numbers else words
            owner.append(_word(box.x, base, sentence.words[box.word], colored=bool(numbers)))
            for row, number in enumerate(numbers, start=1):
                groups[number].append(_sense(box.x, base + row * _SENSE, chosen[number]))
        n_senses = max(len(numbers_of.get(box.word, [])) for box in line.boxes)
        y += _WORD + n_senses * _SENSE + _BREAK
    content = _ink(words, palette) + "".join(
        _group(parts, number % len(palette.hues), palette) for number, parts in enumerate(groups)
    )
    height = max(y - _BREAK, _MARGIN) + _MARGIN
    return _Drawing(content, layout.width + 2 * _MARGIN, height)


def style() -> str:
    """The rules that make drawings dark where the viewer asks for it, and let one stand out."""
    hues = "".join(f".capsrl-c{number}{{color:{hue}}}" for number, hue in enumerate(DARK.hues))
    return (
        ".capsrl-svg:has(.capsrl-p:hover) .capsrl-p:not(:hover){opacity:.15}"
        "@media (prefers-color-scheme:dark){"
        f".capsrl-paper{{fill:{DARK.paper}}}.capsrl-ink{{fill:{DARK.ink}}}{hues}}}"
    )


def _frame(drawings: Sequence[_Drawing], palette: Palette, theme: Theme) -> str:
    """One picture of drawings; a proposition under the mouse stands out within its own."""
    width = max((drawing.width for drawing in drawings), default=0.0)
    height, groups = 0.0, []
    for drawing in drawings:
        place = f"translate({_MARGIN:g} {height:g})"
        groups.append(f'<g class="capsrl-svg" transform="{place}">{drawing.content}</g>')
        height += drawing.height
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    rules = f"<style>{style()}</style>" if theme == "auto" else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'font-family="{FONT}" font-size="{WORD_SIZE:g}" text-anchor="middle">{rules}'
        f'<rect class="capsrl-paper" width="100%" height="100%" fill="{palette.paper}"/>'
        f"{''.join(groups)}</svg>"
    )


def _ink(words: list[str], palette: Palette) -> str:
    return f'<g class="capsrl-ink" fill="{palette.ink}">{"".join(words)}</g>'


def _group(parts: list[str], hue: int, palette: Palette) -> str:
    """All that belongs to one proposition, so that it can stand out as one."""
    color = palette.hues[hue]
    return f'<g class="capsrl-p capsrl-c{hue}" color="{color}">{"".join(parts)}</g>'


def _word(x: float, y: float, word: str, *, colored: bool) -> str:
    fill = ' fill="currentColor"' if colored else ""
    return f'<text x="{x:.1f}" y="{y:.1f}"{fill}>{escaped(word)}</text>'


def _sense(x: float, y: float, proposition: Proposition) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" font-size="{LABEL_SIZE:g}" '
        f'font-style="italic">{escaped(sense_label(proposition))}</text>'
    )


def _arc(segment: Segment, y: float, paper: str) -> str:
    """An arc with its head and label; `y` is where the words begin."""
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
        f'width="{width:.1f}" height="12" fill="{paper}"/>'
        f'<text x="{segment.label_x:.1f}" y="{top + 4:.1f}" fill="currentColor" '
        f'font-size="{LABEL_SIZE:g}">{escaped(segment.label)}</text>'
    )
    return "".join(parts)


def _opacity(probability: float | None) -> float:
    sure = 1.0 if probability is None else min(max(probability, 0.0), 1.0)
    return 0.35 + 0.65 * sure
