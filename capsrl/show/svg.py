"""What a drawing is made of: arcs, words in their places, the parts of arcs above each line."""

from dataclasses import dataclass, field

from capsrl.show.text import text_width

WORD_SIZE, LABEL_SIZE = 15.0, 11.0  # of the fonts


@dataclass(frozen=True, slots=True)
class Arc:
    """From a predicate to the head word of an argument, and what is written on it.

    far_label  is used where the arc comes from another line, and names the predicate too
    """

    proposition: int
    source: int
    target: int
    label: str
    far_label: str
    probability: float | None


@dataclass(frozen=True, slots=True)
class Box:
    """A word's place: `x` is its middle, `width` what it and its sense need."""

    word: int
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of an arc that runs over one line, at a level counted from 1.

    left, right      where it bends down, or leaves the line
    down_at          which of the two ends come down on a word
    head_at          which end, if any, is the arrow's head
    label, label_x   what is written on it, around which place
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
        """All that the segment and its label cover of the line."""
        half = text_width(self.label, LABEL_SIZE) / 2 + 2
        return min(self.left, self.label_x - half), max(self.right, self.label_x + half)

    @property
    def legs(self) -> list[float]:
        """Where it comes down."""
        return [x for x, down in zip((self.left, self.right), self.down_at, strict=True) if down]


@dataclass(slots=True)
class Line:
    """Some words of the sentence side by side, and the arcs above them."""

    boxes: list[Box] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    @property
    def n_levels(self) -> int:
        """How many levels of arcs there are."""
        return max((segment.level for segment in self.segments), default=0)


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a drawing, and its width."""

    lines: list[Line]
    width: float
