"""What the paper claims of refinement at work: iterations, duplicate arguments, role changes."""

from collections.abc import Callable, Mapping, Sequence

from capsrl.config import ROUTED, CapsulesConfig
from capsrl.model.inventory import NO_ROLE
from reproduce.corpora import MEASURES, CorpusRuns, gold_repeated, repeated
from reproduce.results import Change, RunResult
from reproduce.statistics import Sample, one_sample, sample
from reproduce.verdicts import Claim, Theme, Verdict, judge, judge_each
from reproduce.wording import NONE, NOT_MEASURED, counted, gain, listed, number, spread

SHOWN_STEPS = (1, 2)  # of the paper's figure 6: from iteration 1 to 2, and from 2 to 3
NEAR = 0.1  # of gold's number: what counts as having converged to it
NAMES = {"capsule": "without the global node", "capsule+global": "with the global node"}
_FIGURE = "figure only"  # the paper prints no number


def behaviour_themes(corpus: CorpusRuns) -> list[Theme]:
    """The claims about what happens between iterations, on one corpus."""
    return [_iterations(corpus), _duplicates(corpus), _changes(corpus)]


def curves(corpus: CorpusRuns, variant: str, measure: str) -> list[list[float]]:
    """Of each seed, a figure on dev after 1, 2, ... iterations; `repeated` counts propositions."""
    sweep = corpus.sweep(variant)
    value = (lambda counts: counts.pred_repeated) if measure == "repeated" else MEASURES[measure]
    return [list(curve) for curve in zip(*(map(value, sweep[n]) for n in sweep), strict=True)]


def mean_curve(found: Sequence[Sequence[float]]) -> list[Sample]:
    """A Sample over seeds for each number of iterations."""
    return [Sample(tuple(values)) for values in zip(*found, strict=True)]


def _iterations(corpus: CorpusRuns) -> Theme:
    claims = [_peak(corpus, variant, measure) for variant in ROUTED for measure in ("F1", "EM")]
    claims += [
        _course(corpus, "capsule", "P", 1),
        _course(corpus, "capsule", "R", -1),
        _course(corpus, "capsule+global", "P", -1),
    ]
    said = []
    for variant in ROUTED:
        found = {name: mean_curve(curves(corpus, variant, name)) for name in MEASURES}
        ns = list(corpus.sweep(variant))
        if ns:
            ends = " and ".join(
                f"{word} goes from {number(found[name][0].mean)} to {number(found[name][-1].mean)}"
                for word, name in (("precision", "P"), ("recall", "R"))
            )
            best = max(range(len(ns)), key=lambda i: found["F1"][i].mean)
            said.append(
                f"{NAMES[variant].capitalize()} the mean F1 is best at {ns[best]} "
                f"({number(found['F1'][best].mean)}); from {ns[0]} to {ns[-1]} iterations {ends}."
            )
    if not said:
        return Theme("More iterations than in training", NOT_MEASURED, claims)
    prose = (
        f"Trained with {counted(corpus.iterations, 'iteration')}, {_start(corpus)}. "
        f"{' '.join(said)} The epoch was chosen by F1 on this same set at the trained number, "
        "which favours it."
    )
    return Theme("More iterations than in training", prose, claims)


def _start(corpus: CorpusRuns) -> str:
    """What training began from: it decides how much the first iteration leaves to the others."""
    recipe, default = corpus.first.recipe, CapsulesConfig()
    agreement = recipe.get("model.capsules.initial_agreement", default.initial_agreement)
    scale = recipe.get("model.capsules.initial_scale", default.initial_scale)
    return f"from `initial_agreement` {agreement:g} and `initial_scale` {scale:g}"


def _peak(corpus: CorpusRuns, variant: str, measure: str) -> Claim:
    ns = list(corpus.sweep(variant))
    peaks = [
        ns[max(range(len(ns)), key=curve.__getitem__)] for curve in curves(corpus, variant, measure)
    ]
    peaks = peaks if corpus.iterations in ns else []  # else it could not peak there
    truths = [peak == corpus.iterations for peak in peaks]
    text = f"{measure} peaks at the trained number of iterations, {NAMES[variant]}"
    ours = f"{_runs(truths)}; peaks at {', '.join(map(str, peaks))}" if peaks else NONE
    return Claim(text, "peaks at 2", ours, judge_each(truths, n_seeds=len(truths)))


def _course(corpus: CorpusRuns, variant: str, measure: str, sign: int) -> Claim:
    found = curves(corpus, variant, measure)
    ns = list(corpus.sweep(variant))
    truths = [_goes(curve, sign) for curve in found]
    later = ""
    if corpus.iterations in ns[:-1]:
        trained = ns.index(corpus.iterations)
        count = sum(_goes(curve[trained:], sign) for curve in found)
        later = f" (from {corpus.iterations} on: {count})"
    word = {"P": "Precision", "R": "Recall"}[measure]
    text = f"{word} {'rises' if sign > 0 else 'falls'} with every iteration, {NAMES[variant]}"
    means = " ".join(number(figure.mean, 1) for figure in mean_curve(found))
    ours = f"{_runs(truths)}{later}; means {means}" if found else NONE
    return Claim(text, _FIGURE, ours, judge_each(truths, n_seeds=len(truths)))


def _goes(curve: Sequence[float], sign: int) -> bool:
    """Whether a curve goes up, or down, with every step."""
    return all(sign * (b - a) > 0 for a, b in zip(curve, curve[1:], strict=False))


