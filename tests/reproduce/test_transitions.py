import math

import pytest

from reproduce.corpora import group_runs
from reproduce.results import Change, Measured
from reproduce.transitions import changed_steps, frequent_roles, sign_log, sum_changes
from tests.helpers.synthetic_runs import run


def test_scale():
    assert sign_log(1) == sign_log(0) == 0
    assert sign_log(100) == pytest.approx(math.log(100))
    assert sign_log(-100) == pytest.approx(-math.log(100))


def test_roles_that_occur_often_and_none_before_them():
    roles = {"A1": 51, "A0": 900, "AM-X": 50, "A2": 51}
    [corpus] = group_runs([run(measured=Measured({}, gold_roles=roles))])
    assert frequent_roles(corpus) == ["_", "A0", "A1", "A2"]


def test_changes_are_summed_over_seeds():
    runs = [
        run(
            variant="capsule",
            seed=seed,
            measured=Measured(
                {}, transitions={1: (Change("A0", "_", 3, seed, 9), *more), 2: (other,)}
            ),
        )
        for seed, more in ((1, ()), (2, (Change("_", "A1", 0, 4, 0),)))
        for other in [Change("A1", "A0", 1, 1, 1)]
    ]
    [corpus] = group_runs(runs)
    assert sum_changes(corpus, "capsule", 1) == {("A0", "_"): (6, 3), ("_", "A1"): (0, 4)}
    assert sum_changes(corpus, "capsule", 2) == {("A1", "A0"): (2, 2)}
    assert sum_changes(corpus, "capsule+global", 1) == {}


def test_steps_without_changes_are_left_out():
    changes = {1: (), 2: (Change("A0", "A1", 0, 1, 0),), 3: (Change("A0", "A1", 9, 9, 9),)}
    [corpus] = group_runs([run(variant="capsule", measured=Measured({}, transitions=changes))])
    assert changed_steps(corpus) == [2]
    neither = {1: (Change("A0", "A1", 0, 0, 5),)}
    [corpus] = group_runs([run(variant="capsule", measured=Measured({}, transitions=neither))])
    assert changed_steps(corpus) == []
