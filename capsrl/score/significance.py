"""Bootstrap confidence intervals of a score, and a paired test between two systems.

Both resample sentences. Sentences with the same counts are interchangeable, so a corpus is held
as how often each combination of counts occurs: a few thousand numbers, however long the file.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# counts of a sentence -> how many sentences have just these
Frequencies = Mapping[tuple[int, ...], int]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CHUNK = 100  # resamples drawn at once: bounds the memory


@dataclass(frozen=True, slots=True)
class Interval:
    """The central `level` interval of a figure over the resamples."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Labeled F1 of one system minus that of another on the same sentences.

    difference  in points of F1, positive where the first is better
    interval    95% paired bootstrap interval of the difference
    p_value     two-sided, by approximate randomization (Noreen, 1989): how often a difference at
                least as large arises when each sentence's answers go to either system by a coin
    """

    difference: float
    interval: Interval
    p_value: float
    n_rounds: int


def bootstrap_intervals(
    sentence_counts: Frequencies,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Interval]:
    """Percentile intervals of labeled precision, recall and F1 under resampling of sentences.

    sentence_counts  (correct, gold, predicted) arcs of a sentence -> number of such sentences
    """
    values = _table(sentence_counts, width=3)
    frequencies = _frequencies(sentence_counts)
    sums = np.concatenate(list(_resamples(values, frequencies, n_resamples, seed)))
    correct, gold, pred = sums.T
    figures = {
        "labeled_precision": _percent(correct, pred),
        "labeled_recall": _percent(correct, gold),
        "labeled_f1": _f1(correct, gold, pred),
    }
    return {name: _interval(figure, level) for name, figure in figures.items()}


def paired_test(paired_counts: Frequencies, *, n_rounds: int = 10_000, seed: int = 0) -> PairedTest:
    """Compare labeled F1 of two systems that labeled the same sentences.

    paired_counts  correct and predicted arcs by the first system, the same by the second, and
                   gold ones -> number of such sentences
    """
    values = _table(paired_counts, width=5)
    frequencies = _frequencies(paired_counts)
    observed = float(_difference((frequencies @ values)[None])[0])
    resampled = np.concatenate(
        [_difference(sums) for sums in _resamples(values, frequencies, 1000, seed)]
    )
    p_value = _randomization(values, frequencies, abs(observed), n_rounds, seed)
    return PairedTest(observed, _interval(resampled, 0.95), p_value, n_rounds)


def _randomization(
    values: Integers, frequencies: Integers, observed: float, n_rounds: int, seed: int
) -> float:
    """Share of rounds, including the real one, in which swapping gives as large a difference."""
    totals = frequencies @ values
    # What a swap moves from one system to the other; sentences with equal counts move nothing.
    moved = values[:, [2, 3, 0, 1]] - values[:, :4]
    differs = moved.any(axis=1)
    moved, frequencies = moved[differs], frequencies[differs]
    generator = np.random.default_rng(seed)
    hits = 0
    for start in range(0, n_rounds, _CHUNK):
        size = min(_CHUNK, n_rounds - start)
        swapped = generator.binomial(frequencies, 0.5, size=(size, len(frequencies)))
        sums = np.tile(totals, (size, 1))
        sums[:, :4] += swapped @ moved
        # Swapping all or nothing must count as equal whatever the rounding.
        hits += int(np.count_nonzero(np.abs(_difference(sums)) >= observed - 1e-9))
    return (hits + 1) / (n_rounds + 1)


def _resamples(
    values: Integers, frequencies: Integers, n_resamples: int, seed: int
) -> Iterator[Integers]:
    """Sums of the columns over resampled corpora of the same number of sentences, in chunks."""
    n_sentences = int(frequencies.sum())
    if not n_sentences:
        yield np.zeros((n_resamples, values.shape[1]), dtype=np.int64)
        return
    generator = np.random.default_rng(seed)
    shares = frequencies / n_sentences
    for start in range(0, n_resamples, _CHUNK):
        size = min(_CHUNK, n_resamples - start)
        yield generator.multinomial(n_sentences, shares, size=size) @ values


def _table(counts: Frequencies, *, width: int) -> Integers:
    # Sorted: the order of the sentences must not change what the generator draws.
    return np.array(sorted(counts), dtype=np.int64).reshape(-1, width)


def _frequencies(counts: Frequencies) -> Integers:
    return np.array([counts[key] for key in sorted(counts)], dtype=np.int64)


def _interval(figure: Floats, level: float) -> Interval:
    low, high = np.quantile(figure, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _difference(sums: Integers) -> Floats:
    correct_a, pred_a, correct_b, pred_b, gold = sums.T
    return _f1(correct_a, gold, pred_a) - _f1(correct_b, gold, pred_b)


def _percent(part: Integers, whole: Integers) -> Floats:
    return np.where(whole > 0, 100 * part / np.maximum(whole, 1), 0.0)


def _f1(correct: Integers, gold: Integers, pred: Integers) -> Floats:
    return _percent(2 * correct, gold + pred)
