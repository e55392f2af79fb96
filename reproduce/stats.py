"""Means over seeds, their spread, and confidence intervals of differences."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import scipy.stats

LEVEL = 0.95  # of every confidence interval in the report


@dataclass(frozen=True)
class Sample:
    """One number, measured with several seeds."""

    values: tuple[float, ...]

    @property
    def n(self) -> int:
        """The number of seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean."""
        return statistics.fmean(self.values)

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation; None for a single seed."""
        return statistics.stdev(self.values) if self.n > 1 else None


@dataclass(frozen=True)
class Difference:
    """A difference of means; `half` is half the width of its interval, None for one seed."""

    mean: float
    half: float | None

    @property
    def low(self) -> float:
        """The lower end of the interval, or the difference itself if there is no interval."""
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + (self.half or 0.0)


def sample(values: Iterable[float]) -> Sample | None:
    """A Sample, or None if there are no values."""
    found = tuple(values)
    return Sample(found) if found else None


def welch(new: Sample, old: Sample) -> Difference:
    """The mean of `new` minus the mean of `old`, with Welch's interval."""
    return contrast([new], [old])


def contrast(plus: Sequence[Sample], minus: Sequence[Sample]) -> Difference:
    """A sum of means minus another one, with Welch's interval."""
    samples = [*plus, *minus]
    mean = sum(each.mean for each in plus) - sum(each.mean for each in minus)
    if any(each.n < 2 for each in samples):
        return Difference(mean, None)
    errors = [statistics.variance(each.values) / each.n for each in samples]
    if not any(errors):
        return Difference(mean, 0.0)
    parts = [error**2 / (each.n - 1) for error, each in zip(errors, samples, strict=True)]
    return Difference(mean, t_quantile(sum(errors) ** 2 / sum(parts)) * math.sqrt(sum(errors)))


def student(found: Sample, against: float = 0.0) -> Difference:
    """The mean of a sample minus a fixed number, with Student's interval."""
    mean = found.mean - against
    if found.deviation is None:
        return Difference(mean, None)
    return Difference(mean, t_quantile(found.n - 1) * found.deviation / math.sqrt(found.n))


def paired(new: Mapping[int, float], old: Mapping[int, float]) -> float | None:
    """The p-value of a paired t-test over the seeds that both have; None for fewer than two."""
    both = sorted(new.keys() & old.keys())
    differences = [new[seed] - old[seed] for seed in both]
    if len(both) < 2:
        return None
    if len(set(differences)) == 1:  # no spread: the test is undefined
        return 0.0 if differences[0] else 1.0
    return float(scipy.stats.ttest_1samp(differences, 0.0).pvalue)


def t_quantile(freedom: float) -> float:
    """Standard errors on either side of a mean that hold 95 % of Student's distribution."""
    return float(scipy.stats.t.ppf((1 + LEVEL) / 2, freedom))


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The rank correlation; None if it is undefined because all x or all y are equal."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return float(scipy.stats.spearmanr(x, y).statistic)
