"""Evaluate the claims of the paper, the rows of claims.csv, on our runs."""

import csv
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from reproduce import published
from reproduce.corpora import CorpusRuns, gains, gains_by_language, scores
from reproduce.formatting import NONE, counted, gain, number, signed, spread
from reproduce.results import NO_ROLE, Change, RunResult
from reproduce.stats import Difference, Sample, contrast, sample, spearman, student, welch

CHANGE_STEPS = (1, 2)  # role changes from iteration 1 to 2 and from 2 to 3, as in figure 6
NEAR = 0.1  # relative distance from gold's number that counts as having converged to it


class Verdict(StrEnum):
    """Whether a claim of the paper is true of our runs."""

    HELD = "Held"
    FAILED = "Did not hold"
    UNSURE = "Not significant"
    ONE_SEED = "One seed"
    MISSING = "Not measured"
    REPORTED = "Reported only"


@dataclass(frozen=True)
class Claim:
    """One claim of the paper, a row of claims.csv.

    theme        the question that the claim belongs to
    test         the name of a function in TESTS or LANGUAGE_TESTS
    measure      what is measured: a score, a kind of group, a kind of role change
    left, right  what is compared: variants, weights of the uniqueness loss, a fixed number
    where        the set it is measured on
    sign         + if `left` should be higher or the measure should rise, - for the opposite
    paper        what the paper reports
    """

    theme: str
    text: str
    test: str
    measure: str
    left: str
    right: str
    where: str
    sign: str
    paper: str


@dataclass(frozen=True)
class Evidence:
    """Our numbers on a claim: a difference, or whether it is true of each run, group or language.

    shown    the numbers as the report prints them
    n_seeds  behind each of `truths`
    """

    shown: str
    difference: Difference | None = None
    truths: Sequence[bool] = ()
    n_seeds: int = 0


@dataclass(frozen=True)
class Finding:
    """An evaluated claim."""

    claim: Claim
    ours: str
    verdict: Verdict


def read_claims() -> list[Claim]:
    """The rows of claims.csv."""
    with open(Path(__file__).with_name("claims.csv"), encoding="utf-8", newline="") as file:
        return [Claim(**row) for row in csv.DictReader(file)]


def evaluate(corpus: CorpusRuns) -> list[Finding]:
    """Test the claims about variants on one corpus."""
    claims = [claim for claim in read_claims() if claim.test in TESTS]
    return [_finding(claim, TESTS[claim.test](corpus, claim)) for claim in claims]


def evaluate_languages(corpora: Sequence[CorpusRuns]) -> list[Finding]:
    """Test the claims about languages on all corpora."""
    claims = [claim for claim in read_claims() if claim.test in LANGUAGE_TESTS]
    return [_finding(claim, LANGUAGE_TESTS[claim.test](corpora, claim)) for claim in claims]


def _finding(claim: Claim, evidence: Evidence | None) -> Finding:
    if evidence is None:
        return Finding(claim, NONE, Verdict.MISSING)
    return Finding(claim, evidence.shown, judge(evidence, claim.sign))


def judge(evidence: Evidence, sign: str) -> Verdict:
    """The verdict by the rules that the report states."""
    if evidence.truths:
        if evidence.n_seeds < 2:
            return Verdict.ONE_SEED
        some, every = any(evidence.truths), all(evidence.truths)
        return Verdict.HELD if every else Verdict.UNSURE if some else Verdict.FAILED
    if evidence.difference is None:
        return Verdict.REPORTED
    if evidence.difference.half is None:
        return Verdict.ONE_SEED
    above, below = evidence.difference.low > 0, evidence.difference.high < 0
    if not above and not below:
        return Verdict.UNSURE
    return Verdict.HELD if above == (sign == "+") else Verdict.FAILED


