"""Assign arc segments to levels so that nothing overlaps, and move labels clear of other arcs."""

from dataclasses import replace

from capsrl.show.formatting import text_width
from capsrl.show.geometry import LABEL_SIZE, Segment

_STEP = 2.0  # pixels between the positions that are tried for a label


def with_levels(segments: list[Segment]) -> list[Segment]:
    """Give each segment the lowest level where it is above those inside it and overlaps none."""
    placed: list[Segment] = []
    for segment in sorted(segments, key=lambda each: (_is_loop(each), each.right - each.left)):
        left, right = segment.reach
        others = [each for each in placed if each.reach[0] < right and left < each.reach[1]]
        taken = {each.level for each in others}
        below = [
            each.level
            for each in others
            if _is_loop(segment) or (segment.left <= each.left and each.right <= segment.right)
        ]
        level = max(below, default=0) + 1
        while level in taken:
            level += 1
        placed.append(replace(segment, level=level))
    return placed


def _is_loop(segment: Segment) -> bool:
    return segment.arc.source == segment.arc.target


def with_free_labels(segments: list[Segment]) -> list[Segment]:
    """Move labels along their arcs until no other arc crosses them."""
    return [
        replace(
            segment, label_x=_label_x(segment, [e for e in segments if e.level > segment.level])
        )
        for segment in segments
    ]


def _label_x(segment: Segment, above: list[Segment]) -> float:
    half = text_width(segment.label, LABEL_SIZE) / 2 + 2
    legs = [x for other in above for x in other.legs]
    middle = segment.label_x
    most = max(0.0, (segment.right - segment.left) / 2 - half)
    for number in range(int(most / _STEP) + 1):
        for x in (middle - number * _STEP, middle + number * _STEP):
            if not any(abs(leg - x) < half for leg in legs):
                return x
    return middle
