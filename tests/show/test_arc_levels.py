"""Levels and labels of arc segments above one line."""

from capsrl.show.arc_levels import with_free_labels, with_levels
from capsrl.show.geometry import Arc, Segment


def segment(left: float, right: float, *, source: int = 0, target: int = 1) -> Segment:
    arc = Arc(0, source, target, "A0", "sign.01 A0", None)
    return Segment(arc, left, right, (True, True), "right", "A0", (left + right) / 2)


def levels(*segments: Segment) -> dict[tuple[float, float], int]:
    return {(each.left, each.right): each.level for each in with_levels(list(segments))}


def test_segments_apart_share_a_level():
    assert levels(segment(0, 50), segment(60, 100)) == {(0, 50): 1, (60, 100): 1}


def test_longer_segments_are_above_those_inside():
    assert levels(segment(0, 200), segment(10, 60), segment(70, 120)) == {
        **{(10, 60): 1, (70, 120): 1},
        (0, 200): 2,
    }


def test_loops_are_above_all_others():
    assert levels(segment(0, 200), segment(95, 105, source=2, target=2))[95, 105] == 2


def test_labels_move_clear_of_the_ends_of_higher_arcs():
    low, high = with_levels([segment(0, 100), segment(50, 300)])
    assert (low.level, high.level) == (1, 2)
    moved, same = with_free_labels([low, high])
    assert abs(moved.label_x - 50) > 5
    assert same == high
