"""How roles moved: a trace small enough to check by hand."""

from dataclasses import replace

import numpy as np
import pytest

from capsrl.sentence import Argument, Trace
from capsrl.show import Movement, movements
from tests.helpers.show_sentences import contract, signing


def test_worked_example():
    moved = movements(contract(traced=True).propositions[0])
    assert [(each.word, each.role, each.kept) for each in moved] == [
        (0, "A0", True),
        (3, "A1", True),
        (4, "AM-TMP", True),
        (6, "A1", False),
    ]
    assert moved[1].probs == pytest.approx((0.25, 0.625, 0.97))
    assert moved[1].best == ("none", "A1", "A1")
    assert moved[2].best == ("A1", "AM-TMP", "AM-TMP")
    assert moved[3] == Movement(6, "A1", False, moved[3].probs, ("A1", "none", "none"))
    assert moved[3].probs == pytest.approx((0.75, 0.5, 0.1))


def test_argument_below_the_threshold_is_not_kept():
    proposition = contract(traced=True).propositions[0]
    bare = replace(proposition, arguments=proposition.arguments[:1])
    assert [(m.word, m.role, m.kept) for m in movements(bare)][1] == (3, "A1", False)


def test_nothing_without_a_trace_or_words():
    proposition = contract().propositions[0]
    assert movements(proposition) == []
    empty = Trace(roles=("_", "A0"), beliefs=np.zeros((1, 0, 2), dtype=np.float32))
    assert movements(replace(proposition, arguments=(), trace=empty)) == []


@pytest.mark.parametrize("argument", [Argument("A9", 0), Argument("A0", 8)])
def test_a_trace_of_something_else_is_refused(argument):
    proposition = replace(contract().propositions[0], arguments=(argument,), trace=signing())
    wanted = f"4 roles and 8 words does not know all of {{{argument.word}: '{argument.role}'}}"
    with pytest.raises(ValueError, match=wanted):
        movements(proposition)
