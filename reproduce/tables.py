"""The tables of the paper, with our numbers beside those of the paper: Markdown, or rows of CSV."""

import itertools
from collections.abc import Sequence

from capsrl.config import ROUTED
from reproduce import published
from reproduce.claims import CHANGE_STEPS
from reproduce.corpora import (
    DECODER,
    SCORES,
    SETS,
    CorpusRuns,
    average_gain,
    gains_by_language,
    scores,
)
from reproduce.formatting import NONE, cells, counted, gain, number, spread, table
from reproduce.published import COLUMNS
from reproduce.results import VARIANTS
from reproduce.stats import Sample, paired, sample, student, welch

SHOWN = ("baseline", "capsule", "capsule+global")  # the variants that figure 3 compares
_PAPER = [f"paper {name}" for name in COLUMNS]
MEASURES = ("F1", "EM")
GROUP_KINDS = {"lengths": "words", "arguments": "arguments"}
# Heads of the tables that are written as CSV.
RUNS = ["corpus", "variant", "iterations", "uniqueness", "seed", "best epoch", "epochs", "seconds"]
RUNS += ["device", "commit", "code", "axes", "routing parameters"]
RUNS += [f"{name} {measure}" for name in SETS for measure in MEASURES]
RUNS += [f"{name} {measure} with decoder" for name in SETS for measure in MEASURES]
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


def results_table(corpus: CorpusRuns, *, with_systems: bool = True) -> str:
    """Table 2: F1 on test and out of domain, baseline and CapsuleNet, after earlier systems."""
    names = [name for name in ("test", "ood") if name in corpus.sets]
    old, new = "baseline", "capsule+global"
    rows = [
        [system, "", *[NONE] * len(names), *(number(f1) if f1 else NONE for f1 in found)]
        for system, scores in published.SYSTEMS.items()
        for found in [scores[: len(names)]]
        if with_systems
    ]
    for variant in (old, old + DECODER, new, new + DECODER):
        ours = [spread(corpus.score(variant, name, "F1")) for name in names]
        title = published.NAMES[variant.removesuffix(DECODER)]
        if variant.endswith(DECODER):
            rows.append([f"{title} + decoder", f"`{variant}`", *ours, *[NONE] * len(names)])
        else:
            paper = [number(published.ABLATION[variant, name][2]) for name in names]
            rows.append([title, f"`{variant}`", *ours, *paper])
    differences = [gain(corpus.difference(new, old, name, "F1")) for name in names]
    papers = [published.ABLATION[new, n][2] - published.ABLATION[old, n][2] for n in names]
    rows.append(["difference", "", *differences, *(f"+{number(paper)}" for paper in papers)])
    control = [gain(corpus.difference(new, old + DECODER, name, "F1")) for name in names]
    rows.append(["difference from Baseline + decoder", "", *control, *[NONE] * len(names)])
    titles = [SETS[name] for name in names]
    return table(["", "variant", *titles, *(f"paper {title}" for title in titles)], rows, 2)


def ablation_table(corpus: CorpusRuns) -> str:
    """Table 3: P, R, F1, EM of the four variants on every set, alone and with the decoder.

    The last columns count what the decoder rules out: repeated core roles and R-X without X.
    """
    rows = []
    for name in corpus.sets:
        for variant in reversed(VARIANTS):
            for scored in (variant, variant + DECODER):
                ours = [spread(corpus.score(scored, name, measure)) for measure in COLUMNS]
                if ours == [NONE] * len(ours):
                    continue
                slips = [
                    spread(corpus.slips(scored, name, kind) if scored == variant else None, 1)
                    for kind in ("pred_repeats", "pred_orphans")
                ]
                paper = _paper(published.ABLATION[variant, name] if scored == variant else None)
                seeds = str(len(corpus.runs_of(variant)))
                rows.append([SETS[name], f"`{scored}`", seeds, *ours, *slips, *paper])
        gold = [spread(_any(corpus, name, kind), 0) for kind in ("gold_repeats", "gold_orphans")]
        if gold != [NONE, NONE]:
            rows.append([SETS[name], "gold", "", *[""] * 4, *gold, *[""] * 4])
    head = ["set", "variant", "seeds", *COLUMNS, "core repeats", "R- alone", *_PAPER]
    return table(head, rows, 2)


def _any(corpus: CorpusRuns, name: str, kind: str) -> Sample | None:
    """A count of gold, the same in every run."""
    found = [corpus.slips(variant, name, kind) for variant in VARIANTS]
    return next((Sample(each.values[:1]) for each in found if each is not None), None)


def parameters_line(corpus: CorpusRuns) -> str:
    """How many numbers routing has, in each variant, of how many in the network."""
    found = {run.variant: run.measured.parameters for run in corpus.runs if run.measured.parameters}
    return ", ".join(
        f"`{variant}` {found[variant]['routing']:,} of {found[variant]['all']:,}"
        for variant in VARIANTS
        if variant in found
    )


def sizes_table(corpus: CorpusRuns) -> str:
    """Table 4: propositions of test by words in the sentence and by arguments."""
    rows = []
    for kind, papers in published.GROUPS.items():
        found = {n: row for run in corpus.runs for n, row in getattr(run.measured, kind).items()}
        for group, paper in papers.items():
            ours = number(found[group].propositions, 0) if group in found else NONE
            rows.append([GROUP_KINDS[kind], group, ours, number(paper, 0)])
    return table(["by", "group", "propositions", "paper"], rows, 2)


