"""Figures of several seeds in; means, spreads, differences and their 95 % intervals out."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

LEVEL = 0.95  # of every interval in the report


@dataclass(frozen=True)
class Sample:
    """One figure, measured on several seeds."""

    values: tuple[float, ...]

    @property
    def n(self) -> int:
        """How many seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """Their mean; fsum, so that the order of the seeds never shows."""
        return math.fsum(self.values) / self.n

    @property
    def deviation(self) -> float | None:
        """The sample standard deviation (n - 1); None of a single seed."""
        return math.sqrt(self.variance) if self.n > 1 else None

    @property
    def variance(self) -> float:
        """The sample variance (n - 1)."""
        return math.fsum((value - self.mean) ** 2 for value in self.values) / (self.n - 1)


@dataclass(frozen=True)
class Difference:
    """How far apart two means are; half is half the width of the interval, None of one seed."""

    mean: float
    half: float | None

    @property
    def low(self) -> float:
        """The lower end of the interval, or the difference itself where there is none."""
        return self.mean - (self.half or 0.0)

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + (self.half or 0.0)


def sample(values: Iterable[float]) -> Sample | None:
    """A Sample, or None of no values: what was not measured."""
    found = tuple(values)
    return Sample(found) if found else None


def welch(new: Sample, old: Sample) -> Difference:
    """The mean of `new` less that of `old`, with Welch's interval: spreads may differ."""
    difference = new.mean - old.mean
    if new.n < 2 or old.n < 2:
        return Difference(difference, None)
    parts = (new.variance / new.n, old.variance / old.n)
    error = sum(parts)
    if error == 0:
        return Difference(difference, 0.0)
    # Welch and Satterthwaite: hardly ever a whole number.
    freedom = error**2 / (parts[0] ** 2 / (new.n - 1) + parts[1] ** 2 / (old.n - 1))
    return Difference(difference, t_quantile(freedom) * math.sqrt(error))


def one_sample(found: Sample, against: float = 0.0) -> Difference:
    """The mean of a sample less a fixed number, with Student's interval."""
    difference = found.mean - against
    if found.n < 2:
        return Difference(difference, None)
    return Difference(difference, t_quantile(found.n - 1) * math.sqrt(found.variance / found.n))


def t_quantile(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors either side of a mean hold `level` of Student's distribution."""
    low, high = 0.0, 1.0
    while _t_inside(high, freedom) < level:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        if _t_inside(middle, freedom) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The rank correlation of pairs, equal values sharing their ranks; None where undefined."""
    ranks = (Sample(_ranks(x)), Sample(_ranks(y))) if len(x) > 1 else None
    if ranks is None or ranks[0].variance == 0 or ranks[1].variance == 0:
        return None
    means = ranks[0].mean, ranks[1].mean
    pairs = zip(ranks[0].values, ranks[1].values, strict=True)
    covariance = math.fsum((a - means[0]) * (b - means[1]) for a, b in pairs) / (len(x) - 1)
    return covariance / math.sqrt(ranks[0].variance * ranks[1].variance)


def _ranks(values: Sequence[float]) -> tuple[float, ...]:
    return tuple(
        sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2
        for value in values
    )


def _t_inside(t: float, freedom: float) -> float:
    """The probability of lying within t either side of 0."""
    return 1 - _beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def _beta(x: float, a: float, b: float) -> float:
    """The regularized incomplete beta function (Numerical Recipes, section 6.4)."""
    if x in (0.0, 1.0):
        return x
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side only
        return 1 - _beta(1 - x, b, a)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(scale + a * math.log(x) + b * math.log1p(-x))
    return front * _fraction(x, a, b) / a


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d, c = 1 / (1 + term * d), 1 + term / c
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value
