"""Five lines on top of the report, from the numbers of the runs."""

import pytest

pytest.importorskip("scipy")

from reproduce.corpora import group_runs
from reproduce.verdict import verdict
from tests.helpers.synthetic_runs import full_plan, run, scored


def lines(runs):
    corpora = group_runs(runs)
    return verdict(corpora, [corpus for corpus in corpora if corpus.is_full])


def test_five_lines_of_a_whole_plan():
    found = lines(full_plan())
    assert len(found) == 5
    assert "en_web F1 **+" in found[0] and "EM **+" in found[0]
    assert "en_web F1" in found[1]
    assert all(part in found[2] for part in ("word capsules", "role capsules", "the global node"))
    assert found[3].endswith("sentences**, test: not measured.")
    assert "F1 higher in 5 of 6" in found[4]
    assert found[4].endswith("Missing of the paper's languages: Spanish, Catalan.")


def test_nothing_but_one_run():
    found = lines([run()])
    assert [line.count("not measured") for line in found] == [1, 2, 1, 1, 1]


def test_numbers_of_sentences():
    runs = [
        scored(variant, seed, 1500, exact=exact, axes=axes)
        for axes, best in (({}, 610), ({"sentences": "250"}, 640))
        for variant, exact in (("baseline", 600), ("capsule", 600), ("capsule+global", best))
        for seed in (1, 2)
    ]
    assert lines(runs)[3].endswith(
        "sentences**, test: en_web `capsule+global` over `baseline` "
        "250 **+4.00 [+4.00, +4.00]**, all **+1.00 [+1.00, +1.00]**."
    )
