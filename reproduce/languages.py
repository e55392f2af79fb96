"""Baseline against CapsuleNet on every corpus: the paper's table 5, and its claims."""

from collections.abc import Sequence
from dataclasses import dataclass

from reproduce import published
from reproduce.blocks import Table
from reproduce.corpora import CorpusRuns
from reproduce.statistics import Difference, Sample, one_sample, sample, spearman, welch
from reproduce.verdicts import Claim, Theme, Verdict, judge, judge_each
from reproduce.wording import NONE, NOT_MEASURED, counted, gain, number, signed, spread


@dataclass(frozen=True)
class Pair:
    """A figure of both variants on the test set of a corpus."""

    corpus: CorpusRuns
    baseline: Sample
    capsule: Sample

    @property
    def difference(self) -> Difference:
        """What refinement adds."""
        return welch(self.capsule, self.baseline)


def make_pairs(corpora: Sequence[CorpusRuns], measure: str) -> list[Pair]:
    """The corpora on which both variants were run."""
    found = ((corpus, *_both(corpus, measure)) for corpus in corpora)
    return [Pair(corpus, old, new) for corpus, old, new in found if old and new]


def by_language(pairs: Sequence[Pair]) -> dict[str, float]:
    """The mean difference of each language: a language with several rows counts once.

    Corpora whose plan names no language count each for itself.
    """
    found: dict[str, list[float]] = {}
    for pair in pairs:
        language = pair.corpus.first.language or pair.corpus.name
        found.setdefault(language, []).append(pair.difference.mean)
    return {language: Sample(tuple(values)).mean for language, values in found.items()}


def languages_table(corpora: Sequence[CorpusRuns], measure: str) -> Table | None:
    """Table 5: F1 or EM of both variants per corpus on test, and the average over languages.

    The paper gives F1 alone.
    """
    pairs = make_pairs(corpora, measure)
    average = sample(by_language(pairs).values())
    shown = [corpus for corpus in corpora if _both(corpus, measure) != (None, None)]
    if average is None:
        return None
    rows = [_row(corpus, measure) for corpus in shown]
    name = f"average of {counted(average.n, 'language')}"
    rows.append([name, *[""] * 6, gain(one_sample(average))])
    head = ["language", "corpus", "annotation", "encoder", "seeds"]
    head += [f"baseline {measure}", f"CapsuleNet {measure}", "difference"]
    if measure == "F1":
        head += ["paper baseline", "paper CapsuleNet"]
        papers = [published.LANGUAGES.get(corpus.first.paper) for corpus in shown]
        for row, paper in zip(rows, [*papers, published.LANGUAGES_AVERAGE], strict=True):
            row += [number(figure) for figure in paper] if paper else [NONE, NONE]
    return Table(head, rows, 4)


def _row(corpus: CorpusRuns, measure: str) -> list[str]:
    first = corpus.first
    old, new = _both(corpus, measure)
    seeds = "–".join(str(n) for n in sorted({each.n for each in (old, new) if each}))
    difference = welch(new, old) if old and new else None
    words = [first.language, first.corpus, first.annotation, first.encoder, seeds]
    return [*words, spread(old), spread(new), gain(difference)]


def _both(corpus: CorpusRuns, measure: str) -> tuple[Sample | None, Sample | None]:
    old, new = (
        corpus.score(variant, "test", measure) for variant in ("baseline", "capsule+global")
    )
    return old, new


def languages_theme(corpora: Sequence[CorpusRuns]) -> Theme:
    """The claims about languages; all are of F1, the paper has no EM by language."""
    claims = [_every(corpora), _average(corpora), _size(corpora)]
    return Theme("Refinement in every language", _prose(corpora), claims)


def _every(corpora: Sequence[CorpusRuns]) -> Claim:
    pairs = make_pairs(corpora, "F1")
    languages = by_language(pairs)
    better = [difference > 0 for difference in languages.values()]
    lower = [language for language, difference in languages.items() if difference <= 0]
    ours = f"{sum(better)} of {counted(len(better), 'language')}" if better else NONE
    if lower:
        ours += f" (not {', '.join(lower)})"
    verdict = judge_each(better, n_seeds=max((pair.capsule.n for pair in pairs), default=0))
    return Claim(
        "CapsuleNet has a higher F1 than the baseline in every language, test",
        "7 of 7 languages",
        ours,
        verdict if len(better) > 1 else Verdict.MISSING,  # one language is not every
    )


def _average(corpora: Sequence[CorpusRuns]) -> Claim:
    average = sample(by_language(make_pairs(corpora, "F1")).values())
    difference = one_sample(average) if average else None
    # One language has no interval, however many seeds it was run with.
    verdict = Verdict.MISSING if average and average.n < 2 else judge(difference)
    old, new = published.LANGUAGES_AVERAGE
    return Claim(
        "CapsuleNet has a higher F1 than the baseline on average over languages, test",
        f"{number(old)} → {number(new)}: {signed(new - old)}",
        f"{gain(difference)} over {counted(average.n, 'language')}" if average else NONE,
        verdict,
    )


def _size(corpora: Sequence[CorpusRuns]) -> Claim:
    pairs = make_pairs(corpora, "F1")
    sizes = [_propositions(pair.corpus) for pair in pairs]
    found = spearman(sizes, [pair.difference.mean for pair in pairs])
    ours = (
        NONE
        if found is None
        else f"rank correlation {signed(found)} over {counted(len(pairs), 'row')}"
    )
    return Claim(
        "The gain does not depend on the size of the corpus (its propositions in dev and test)",
        "among the largest on the smallest and on the largest corpus",
        ours,
        Verdict.MISSING if found is None else Verdict.REPORTED,
    )


def _propositions(corpus: CorpusRuns) -> int:
    """Of dev and test: runs do not keep the size of what they were trained on."""
    sets = corpus.first.measured.sets
    return sum(sets[name].gold_predicates for name in ("dev", "test") if name in sets)


def _prose(corpora: Sequence[CorpusRuns]) -> str:
    pairs = make_pairs(corpora, "F1")
    if not pairs:
        return NOT_MEASURED
    verdicts = [judge(pair.difference) for pair in pairs]
    languages = by_language(pairs)
    exact = make_pairs(corpora, "EM")
    exact_gain = one_sample(Sample(tuple(by_language(exact).values())))
    best = max(pairs, key=lambda pair: pair.difference.mean)
    worst = min(pairs, key=lambda pair: pair.difference.mean)
    return (
        f"On {counted(len(pairs), 'row')} in {counted(len(languages), 'language')}, F1 on test is "
        f"higher in {sum(pair.difference.mean > 0 for pair in pairs)}; the interval is above 0 in "
        f"{verdicts.count(Verdict.HELD)} and below it in {verdicts.count(Verdict.FAILED)} (those "
        f"of one seed have none). The difference goes from {signed(worst.difference.mean)} "
        f"({worst.corpus.name}) to {signed(best.difference.mean)} ({best.corpus.name}). EM, which "
        "the paper does not give by language, is higher in "
        f"{sum(pair.difference.mean > 0 for pair in exact)}, on average over languages by "
        f"{gain(exact_gain)}. A language with several rows counts once, by their mean."
    )