def _duplicates(corpus: CorpusRuns) -> Theme:
    gold = gold_repeated(corpus)
    baseline = repeated(corpus.of("baseline"))
    more = one_sample(baseline, gold) if baseline and gold is not None else None
    claims = [
        Claim(
            "The baseline repeats roles in more propositions than gold does",
            _FIGURE,
            f"{spread(baseline, 1)} against {gold}: {gain(more, 1)}" if more else NONE,
            judge(more),
        ),
        _converges(corpus, gold),
        _grows(corpus),
    ]
    said = [] if gold is None else [f"gold {gold}"]
    said += [f"the baseline {spread(baseline, 1)}"] if baseline else []
    for variant in ROUTED:
        curve = mean_curve(curves(corpus, variant, "repeated"))
        if curve:
            course = ", ".join(number(figure.mean, 0) for figure in curve)
            said.append(f"{NAMES[variant]} {course}")
    prose = (
        f"Propositions of dev that repeat a role, those of refinement after 1, 2, ... iterations: "
        f"{'; '.join(said)}."
    )
    return Theme("Duplicate arguments", prose if said else NOT_MEASURED, claims)


def _converges(corpus: CorpusRuns, gold: int | None) -> Claim:
    found = curves(corpus, "capsule", "repeated")
    truths = [abs(curve[-1] - gold) <= NEAR * gold for curve in found] if gold is not None else []
    last = sample(curve[-1] for curve in found)
    n = max(corpus.sweep("capsule"), default=0)
    ours = f"{spread(last, 1)} after {n}, gold {gold}; {_runs(truths)}" if truths else NONE
    return Claim(
        f"Without the global node duplicates converge to gold's number (within "
        f"{100 * NEAR:.0f} % of it after the most iterations)",
        _FIGURE,
        ours,
        judge_each(truths, n_seeds=len(truths)),
    )


def _grows(corpus: CorpusRuns) -> Claim:
    text = "With the global node duplicates grow again after the trained number of iterations"
    ns = list(corpus.sweep("capsule+global"))
    found = curves(corpus, "capsule+global", "repeated")
    if corpus.iterations not in ns or ns[-1] == corpus.iterations:
        return Claim(text, _FIGURE, NONE, Verdict.MISSING)
    trained = ns.index(corpus.iterations)
    growth = sample(curve[-1] - curve[trained] for curve in found)
    difference = one_sample(growth) if growth else None
    ours = f"from {corpus.iterations} to {ns[-1]}: {gain(difference, 1)}"
    return Claim(text, _FIGURE, ours, judge(difference))


def _changes(corpus: CorpusRuns) -> Theme:
    right = {variant: _shares(corpus, variant, _right, _wrong) for variant in ROUTED}
    to_none = {variant: _shares(corpus, variant, _to_none, _from_none) for variant in ROUTED}
    claims = [
        Claim(
            f"Most role changes are right, {NAMES[variant]}",
            _FIGURE,
            f"{spread(found, 1)} % of right and wrong ones ({_by_step(corpus, variant)})"
            if found
            else NONE,
            judge(one_sample(found, 50.0) if found else None),
        )
        for variant, found in right.items()
    ]
    for (variant, found), sign in zip(to_none.items(), (1, -1), strict=True):
        way = "to none rather than from" if sign > 0 else "from none rather than to"
        ours = f"{spread(found, 1)} % of both go to none" if found else NONE
        verdict = judge(one_sample(found, 50.0) if found else None, claimed=sign)
        text = f"Roles change {way} it, {NAMES[variant]}"
        claims.append(Claim(text, _FIGURE, ours, verdict))
    if not any(right.values()):
        return Theme("Role changes", NOT_MEASURED, claims)
    prose = (
        "Between iterations 1 and 3 on dev. Of the changes that are right or wrong, "
        f"{_both(right)} are right. Of those to or from none (no argument), {_both(to_none)} go to "
        "none."
    )
    return Theme("Role changes", prose, claims)


def _by_step(corpus: CorpusRuns, variant: str) -> str:
    """The share of right changes in each step alone: the first may outweigh the second."""
    shares = ((step, _shares(corpus, variant, _right, _wrong, (step,))) for step in SHOWN_STEPS)
    return ", ".join(f"{n} → {n + 1}: {number(each.mean, 1)}" for n, each in shares if each)


def _both(found: Mapping[str, Sample | None]) -> str:
    return listed(
        [f"{spread(each, 1)} % {NAMES[variant]}" for variant, each in found.items() if each]
    )


def _shares(
    corpus: CorpusRuns,
    variant: str,
    one: Callable[[Change], int],
    other: Callable[[Change], int],
    steps: Sequence[int] = SHOWN_STEPS,
) -> Sample | None:
    """What one kind of change is of two kinds, in per cent, over the seeds that have any."""
    found = (_share(_changes_of(run, steps), one, other) for run in corpus.of(variant))
    return sample(share for share in found if share is not None)


def _changes_of(run: RunResult, steps: Sequence[int]) -> list[Change]:
    return [change for step in steps for change in run.measured.transitions.get(step, ())]


def _share(
    changes: list[Change], one: Callable[[Change], int], other: Callable[[Change], int]
) -> float | None:
    """What one kind is of both, in per cent; None where there is neither."""
    a, b = sum(map(one, changes)), sum(map(other, changes))
    return 100 * a / (a + b) if a + b else None


def _right(change: Change) -> int:
    return change.right


def _wrong(change: Change) -> int:
    return change.wrong


def _to_none(change: Change) -> int:
    return _all(change) if change.after == NO_ROLE else 0


def _from_none(change: Change) -> int:
    return _all(change) if change.before == NO_ROLE else 0


def _all(change: Change) -> int:
    return change.right + change.wrong + change.other


def _runs(truths: Sequence[bool]) -> str:
    return f"{sum(truths)} of {counted(len(truths), 'run')}"
