import pytest

from reproduce.statistics import Difference
from reproduce.verdicts import Claim, Verdict, judge, judge_each, tally


@pytest.mark.parametrize(
    ("difference", "higher", "lower"),
    [
        (Difference(0.5, 0.4), Verdict.HELD, Verdict.FAILED),
        (Difference(-0.5, 0.4), Verdict.FAILED, Verdict.HELD),
        (Difference(0.5, 0.5), Verdict.UNSURE, Verdict.UNSURE),
        (Difference(-0.1, 0.3), Verdict.UNSURE, Verdict.UNSURE),
        (Difference(0.5, None), Verdict.ONE_SEED, Verdict.ONE_SEED),
        (None, Verdict.MISSING, Verdict.MISSING),
    ],
)
def test_differences(difference, higher, lower):
    assert judge(difference) == higher
    assert judge(difference, claimed=-1) == lower


@pytest.mark.parametrize(
    ("truths", "n_seeds", "wanted"),
    [
        ([True, True], 2, Verdict.HELD),
        ([True, False], 2, Verdict.UNSURE),
        ([False, False], 2, Verdict.FAILED),
        ([True, True], 1, Verdict.ONE_SEED),
        ([], 0, Verdict.MISSING),
    ],
)
def test_what_is_so_in_each(truths, n_seeds, wanted):
    assert judge_each(truths, n_seeds=n_seeds) == wanted


def test_tally():
    verdicts = [Verdict.FAILED, Verdict.HELD, Verdict.HELD, Verdict.MISSING]
    claims = [Claim("", "", "", verdict) for verdict in verdicts]
    assert tally(claims) == "2 held, 1 did not hold and 1 not measured"
