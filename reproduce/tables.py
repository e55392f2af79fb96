"""The tables of the paper, with our numbers beside those of the paper: Markdown, or rows of CSV."""

from collections.abc import Sequence

from capsrl.config import ROUTED
from reproduce import published
from reproduce.corpora import SCORES, SETS, CorpusRuns, gains_by_language, scores
from reproduce.formatting import NONE, cells, counted, gain, number, spread, table
from reproduce.published import COLUMNS
from reproduce.results import VARIANTS
from reproduce.stats import Sample, sample, student

SHOWN = ("baseline", "capsule", "capsule+global")  # the variants that figure 3 compares
_PAPER = [f"paper {name}" for name in COLUMNS]
MEASURES = ("F1", "EM")
GROUP_KINDS = {"lengths": "words", "arguments": "arguments"}
# Heads of the tables that are written as CSV.
RUNS = ["corpus", "variant", "iterations", "uniqueness", "seed", "best epoch", "epochs", "seconds"]
RUNS += ["device", "commit", *(f"{name} {measure}" for name in SETS for measure in MEASURES)]
GROUPS = ["corpus", "group by", "group", "variant", "test F1", "deviation", "propositions"]
GROUPS += ["paper's propositions"]
ITERATIONS = ["corpus", "variant", "iterations"]
ITERATIONS += [
    cell for name in (*COLUMNS, "repeated roles") for cell in (name, f"{name} deviation")
]


def corpora_table(corpora: Sequence[CorpusRuns]) -> str:
    """The corpora, their variants and seeds, and the sizes of their sets."""
    rows = []
    for corpus in corpora:
        first, runs = corpus.first, corpus.runs
        sets = {name: counts for run in runs for name, counts in run.measured.sets.items()}
        variants = dict.fromkeys(f"`{run.variant}`" for run in runs)
        seeds = sorted({run.seed for run in runs})
        rows.append(
            [
                *(corpus.name, first.language, first.annotation, first.encoder),
                *(", ".join(variants), ", ".join(map(str, seeds)), str(len(runs))),
                *(number(sets[name].gold_predicates, 0) if name in sets else NONE for name in SETS),
            ]
        )
    head = ["corpus", "language", "annotation", "encoder", "variants", "seeds", "runs"]
    return table([*head, *(f"{name}, propositions" for name in SETS.values())], rows, 6)


def uniqueness_table(corpus: CorpusRuns) -> str | None:
    """Table 1: η and iterations of training, on dev; None if only one setting was run."""
    rows = []
    for eta, n in corpus.settings:
        runs = corpus.runs_at("capsule", eta, n)
        ours = [spread(scores(runs, "dev", measure)) for measure in COLUMNS]
        paper = published.UNIQUENESS.get((eta, n))
        rows.append([f"{eta:g}", str(n), str(len(runs)), *ours, *_paper(paper)])
    if len(rows) < 2:
        return None
    return table(["η", "iterations", "seeds", *COLUMNS, *_PAPER], rows)


def results_table(corpus: CorpusRuns) -> str:
    """Table 2: F1 on test and out of domain, baseline and CapsuleNet."""
    names = [name for name in ("test", "ood") if name in corpus.sets]
    old, new = "baseline", "capsule+global"
    rows = []
    for variant in (old, new):
        ours = [spread(corpus.score(variant, name, "F1")) for name in names]
        paper = [number(published.ABLATION[variant, name][2]) for name in names]
        rows.append([published.NAMES[variant], f"`{variant}`", *ours, *paper])
    differences = [gain(corpus.difference(new, old, name, "F1")) for name in names]
    papers = [published.ABLATION[new, n][2] - published.ABLATION[old, n][2] for n in names]
    rows.append(["difference", "", *differences, *(f"+{number(paper)}" for paper in papers)])
    titles = [SETS[name] for name in names]
    return table(["", "variant", *titles, *(f"paper {title}" for title in titles)], rows, 2)


def ablation_table(corpus: CorpusRuns) -> str:
    """Table 3: P, R, F1, EM of the four variants on every set."""
    rows = []
    for name in corpus.sets:
        for variant in reversed(VARIANTS):
            runs = corpus.runs_of(variant)
            ours = [spread(scores(runs, name, measure)) for measure in COLUMNS]
            paper = _paper(published.ABLATION[variant, name])
            rows.append([SETS[name], f"`{variant}`", str(len(runs)), *ours, *paper])
    return table(["set", "variant", "seeds", *COLUMNS, *_PAPER], rows, 2)


