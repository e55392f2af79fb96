"""Role histories of a trace small enough to check by hand."""

from dataclasses import replace

import numpy as np
import pytest

from capsrl.sentence import Argument, Trace
from capsrl.show import RoleHistory, role_histories
from tests.helpers.show_sentences import contract, signing


def test_worked_example():
    histories = role_histories(contract(traced=True).propositions[0])
    assert [(each.word, each.role, each.kept) for each in histories] == [
        (0, "A0", True),
        (3, "A1", True),
        (4, "AM-TMP", True),
        (6, "A1", False),
    ]
    assert histories[1].probs == pytest.approx((0.25, 0.625, 0.97))
    assert histories[1].best == ("none", "A1", "A1")
    assert histories[2].best == ("A1", "AM-TMP", "AM-TMP")
    assert histories[3] == RoleHistory(6, "A1", False, histories[3].probs, ("A1", "none", "none"))
    assert histories[3].probs == pytest.approx((0.75, 0.5, 0.1))


def test_argument_below_the_threshold_is_not_kept():
    proposition = contract(traced=True).propositions[0]
    bare = replace(proposition, arguments=proposition.arguments[:1])
    assert [(m.word, m.role, m.kept) for m in role_histories(bare)][1] == (3, "A1", False)


def test_without_trace_or_words():
    proposition = contract().propositions[0]
    assert role_histories(proposition) == []
    empty = Trace(roles=("_", "A0"), beliefs=np.zeros((1, 0, 2), dtype=np.float32))
    assert role_histories(replace(proposition, arguments=(), trace=empty)) == []


@pytest.mark.parametrize("argument", [Argument("A9", 0), Argument("A0", 8)])
def test_trace_of_another_proposition(argument):
    proposition = replace(contract().propositions[0], arguments=(argument,), trace=signing())
    wanted = f"expected .* of {{{argument.word}: '{argument.role}'}}, got 4 roles and 8 words"
    with pytest.raises(ValueError, match=wanted):
        role_histories(proposition)