def cells_table(corpus: CorpusRuns, name: str) -> str:
    """Every value of the axes with every variant, against the paper's model, on one set.

    A variant is compared with `capsule+global` at the same values, `capsule+global` with itself at
    the first values; with the decoder, both have it.
    """
    first = corpus.cells[0]
    rows = []
    for cell in corpus.cells:
        for more, variant in itertools.product(("", DECODER), VARIANTS):
            scored, model = variant + more, "capsule+global" + more
            if cell.score(scored, name, "F1") is None:
                continue
            other = first if scored == model else cell
            row = [cell.axes or NONE, f"`{scored}`", str(len(cell.runs_of(scored)))]
            for measure in MEASURES:
                new = cell.by_seed(scored, name, measure)
                old = other.by_seed(model, name, measure)
                row.append(spread(sample(new.values())))
                if not old or (cell is first and scored == model):
                    row += [NONE, NONE]
                    continue
                p = paired(new, old)
                row.append(gain(welch(Sample(tuple(new.values())), Sample(tuple(old.values())))))
                row.append(NONE if p is None else f"{p:.3f}")
            rows.append(row)
    head = ["values", "variant", "seeds"]
    for measure in MEASURES:
        head += [f"{SETS[name]} {measure}", "difference", "paired p"]
    return table(head, rows, 2)


def average_table(corpus: CorpusRuns) -> str:
    """What refinement adds on average over the settings with all sentences; "" for one setting."""
    rows = []
    for name, (more, label) in itertools.product(
        corpus.sets, {"": "without the decoder", DECODER: "with the decoder"}.items()
    ):
        found = [average_gain(corpus, more, name, measure) for measure in MEASURES]
        if any(found):
            rows.append([SETS[name], label, *map(gain, found)])
    return table(["set", "both variants", *MEASURES], rows, 2) if rows else ""


def changes_table(corpus: CorpusRuns) -> str:
    """Figure 6 in numbers: role changes summed over seeds, and two shares of right ones.

    The authors count a change from one wrong role to another as wrong; we leave it out.
    """
    rows = []
    for variant in ROUTED:
        for step in CHANGE_STEPS:
            found = [change for seed in corpus.changes(variant, [step]) for change in seed]
            right, wrong = sum(c.right for c in found), sum(c.wrong for c in found)
            other = sum(c.other for c in found)
            shares = [
                f"{100 * right / whole:.1f}" if whole else NONE
                for whole in (right + wrong, right + wrong + other)
            ]
            counts = [f"{n:,}" for n in (right, wrong, other)]
            rows.append([f"`{variant}`", f"{step} → {step + 1}", *counts, *shares])
    head = ["variant", "step", "right", "wrong", "wrong to wrong"]
    return table([*head, "right of right and wrong, %", "right of all, as the authors, %"], rows, 2)


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
    every = [cell for corpus in corpora for cell in corpus.cells or (corpus,)]
    for run in (run for cell in every for run in cell.runs):
        found = [run.measured.sets.get(name) for name in SETS]
        found += [run.measured.decoded.get(name) for name in SETS]
        shown = [f"{SCORES[m](c):.2f}" if c else "" for c in found for m in MEASURES]
        axes = ", ".join(f"{axis}={value}" for axis, value in run.axes.items())
        iterations = str(run.iterations) if run.variant in ROUTED else ""
        row = [run.corpus, run.variant, iterations, f"{run.uniqueness:g}", str(run.seed)]
        row += [str(run.best_epoch), str(run.epochs), f"{run.seconds:.0f}"]
        row += [run.device, run.commit, run.code, axes]
        rows.append([*row, str(run.measured.parameters.get("routing", "")), *shown])
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
            row.append(spread(corpus.score("baseline" + DECODER, "test", measure)))
        best = published.PREVIOUS_BEST.get(corpus.first.paper)
        row.append(number(best) if best else NONE)
        rows.append([*row, *_paper(published.LANGUAGES.get(corpus.first.paper), 2)])
    row = [f"average of {counted(averages[0].n, 'language')}", "", ""]
    for average in averages:
        row += ["", "", gain(student(average)), ""]
    row.append(number(published.PREVIOUS_AVERAGE))
    rows.append([*row, *_paper(published.LANGUAGES_AVERAGE)])
    head = ["language", "corpus", "seeds"]
    for measure in MEASURES:
        head += [f"baseline {measure}", f"CapsuleNet {measure}", "difference"]
        head += [f"baseline + decoder {measure}"]
    head += ["best before the paper F1", "paper baseline F1", "paper CapsuleNet F1"]
    return table(head, rows, 2)


def _score_cells(found: Sequence[Sample | None]) -> list[str]:
    """Means and deviations of P, R, F1, EM and the number of propositions with a repeated role."""
    *shares, repeated = found
    return [cell for share in shares for cell in cells(share)] + cells(repeated, 1)


def _paper(found: Sequence[float] | None, width: int = 4) -> list[str]:
    return [number(value) for value in found] if found else [NONE] * width
