"""Whether a claim held: the rules, each as it is stated on the page."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reproduce.statistics import Difference
from reproduce.wording import listed


class Verdict(StrEnum):
    """What became of a claim."""

    HELD = "Held"
    FAILED = "Did not hold"
    UNSURE = "Not significant"
    ONE_SEED = "One seed"
    MISSING = "Not measured"
    REPORTED = "Reported only"


RULES = (
    "**A difference of means** (F1, EM, numbers of propositions): the 95 % interval of the "
    "difference (Welch's t over seeds; Student's t against a fixed number such as gold's, over "
    "pairs of runs, and over languages) lies wholly on the claimed side of 0: held. Wholly on the "
    "other side: did not hold. It includes 0: not significant.",
    "**Something that is so in every run** (where a curve peaks, which way it goes), or of the "
    "means in every group or language: so in each of them: held; in none: did not hold; in some: "
    "not significant. By how much is not asked: each difference may be within chance.",
    "**One seed** has no interval: its figures are shown, and nothing is concluded from them.",
    "There are many claims and no correction for their number: one in twenty intervals "
    "misses what it should cover.",
)


@dataclass(frozen=True)
class Claim:
    """Something the paper says, with its figures, ours, and the verdict."""

    text: str
    paper: str
    ours: str
    verdict: Verdict


@dataclass(frozen=True)
class Theme:
    """Claims on one question, and what came out in a sentence or two."""

    title: str
    prose: str
    claims: Sequence[Claim]


def judge(difference: Difference | None, *, claimed: int = 1) -> Verdict:
    """By the interval of a difference; `claimed` is the sign it should have."""
    if difference is None:
        return Verdict.MISSING
    if difference.half is None:
        return Verdict.ONE_SEED
    low, high = sorted((claimed * difference.low, claimed * difference.high))
    return Verdict.HELD if low > 0 else Verdict.FAILED if high < 0 else Verdict.UNSURE


def judge_each(truths: Sequence[bool], *, n_seeds: int) -> Verdict:
    """By how many of some runs, groups or languages it is true of."""
    if not truths:
        return Verdict.MISSING
    if n_seeds < 2:
        return Verdict.ONE_SEED
    return Verdict.HELD if all(truths) else Verdict.UNSURE if any(truths) else Verdict.FAILED


def tally(claims: Iterable[Claim]) -> str:
    """`12 held, 3 did not hold and 1 not measured`."""
    counts = Counter(claim.verdict for claim in claims)
    return listed(
        [f"{counts[verdict]} {verdict.lower()}" for verdict in Verdict if counts[verdict]]
    )