def groups_rows(corpus: CorpusRuns) -> list[list[str]]:
    """Figure 3 and table 4: F1 on test by sentence length and by number of arguments."""
    rows = []
    for kind, papers in published.GROUPS.items():
        groups = [getattr(run.measured, kind) for run in corpus.runs]
        for group, paper in papers.items():
            sizes = [found[group].propositions for found in groups if group in found]
            for variant in SHOWN if sizes else ():
                ours = corpus.group_score(variant, kind, group)
                rows.append([corpus.name, GROUP_KINDS[kind], group, variant, *cells(ours)])
                rows[-1] += [str(sizes[0]), f"{paper:g}"]
    return rows


def iterations_rows(corpus: CorpusRuns) -> list[list[str]]:
    """Figures 4 and 5: scores on dev after 1, 2, ... iterations of a trained model."""
    rows = []
    for variant in ROUTED:
        curves = [corpus.mean_curve(variant, name) for name in SCORES]
        for n, *found in zip(corpus.sweep(variant), *curves, strict=True):
            rows.append([corpus.name, variant, str(n), *_score_cells(found)])
    if not rows:
        return []
    baseline = [corpus.score("baseline", "dev", measure) for measure in SCORES]
    rows.append([corpus.name, "baseline", "", *_score_cells(baseline)])
    if corpus.gold_repeated is not None:
        rows.append([corpus.name, "gold", "", *[""] * 8, str(corpus.gold_repeated), ""])
    return rows


def runs_rows(corpora: Sequence[CorpusRuns]) -> list[list[str]]:
    """Every run with its scores."""
    rows = []
    for run in (run for corpus in corpora for run in corpus.runs):
        found = [run.measured.sets.get(name) for name in SETS]
        shown = [f"{SCORES[m](c):.2f}" if c else "" for c in found for m in ("F1", "EM")]
        iterations = str(run.iterations) if run.variant in ROUTED else ""
        row = [run.corpus, run.variant, iterations, f"{run.uniqueness:g}", str(run.seed)]
        row += [str(run.best_epoch), str(len(run.dev_f1)), f"{run.seconds:.0f}"]
        rows.append([*row, run.device, run.commit, *shown])
    return rows


def languages_table(corpora: Sequence[CorpusRuns]) -> str | None:
    """Table 5: F1 and EM of baseline and CapsuleNet on test; the paper has F1 only."""
    found = [sample(gains_by_language(corpora, measure).values()) for measure in MEASURES]
    averages = [average for average in found if average is not None]
    if not averages:
        return None
    variants = ("baseline", "capsule+global")
    rows = []
    for corpus in corpora:
        old, new = (corpus.score(variant, "test", "F1") for variant in variants)
        if old is None and new is None:
            continue
        seeds = "–".join(str(n) for n in sorted({each.n for each in (old, new) if each}))
        row = [corpus.first.language, corpus.name, seeds]
        for measure in MEASURES:
            row += [
                spread(corpus.score(v, "test", measure)) for v in ("baseline", "capsule+global")
            ]
            row.append(gain(corpus.difference("capsule+global", "baseline", "test", measure)))
        rows.append([*row, *_paper(published.LANGUAGES.get(corpus.first.paper), 2)])
    row = [f"average of {counted(averages[0].n, 'language')}", "", ""]
    for average in averages:
        row += ["", "", gain(student(average))]
    rows.append([*row, *_paper(published.LANGUAGES_AVERAGE)])
    head = ["language", "corpus", "seeds"]
    for measure in MEASURES:
        head += [f"baseline {measure}", f"CapsuleNet {measure}", "difference"]
    return table([*head, "paper baseline F1", "paper CapsuleNet F1"], rows, 2)


def _score_cells(found: Sequence[Sample | None]) -> list[str]:
    """Means and deviations of P, R, F1, EM and the number of propositions with a repeated role."""
    *shares, repeated = found
    return [cell for share in shares for cell in cells(share)] + cells(repeated, 1)


def _paper(found: Sequence[float] | None, width: int = 4) -> list[str]:
    return [number(value) for value in found] if found else [NONE] * width
