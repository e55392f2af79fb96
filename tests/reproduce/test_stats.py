"""Intervals against printed tables and examples by hand."""

import math

import pytest

pytest.importorskip("scipy")

from reproduce.stats import Sample, sample, spearman, student, t_quantile, welch


@pytest.mark.parametrize(
    ("freedom", "wanted"),  # printed tables of Student's t, two-sided 95 %
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (10, 2.2281), (30, 2.0423)],
)
def test_t_quantiles(freedom, wanted):
    assert t_quantile(freedom) == pytest.approx(wanted, abs=5e-5)


def test_mean_and_deviation():
    found = Sample((1.0, 2.0, 6.0))
    assert (found.n, found.mean) == (3, 3.0)
    assert found.deviation == pytest.approx(math.sqrt(7))
    assert Sample((4.0,)).deviation is None
    assert sample([]) is None


def test_welch_by_hand():
    # Variances 1 and 8/3 over 3 and 4 seeds: squared errors 1/3 and 2/3.
    found = welch(Sample((9.0, 10.0, 11.0)), Sample((4.0, 6.0, 6.0, 8.0)))
    freedom = 1 / ((1 / 3) ** 2 / 2 + (2 / 3) ** 2 / 3)
    assert found.mean == 4.0
    assert found.half == pytest.approx(t_quantile(freedom))
    assert (found.low, found.high) == pytest.approx((4 - 2.5848, 4 + 2.5848), abs=1e-3)


def test_one_seed_and_equal_seeds():
    found = welch(Sample((3.0,)), Sample((1.0, 2.0)))
    assert (found.mean, found.half, found.low, found.high) == (1.5, None, 1.5, 1.5)
    assert student(Sample((3.0,)), 1.0).half is None
    assert welch(Sample((3.0, 3.0)), Sample((1.0, 1.0))).half == 0.0


def test_student():
    found = student(Sample((1.0, 2.0, 3.0)), against=1.0)
    assert found.mean == 1.0
    assert found.half == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)


def test_rank_correlation():
    assert spearman([1, 2, 3], [10, 20, 400]) == pytest.approx(1)
    # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
    assert spearman([1, 2, 2, 5], [1, 3, 2, 4]) == pytest.approx(4.5 / math.sqrt(22.5))
    assert spearman([1], [1]) is None
    assert spearman([2, 2], [1, 3]) is None
