"""What the paper claims of scores: refinement, ablation, lengths and arguments, uniqueness loss."""

from collections.abc import Mapping

from reproduce import published
from reproduce.corpora import MEASURES, ON, SETS, CorpusRuns, row_scores, scores
from reproduce.results import RunResult
from reproduce.statistics import Difference, Sample, one_sample, sample, welch
from reproduce.verdicts import Claim, Theme, Verdict, judge, judge_each
from reproduce.wording import NONE, NOT_MEASURED, counted, gain, listed, number, signed, spread

STEPS = (  # what an ablation adds, and between which variants
    ("Word capsules", "raise", "word", "baseline"),
    ("Role capsules (refinement)", "raise", "capsule", "word"),
    ("The global node", "raises", "capsule+global", "capsule"),
)


def score_themes(corpus: CorpusRuns) -> list[Theme]:
    """The claims about scores, on one corpus."""
    return [
        _refinement(corpus),
        _ablation(corpus),
        _groups(corpus),
        _uniqueness(corpus),
    ]


def compare(
    corpus: CorpusRuns, new: str, old: str, name: str, measure: str
) -> tuple[Difference | None, str]:
    """The difference between two variants on a set, and both in words."""
    found = corpus.score(new, name, measure), corpus.score(old, name, measure)
    if found[0] is None or found[1] is None:
        return None, NONE
    difference = welch(found[0], found[1])
    return difference, f"{spread(found[1])} → {spread(found[0])}: {gain(difference)}"


def _paper(new: str, old: str, name: str, measure: str) -> str:
    place = list(MEASURES).index(measure)
    after, before = (published.ABLATION[variant, name][place] for variant in (new, old))
    return f"{number(before)} → {number(after)}: {signed(after - before)}"


def _comparison(text: str, corpus: CorpusRuns, key: tuple[str, str, str, str]) -> Claim:
    difference, ours = compare(corpus, *key)
    return Claim(text, _paper(*key), ours, judge(difference))


def _refinement(corpus: CorpusRuns) -> Theme:
    pair = ("capsule+global", "baseline")
    claims = [
        _comparison(
            f"CapsuleNet has a higher {measure} than the baseline {ON[name]}",
            corpus,
            (*pair, name, measure),
        )
        for measure in ("F1", "EM")
        for name in SETS
    ]
    said = []
    for name in corpus.sets:
        gains = [compare(corpus, *pair, name, measure)[0] for measure in ("F1", "EM")]
        if all(gains):
            said.append(f"{gain(gains[0])} F1 and {gain(gains[1])} EM {ON[name]}")
    prose = f"CapsuleNet against the baseline: {'; '.join(said)}." if said else NOT_MEASURED
    held = sum(claim.verdict is Verdict.HELD for claim in claims)
    judged = sum(claim.verdict not in (Verdict.MISSING, Verdict.ONE_SEED) for claim in claims)
    if judged:
        prose += f" The claim held in {held} of {judged} comparisons."
    return Theme("Refinement beats the baseline", prose, claims)


def _ablation(corpus: CorpusRuns) -> Theme:
    claims = [
        _comparison(f"{what} {verb} F1 {ON[name]}", corpus, key)
        for what, verb, new, old in STEPS
        for name in SETS
        for key in [(new, old, name, "F1")]
        if published.ABLATION[new, name][2] > published.ABLATION[old, name][2]  # else no claim
    ]
    said = []
    for what, _, new, old in STEPS:
        gains = [
            f"{gain(difference)} {ON[name]}"
            for name in ("test", "ood")
            if (difference := compare(corpus, new, old, name, "F1")[0]) is not None
        ]
        if gains:
            said.append(f"{what[0].lower()}{what[1:]} {listed(gains)}")
    prose = f"What each part adds to F1: {'; '.join(said)}." if said else NOT_MEASURED
    return Theme("Each part adds something", prose, claims)


def _groups(corpus: CorpusRuns) -> Theme:
    lengths = _group_claim(
        corpus,
        "CapsuleNet has a higher F1 than the baseline at every sentence length",
        "all but 50-59 words",
        ("lengths", published.LENGTHS, "words"),
    )
    arguments = _group_claim(
        corpus,
        "CapsuleNet has a higher F1 than the baseline at every number of arguments",
        "all",
        ("arguments", published.ARGUMENTS, "arguments"),
    )
    prose = (
        f"Higher mean F1 on test by sentence length: {lengths.ours}; by number of arguments: "
        f"{arguments.ours}. Groups of few propositions say little."
    )
    claims = [lengths, arguments]
    measured = any(claim.verdict is not Verdict.MISSING for claim in claims)
    return Theme("Long sentences and many arguments", prose if measured else NOT_MEASURED, claims)