def tally(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How many claims have each verdict."""
    counts = Counter(finding.verdict for finding in findings)
    return {verdict: counts[verdict] for verdict in Verdict}


def _variants(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare a score of two variants."""
    left, right = (corpus.score(v, claim.where, claim.measure) for v in (claim.left, claim.right))
    if left is None or right is None:
        return None
    difference = welch(left, right)
    return Evidence(f"{spread(right)} → {spread(left)}: {gain(difference)}", difference)


def _groups(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare the mean F1 of two variants in every group."""
    truths: dict[str, bool] = {}
    n_seeds: list[int] = []
    for group in published.GROUPS[claim.measure]:
        left, right = (
            corpus.group_score(v, claim.measure, group) for v in (claim.left, claim.right)
        )
        if left and right:
            truths[group] = left.mean > right.mean
            n_seeds += [left.n, right.n]
    unit = " words" if claim.measure == "lengths" else " arguments"
    return _each(truths, "groups", unit, min(n_seeds, default=0))


def _pairs(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare two weights of the loss, by pairs of runs with the same seed and iterations."""
    found = []
    for n in sorted({n for _, n in corpus.settings}):
        old = {run.seed: _f1(run) for run in corpus.runs_at("capsule", float(claim.right), n)}
        new = corpus.runs_at("capsule", float(claim.left), n)
        found += [_f1(run) - old[run.seed] for run in new if run.seed in old]
    return _mean(sample(found), 0, "{gain} over {n} pairs")


def _best(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare one number of iterations in training with the best other one."""
    found = {
        n: score
        for eta, n in corpus.settings
        if eta == 0 and (score := scores(corpus.runs_at("capsule", eta, n), "dev", claim.measure))
    }
    others = [score for n, score in found.items() if n != int(claim.left)]
    if int(claim.left) not in found or not others:
        return None
    best = max(others, key=lambda score: score.mean)
    values, names = " / ".join(map(spread, found.values())), " / ".join(map(str, found))
    return Evidence(f"{values} with {names}", welch(found[int(claim.left)], best))


def _peak(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Check that a score is best at the trained number of iterations, in every run."""
    steps = corpus.sweep(claim.left)
    if corpus.iterations not in steps:
        return None
    peaks = [steps[curve.index(max(curve))] for curve in corpus.curves(claim.left, claim.measure)]
    truths = [peak == corpus.iterations for peak in peaks]
    return _each_run(truths, f"; peaks at {', '.join(map(str, peaks))}")


def _trend(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Check that a score rises, or falls, with every iteration, in every run."""
    steps = corpus.sweep(claim.left)
    curves = corpus.curves(claim.left, claim.measure)
    later = ""
    if corpus.iterations in steps[:-1]:
        trained = steps.index(corpus.iterations)
        count = sum(_is_monotonic(curve[trained:], claim.sign) for curve in curves)
        later = f" (from {corpus.iterations} on: {count})"
    means = (number(score.mean, 1) for score in corpus.mean_curve(claim.left, claim.measure))
    truths = [_is_monotonic(curve, claim.sign) for curve in curves]
    return _each_run(truths, f"{later}; means {' '.join(means)}")


def _gold(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare a number of propositions with that of gold."""
    gold = corpus.gold_repeated or 0
    found = corpus.score(claim.left, claim.where, claim.measure)
    return _mean(found, gold, f"{{spread}} against {gold}: {{gain}}", places=1)


def _converge(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Check that a number is near that of gold after the last iteration, in every run."""
    last = sample(curve[-1] for curve in corpus.curves(claim.left, claim.measure))
    gold = corpus.gold_repeated
    if last is None or gold is None:
        return None
    truths = [abs(value - gold) <= NEAR * gold for value in last.values]
    steps = corpus.sweep(claim.left)
    return _each_run(truths, f"; {spread(last, 1)} after {steps[-1]}, gold {gold}")


def _growth(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Measure the growth from the trained number of iterations to the last."""
    steps = corpus.sweep(claim.left)
    if corpus.iterations not in steps[:-1]:
        return None
    trained = steps.index(corpus.iterations)
    found = sample(c[-1] - c[trained] for c in corpus.curves(claim.left, claim.measure))
    return _mean(found, 0, f"from {corpus.iterations} to {steps[-1]}: {{gain}}", places=1)


def _changes(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare right with wrong role changes, or changes to none with changes from none."""
    found = _shares(corpus.changes(claim.left, CHANGE_STEPS), claim.measure)
    shown = "{spread} % of changes to or from none go to none"
    if claim.measure != "to none":
        steps = {n: _shares(corpus.changes(claim.left, [n]), claim.measure) for n in CHANGE_STEPS}
        parts = [f"{n} → {n + 1}: {number(share.mean, 1)}" for n, share in steps.items() if share]
        of = "right and wrong changes" if claim.measure == "right" else "all changes"
        shown = f"{{spread}} % of {of} are right ({', '.join(parts)})"
    return _mean(found, float(claim.right), shown, places=1)


def _languages(corpora: Sequence[CorpusRuns], claim: Claim) -> Evidence | None:
    """Check that the mean score of CapsuleNet is higher in every language."""
    truths = {name: mean > 0 for name, mean in gains_by_language(corpora, claim.measure).items()}
    n_seeds = [len(corpus.runs_of(claim.left)) for corpus in corpora]
    return _each(truths, "languages", "", max(n_seeds)) if len(truths) > 1 else None


def _average(corpora: Sequence[CorpusRuns], claim: Claim) -> Evidence | None:
    """Compare CapsuleNet with the baseline on average over languages."""
    found = gains_by_language(corpora, claim.measure).values()
    return _mean(sample(found), 0, "{gain} over {n} languages") if len(found) > 1 else None


def _correlation(corpora: Sequence[CorpusRuns], claim: Claim) -> Evidence | None:
    """Correlate the gain with the training propositions; a training file counts once."""
    found: dict[tuple[int, str], list[float]] = {}
    for corpus, difference in gains(corpora, claim.measure):
        size = corpus.first.measured.train_propositions
        file = corpus.first.settings.get("data.train", corpus.name)
        if size is not None:
            found.setdefault((size, file), []).append(difference.mean)
    means = [Sample(tuple(values)).mean for values in found.values()]
    rank = spearman([size for size, _ in found], means)
    if rank is None:
        return None
    return Evidence(f"rank correlation {signed(rank)} over {counted(len(found), 'training file')}")


def _sizes(corpus: CorpusRuns, claim: Claim) -> Evidence | None:
    """Compare the gain with the fewest training sentences with the gain with all of them."""
    pairs = {}
    for size, cell in corpus.sizes.items():
        new, old = (cell.score(v, claim.where, claim.measure) for v in (claim.left, claim.right))
        if new is not None and old is not None:
            pairs[size] = new, old
    if len(pairs) < 2 or "all" not in pairs:
        return None
    shown = [f"{size}: {gain(welch(*pair))}" for size, pair in pairs.items()]
    (few_new, few_old), (all_new, all_old) = next(iter(pairs.values())), pairs["all"]
    difference = contrast([few_new, all_old], [few_old, all_new])
    return Evidence(f"{'; '.join(shown)}; fewest less all: {gain(difference)}", difference)


TESTS: Mapping[str, Callable[[CorpusRuns, Claim], Evidence | None]] = {
    "variants": _variants,
    "groups": _groups,
    "pairs": _pairs,
    "best": _best,
    "peak": _peak,
    "trend": _trend,
    "gold": _gold,
    "converge": _converge,
    "growth": _growth,
    "changes": _changes,
    "sizes": _sizes,
}
LANGUAGE_TESTS: Mapping[str, Callable[[Sequence[CorpusRuns], Claim], Evidence | None]] = {
    "languages": _languages,
    "average": _average,
    "correlation": _correlation,
}


def _f1(run: RunResult) -> float:
    return run.measured.sets["dev"].labeled.f1


def _is_monotonic(curve: Sequence[float], sign: str) -> bool:
    return all(b > a if sign == "+" else b < a for a, b in itertools.pairwise(curve))


def _mean(found: Sample | None, against: float, shown: str, *, places: int = 2) -> Evidence | None:
    """Compare the mean of a sample with a number; `shown` has fields for the numbers."""
    if found is None:
        return None
    difference = student(found, against)
    numbers = {"spread": spread(found, places), "gain": gain(difference, places), "n": found.n}
    return Evidence(shown.format(**numbers), difference)


def _each_run(truths: Sequence[bool], more: str) -> Evidence | None:
    if not truths:
        return None
    shown = f"{sum(truths)} of {counted(len(truths), 'run')}{more}"
    return Evidence(shown, truths=truths, n_seeds=len(truths))


def _each(truths: Mapping[str, bool], things: str, unit: str, n_seeds: int) -> Evidence | None:
    if not truths:
        return None
    names = [name for name, true in truths.items() if not true]
    shown = f"{sum(truths.values())} of {len(truths)} {things}"
    shown += f" (not {', '.join(names)}{unit})" if names else ""
    return Evidence(shown, truths=list(truths.values()), n_seeds=n_seeds)


def _shares(seeds: Iterable[list[Change]], measure: str) -> Sample | None:
    """The share of right changes, or of changes to none, in percent, over seeds that have any."""
    counts = []
    for changes in seeds:
        if measure != "to none":
            others = sum(c.other for c in changes) if measure == "right of all" else 0
            counts.append((sum(c.right for c in changes), sum(c.wrong for c in changes) + others))
        else:
            to_none = [sum(c[2:]) for c in changes if c.after == NO_ROLE]
            from_none = [sum(c[2:]) for c in changes if c.before == NO_ROLE]
            counts.append((sum(to_none), sum(from_none)))
    return sample(100 * a / (a + b) for a, b in counts if a + b)
