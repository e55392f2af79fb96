"""The parts of a drawing: arcs, boxes of words, and the segments of arcs above each line."""

from dataclasses import dataclass, field

from capsrl.show.formatting import text_width

WORD_SIZE, LABEL_SIZE = 15.0, 11.0  # font sizes in pixels


@dataclass(frozen=True, slots=True)
class Arc:
    """An arc from a predicate to the head word of an argument, with its label.

    far_label  the label on another line than the predicate's; it names the predicate too
    """

    proposition: int
    source: int
    target: int
    label: str
    far_label: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Box:
    """The box of a word: `x` is its middle, `width` includes the sense below it."""

    word: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of an arc above one line, at a level counted from 1.

    left, right     where it bends down or leaves the line
    down_at         which of the two ends come down on a word
    head_at         the end with the arrow head, left or right; None if it is on another line
    label, label_x  the label and its middle
    """

    arc: Arc
    left: float
    right: float
    down_at: tuple[bool, bool]
    head_at: str | None
    label: str
    label_x: float
    level: int = 0

    @property
    def reach(self) -> tuple[float, float]:
        """The first and last x that the segment or its label covers."""
        half = text_width(self.label, LABEL_SIZE) / 2 + 2
        return min(self.left, self.label_x - half), max(self.right, self.label_x + half)

    @property
    def legs(self) -> list[float]:
        """The x of the ends that come down on a word."""
        return [x for x, down in zip((self.left, self.right), self.down_at, strict=True) if down]


@dataclass(slots=True)
class Line:
    """One line of words, and the arcs above them."""

    boxes: list[Box] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    @property
    def n_levels(self) -> int:
        """The number of levels of arcs."""
        return max((segment.level for segment in self.segments), default=0)


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a drawing and its width."""

    lines: list[Line]
    width: float
