import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduce.statistics import Sample, one_sample, sample, spearman, t_quantile, welch


@pytest.mark.parametrize(
    ("freedom", "wanted"),  # of printed tables of Student's t, two-sided 95 %
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (10, 2.2281), (30, 2.0423)],
)
def test_t_quantiles_are_those_of_the_tables(freedom, wanted):
    assert t_quantile(freedom) == pytest.approx(wanted, abs=5e-5)


def test_t_quantile_at_other_levels_and_in_the_limit():
    assert t_quantile(5, 0.99) == pytest.approx(4.0321, abs=5e-5)
    assert t_quantile(5, 0.90) == pytest.approx(2.0150, abs=5e-5)
    assert t_quantile(1e7) == pytest.approx(1.959964, abs=1e-5)


@given(st.floats(0.5, 60))
def test_t_quantile_between_whole_numbers_by_integration(freedom):
    """The density of Student's t, summed from 0 to the quantile, is half the level."""
    end = t_quantile(freedom)
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    front = math.exp(scale) / math.sqrt(freedom * math.pi)
    # In steps of the logarithm: the quantile of half a degree of freedom is beyond 500.
    n = 20_000
    step = math.log1p(end) / n
    area = 0.0
    for i in range(n):
        x = math.expm1((i + 0.5) * step)
        area += front * (1 + x * x / freedom) ** (-(freedom + 1) / 2) * (1 + x) * step
    assert area == pytest.approx(0.475, abs=1e-5)


def test_mean_and_sample_deviation():
    found = Sample((1.0, 2.0, 6.0))
    assert (found.n, found.mean, found.variance) == (3, 3.0, 7.0)
    assert found.deviation == pytest.approx(math.sqrt(7))
    assert Sample((4.0,)).deviation is None
    assert sample([]) is None


def test_welch_by_hand():
    # Variances 1 and 8/3 over 3 and 4 seeds: errors 1/3 and 2/3.
    new, old = Sample((9.0, 10.0, 11.0)), Sample((4.0, 6.0, 6.0, 8.0))
    assert old.variance == pytest.approx(8 / 3)
    freedom = 1 / ((1 / 3) ** 2 / 2 + (2 / 3) ** 2 / 3)
    found = welch(new, old)
    assert found.mean == 4.0
    assert found.half == pytest.approx(t_quantile(freedom))
    assert freedom == pytest.approx(4.909, abs=1e-3)
    assert (found.low, found.high) == pytest.approx((4 - 2.5848, 4 + 2.5848), abs=1e-3)


def test_welch_of_equal_spreads_is_the_classic_interval():
    found = welch(Sample((2.0, 3.0, 4.0)), Sample((1.0, 2.0, 3.0)))
    assert found.half == pytest.approx(2.7764 * math.sqrt(2 / 3), abs=1e-4)


def test_no_interval_of_one_seed():
    found = welch(Sample((3.0,)), Sample((1.0, 2.0)))
    assert (found.mean, found.half, found.low, found.high) == (1.5, None, 1.5, 1.5)
    assert one_sample(Sample((3.0,)), 1.0).half is None


def test_seeds_that_agree_leave_no_doubt():
    assert welch(Sample((3.0, 3.0)), Sample((1.0, 1.0))).half == 0.0


def test_one_sample():
    found = one_sample(Sample((1.0, 2.0, 3.0)), against=1.0)
    assert found.mean == 1.0
    assert found.half == pytest.approx(4.3027 / math.sqrt(3), abs=1e-4)


def test_rank_correlation():
    assert spearman([1, 2, 3], [10, 20, 400]) == pytest.approx(1)
    assert spearman([1, 2, 3], [9, 8, 1]) == pytest.approx(-1)
    # Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: 4.5 / sqrt(4.5 * 5).
    assert spearman([1, 2, 2, 5], [1, 3, 2, 4]) == pytest.approx(4.5 / math.sqrt(22.5))
    assert spearman([1], [1]) is None
    assert spearman([2, 2], [1, 3]) is None
