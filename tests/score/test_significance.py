import random

import numpy as np
import pytest

from capsrl.score import score
from capsrl.score.significance import bootstrap_intervals, paired_test
from tests.helpers.score_sentences import sentence


def f1(rows):
    return 200 * rows[:, 0].sum() / (rows[:, 1].sum() + rows[:, 2].sum())


def test_the_interval_is_that_of_resampling_sentence_by_sentence():
    generator = np.random.default_rng(3)
    gold = generator.integers(1, 9, size=300)
    rows = np.stack([generator.binomial(gold, 0.8), gold, gold], axis=1)
    counts = {}
    for row in map(tuple, rows.tolist()):
        counts[row] = counts.get(row, 0) + 1
    interval = bootstrap_intervals(counts, n_resamples=4000)["labeled_f1"]
    resampled = [f1(rows[generator.integers(0, 300, size=300)]) for _ in range(4000)]
    low, high = np.quantile(resampled, [0.025, 0.975])
    assert interval.low == pytest.approx(low, abs=0.25)
    assert interval.high == pytest.approx(high, abs=0.25)
    assert interval.low < f1(rows) < interval.high


def test_a_perfect_score_has_no_spread():
    intervals = bootstrap_intervals({(3, 3, 3): 10, (5, 5, 5): 2})
    assert {(i.low, i.high) for i in intervals.values()} == {(100.0, 100.0)}


def test_the_seed_decides_and_the_order_does_not():
    counts = {(1, 2, 3): 10, (4, 4, 4): 5, (0, 3, 1): 7}
    backwards = dict(reversed(counts.items()))
    assert bootstrap_intervals(counts, seed=1) == bootstrap_intervals(backwards, seed=1)
    assert bootstrap_intervals(counts, seed=1) != bootstrap_intervals(counts, seed=2)


def test_precision_and_recall_have_their_own_intervals():
    intervals = bootstrap_intervals({(2, 2, 4): 10, (3, 3, 9): 10})
    assert intervals["labeled_recall"].low == 100
    assert 30 < intervals["labeled_precision"].low < intervals["labeled_precision"].high < 50


def test_nothing_to_resample():
    assert bootstrap_intervals({})["labeled_f1"].high == 0
    assert paired_test({}).p_value == 1
    only_empty = score([sentence("a")], [sentence("a")]).sentence_counts
    assert bootstrap_intervals(only_empty)["labeled_f1"].low == 0


def test_equal_systems_do_not_differ():
    test = paired_test({(2, 3, 2, 3, 3): 40, (1, 2, 1, 2, 4): 2})
    assert (test.difference, test.p_value) == (0, 1)
    assert (test.interval.low, test.interval.high) == (0, 0)


def test_a_constant_advantage_is_significant():
    test = paired_test({(3, 3, 2, 3, 3): 50})
    assert test.difference == pytest.approx(100 / 3)
    assert test.p_value == pytest.approx(1 / 10_001)
    swapped = paired_test({(2, 3, 3, 3, 3): 50})
    assert swapped.difference == -test.difference and swapped.p_value == test.p_value


def test_the_p_value_is_exact_on_few_sentences():
    # Three sentences, each better by one: only all or none swapped is as extreme, 2 of 8 ways.
    assert paired_test({(2, 2, 1, 2, 2): 3}).p_value == pytest.approx(0.25, abs=0.02)


def test_noise_is_rarely_significant():
    generator = random.Random(5)
    significant = 0
    for _ in range(60):
        counts = {}
        for _ in range(100):
            key = (generator.randint(0, 3), 3, generator.randint(0, 3), 3, 3)
            counts[key] = counts.get(key, 0) + 1
        significant += paired_test(counts, n_rounds=300).p_value < 0.05
    assert significant <= 9  # 3 expected; more than 9 has a chance below one in a thousand
