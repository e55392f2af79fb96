"""The runs of a corpus in; the paper's tables, ours and its figures side by side, out."""

from collections.abc import Mapping

from capsrl.config import ROUTED
from reproduce import published
from reproduce.behaviour import curves, mean_curve
from reproduce.blocks import Table
from reproduce.corpora import (
    MEASURES,
    SETS,
    CorpusRuns,
    gold_repeated,
    repeated,
    row_scores,
    scores,
)
from reproduce.results import VARIANTS
from reproduce.statistics import welch
from reproduce.wording import NONE, gain, number, spread

SHOWN = ("baseline", "capsule", "capsule+global")  # what the paper's figures compare
_PAPER = tuple(f"paper {name}" for name in MEASURES)


def uniqueness_table(corpus: CorpusRuns) -> Table | None:
    """Table 1: eta and iterations of training, on dev; None where only one setting was run."""
    rows = []
    for eta, n in corpus.settings:
        runs = corpus.at("capsule", eta, n)
        ours = [spread(scores(runs, "dev", measure)) for measure in MEASURES]
        paper = published.UNIQUENESS.get((eta, n))
        rows.append([f"{eta:g}", str(n), str(len(runs)), *ours, *_paper(paper)])
    head = ["η", "iterations", "seeds", *MEASURES, *_PAPER]
    return Table(head, rows) if len(rows) > 1 else None


def results_table(corpus: CorpusRuns) -> Table:
    """Table 2: F1 on test and out of domain, baseline against CapsuleNet."""
    names = [name for name in ("test", "ood") if name in corpus.sets]
    rows = []
    for variant in ("baseline", "capsule+global"):
        ours = [spread(corpus.score(variant, name, "F1")) for name in names]
        paper = [number(published.ABLATION[variant, name][2]) for name in names]
        rows.append([published.NAMES[variant], f"`{variant}`", *ours, *paper])
    pairs = [
        (corpus.score("capsule+global", name, "F1"), corpus.score("baseline", name, "F1"))
        for name in names
    ]
    gains = [gain(welch(new, old)) if new and old else NONE for new, old in pairs]
    papers = [
        published.ABLATION["capsule+global", name][2] - published.ABLATION["baseline", name][2]
        for name in names
    ]
    rows.append(["difference", "", *gains, *(f"+{number(paper)}" for paper in papers)])
    titles = [SETS[name] for name in names]
    return Table(["", "variant", *titles, *(f"paper {title}" for title in titles)], rows, 2)


def ablation_table(corpus: CorpusRuns) -> Table:
    """Table 3: P, R, F1, EM of the four variants on every set."""
    rows = []
    for name in corpus.sets:
        for variant in reversed(VARIANTS):
            runs = corpus.of(variant)
            ours = [spread(scores(runs, name, measure)) for measure in MEASURES]
            paper = published.ABLATION[variant, name]
            rows.append([SETS[name], f"`{variant}`", str(len(runs)), *ours, *_paper(paper)])
    return Table(["set", "variant", "seeds", *MEASURES, *_PAPER], rows, 2)


def groups_table(corpus: CorpusRuns, table: str) -> Table | None:
    """Figure 3 and table 4 in numbers: F1 on test by sentence length or number of arguments."""
    first, papers = GROUPS[table]
    rows = []
    for group, paper in papers.items():
        found = [row_scores(corpus, variant, table, group) for variant in SHOWN]
        sizes = [
            rows_of[group].propositions
            for run in corpus.runs
            if group in (rows_of := getattr(run.measured, table))
        ]
        if sizes:
            counts = [number(sizes[0], 0), number(paper, 0)]
            rows.append([group, *map(spread, found), *counts])
    head = [first, *(f"`{variant}`" for variant in SHOWN), "propositions", "paper's"]
    return Table(head, rows) if rows else None


GROUPS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "lengths": ("words", published.LENGTHS),
    "arguments": ("arguments", published.ARGUMENTS),
}


def iterations_table(corpus: CorpusRuns) -> Table | None:
    """Figures 4 and 5 in numbers: dev after 1, 2, ... iterations of a trained model."""
    rows = []
    for variant in ROUTED:
        found = [mean_curve(curves(corpus, variant, name)) for name in (*MEASURES, "repeated")]
        for i, n in enumerate(corpus.sweep(variant)):
            mark = " (trained)" if n == corpus.iterations else ""
            figures = [spread(curve[i]) for curve in found[:-1]]
            rows.append([f"`{variant}`", f"{n}{mark}", *figures, spread(found[-1][i], 1)])
    if not rows:
        return None
    baseline = [spread(corpus.score("baseline", "dev", measure)) for measure in MEASURES]
    rows.append(["`baseline`", NONE, *baseline, spread(repeated(corpus.of("baseline")), 1)])
    gold = gold_repeated(corpus)
    rows.append(["gold", *[NONE] * 5, NONE if gold is None else str(gold)])
    return Table(["variant", "iterations", *MEASURES, "repeated roles"], rows, 2)


def _paper(figures: published.Scores | None) -> list[str]:
    return [number(figure) for figure in figures] if figures else [NONE] * 4