def _group_claim(
    corpus: CorpusRuns, text: str, paper: str, kind: tuple[str, Mapping[str, int], str]
) -> Claim:
    table, groups, unit = kind
    better: list[bool] = []
    lower: list[str] = []
    n_seeds: list[int] = []
    for group in groups:
        new = row_scores(corpus, "capsule+global", table, group)
        old = row_scores(corpus, "baseline", table, group)
        if new is not None and old is not None:
            better.append(new.mean > old.mean)
            lower += [] if better[-1] else [group]
            n_seeds += [new.n, old.n]
    ours = f"{sum(better)} of {len(better)} groups" if better else NONE
    if lower:
        ours += f" (not {', '.join(lower)} {unit})"
    return Claim(text, paper, ours, judge_each(better, n_seeds=min(n_seeds, default=0)))


def _uniqueness(corpus: CorpusRuns) -> Theme:
    settings = corpus.settings if len(corpus.settings) > 1 else []
    claims = [_eta_claim(corpus, eta, settings) for eta in (1.0, 0.1)]
    claims.append(_best_iterations(corpus, settings))
    if not settings:
        return Theme("The uniqueness loss (η)", NOT_MEASURED, claims)
    best = max(settings, key=lambda key: _mean(corpus.at("capsule", *key)))
    runs = corpus.at("capsule", *best)
    of_best = f"{number(_mean(runs))} F1, {counted(len(runs), 'seed')}"
    prose = (
        f"Of {len(settings)} settings the best on dev is η = {best[0]:g} with "
        f"{counted(best[1], 'iteration')} ({of_best}). "
        "Runs with the same seed and number of iterations are paired; the interval is Student's, "
        "over the pairs, as if those of one seed were independent."
    )
    return Theme("The uniqueness loss (η)", prose, claims)


def _eta_claim(corpus: CorpusRuns, eta: float, settings: list[tuple[float, int]]) -> Claim:
    pairs = _eta_pairs(corpus, eta, settings)
    difference = one_sample(pairs) if pairs else None
    paper = [published.UNIQUENESS[eta, n][2] - published.UNIQUENESS[0.0, n][2] for n in (1, 2, 3)]
    ours = f"{gain(difference)} over {pairs.n} pairs" if pairs else NONE
    return Claim(
        f"The uniqueness loss at η = {eta:g} lowers F1 on dev",
        f"{signed(sum(paper) / 3)} over 1, 2 and 3 iterations",
        ours,
        judge(difference, claimed=-1),
    )


def _eta_pairs(corpus: CorpusRuns, eta: float, settings: list[tuple[float, int]]) -> Sample | None:
    differences = []
    for iterations in sorted({n for _, n in settings}):
        without = {run.seed: _f1(run) for run in corpus.at("capsule", 0.0, iterations)}
        for run in corpus.at("capsule", eta, iterations):
            if run.seed in without:
                differences.append(_f1(run) - without[run.seed])
    return sample(differences)


def _best_iterations(corpus: CorpusRuns, settings: list[tuple[float, int]]) -> Claim:
    text = f"Trained with η = 0, {published.ITERATIONS} iterations give the best F1 on dev"
    paper = " / ".join(number(published.UNIQUENESS[0.0, n][2]) for n in (1, 2, 3))
    found = {
        n: figures
        for eta, n in settings
        if eta == 0 and (figures := scores(corpus.at("capsule", eta, n), "dev", "F1"))
    }
    others = [figures for n, figures in found.items() if n != published.ITERATIONS]
    if published.ITERATIONS not in found or not others:
        return Claim(text, f"{paper} with 1 / 2 / 3", NONE, Verdict.MISSING)
    best = max(others, key=lambda figures: figures.mean)
    ours = " / ".join(spread(found[n]) for n in sorted(found))
    names = " / ".join(str(n) for n in sorted(found))
    difference = welch(found[published.ITERATIONS], best)
    return Claim(text, f"{paper} with 1 / 2 / 3", f"{ours} with {names}", judge(difference))


def _mean(runs: tuple[RunResult, ...]) -> float:
    found = scores(runs, "dev", "F1")
    return found.mean if found else 0.0


def _f1(run: RunResult) -> float:
    return run.measured.sets["dev"].labeled.f1
