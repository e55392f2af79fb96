"""Role histories of a trace small enough to check by hand."""

from dataclasses import replace

import numpy as np
import pytest

from capsrl.sentence import Argument, Trace
from capsrl.show.role_history import RoleHistory, histories_or_arguments, role_histories
from tests.helpers.show_sentences import contract, signing


def test_worked_example():
    histories = role_histories(contract(traced=True).propositions[0])
    assert [(each.word, each.role, each.kept, each.states) for each in histories] == [
        (0, "A0", True, "nnn"),
        (3, "A1", True, "fnn"),
        (4, "A1", False, "npp"),
        (4, "AM-TMP", True, "fnn"),
        (6, "A1", False, "npp"),
    ]
    assert histories[1].probs == pytest.approx((0.25, 0.625, 0.97))
    assert histories[1].best == ("none", "A1", "A1")
    assert histories[2].best == histories[3].best == ("A1", "AM-TMP", "AM-TMP")
    left = histories[4]
    assert left == RoleHistory(6, "A1", None, left.probs, ("A1", "none", "none"))
    assert left.probs == pytest.approx((0.75, 0.5, 0.1))


def test_argument_below_the_threshold_is_not_kept():
    proposition = contract(traced=True).propositions[0]
    bare = replace(proposition, arguments=proposition.arguments[:1])
    dropped = role_histories(bare)[1]
    assert (dropped.word, dropped.role, dropped.kept, dropped.states) == (3, "A1", False, "fnp")


def test_argument_that_was_never_most_probable():
    proposition = contract(traced=True).propositions[0]
    forced = replace(proposition, arguments=(Argument("A0", 3),))
    histories = {(each.word, each.role): each.states for each in role_histories(forced)}
    assert histories[3, "A0"] == "ffn"


def test_arguments_without_a_trace():
    proposition = contract().propositions[0]
    rows = histories_or_arguments(proposition)
    assert [row.argument for row in rows] == list(proposition.arguments)
    assert {(row.probs, row.states) for row in rows} == {((), "")}
    traced = contract(traced=True).propositions[0]
    assert histories_or_arguments(traced, trace=False) == rows
    assert histories_or_arguments(traced) == role_histories(traced)


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
