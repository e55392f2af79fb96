"""The tables of the paper, with our numbers and those of the paper side by side, as Markdown."""

from collections.abc import Sequence

from capsrl.config import ROUTED
from reproduce import published
from reproduce.corpora import SCORES, SETS, CorpusRuns, gains_by_language, scores
from reproduce.formatting import NONE, counted, gain, number, spread, table
from reproduce.published import COLUMNS
from reproduce.results import VARIANTS
from reproduce.stats import sample, student

SHOWN = ("baseline", "capsule", "capsule+global")  # the variants that figure 3 compares
_PAPER = [f"paper {name}" for name in COLUMNS]


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


def groups_table(corpus: CorpusRuns, kind: str) -> str | None:
    """Figure 3 and table 4: F1 on test by sentence length or by number of arguments."""
    rows = []
    for group, paper in published.GROUPS[kind].items():
        groups = [getattr(run.measured, kind) for run in corpus.runs]
        sizes = [found[group].propositions for found in groups if group in found]
        if sizes:
            ours = [spread(corpus.group_score(variant, kind, group)) for variant in SHOWN]
            rows.append([group, *ours, number(sizes[0], 0), number(paper, 0)])
    first = {"lengths": "words", "arguments": "arguments"}[kind]
    head = [first, *(f"`{variant}`" for variant in SHOWN), "propositions", "paper's propositions"]
    return table(head, rows) if rows else None


def iterations_table(corpus: CorpusRuns) -> str | None:
    """Figures 4 and 5: scores on dev after 1, 2, ... iterations of a trained model."""
    rows = []
    for variant in ROUTED:
        curves = [corpus.mean_curve(variant, name) for name in SCORES]
        for n, *found, repeated in zip(corpus.sweep(variant), *curves, strict=True):
            mark = " (trained)" if n == corpus.iterations else ""
            rows.append([f"`{variant}`", f"{n}{mark}", *map(spread, found), spread(repeated, 1)])
    if not rows:
        return None
    baseline = [spread(corpus.score("baseline", "dev", measure)) for measure in COLUMNS]
    repeated = spread(corpus.score("baseline", "dev", "repeated"), 1)
    gold = NONE if corpus.gold_repeated is None else str(corpus.gold_repeated)
    rows += [["`baseline`", NONE, *baseline, repeated], ["gold", *[NONE] * 5, gold]]
    return table(["variant", "iterations", *COLUMNS, "repeated roles"], rows, 2)


def languages_table(corpora: Sequence[CorpusRuns], measure: str) -> str | None:
    """Table 5: F1 or EM of baseline and CapsuleNet on test; the paper has F1 only."""
    average = sample(gains_by_language(corpora, measure).values())
    if average is None:
        return None
    rows = []
    for corpus in corpora:
        old, new = (corpus.score(v, "test", measure) for v in ("baseline", "capsule+global"))
        if old is None and new is None:
            continue
        first = corpus.first
        seeds = "–".join(str(n) for n in sorted({each.n for each in (old, new) if each}))
        difference = gain(corpus.difference("capsule+global", "baseline", "test", measure))
        row = [first.language, corpus.name, first.annotation, first.encoder, seeds]
        rows.append([*row, spread(old), spread(new), difference])
        if measure == "F1":
            rows[-1] += _paper(published.LANGUAGES.get(first.paper), 2)
    average_name = f"average of {counted(average.n, 'language')}"
    rows.append([average_name, *[""] * 6, gain(student(average))])
    head = ["language", "corpus", "annotation", "encoder", "seeds"]
    head += [f"baseline {measure}", f"CapsuleNet {measure}", "difference"]
    if measure == "F1":
        rows[-1] += _paper(published.LANGUAGES_AVERAGE)
        head += ["paper baseline", "paper CapsuleNet"]
    return table(head, rows, 4)


def runs_table(corpora: Sequence[CorpusRuns]) -> str:
    """Every run with its scores."""
    rows = []
    for run in (run for corpus in corpora for run in corpus.runs):
        found = [run.measured.sets.get(name) for name in SETS]
        shown = [number(SCORES[m](c)) if c else NONE for c in found for m in ("F1", "EM")]
        iterations = str(run.iterations) if run.variant in ROUTED else NONE
        setting = [f"`{run.variant}`", iterations, f"{run.uniqueness:g}", str(run.seed)]
        epochs = f"{run.best_epoch} of {len(run.dev_f1)}"
        rows.append([run.corpus, *setting, epochs, number(run.seconds, 0), *shown])
    head = ["corpus", "variant", "iterations", "η", "seed", "best epoch", "seconds"]
    head += [f"{name} {measure}" for name in SETS for measure in ("F1", "EM")]
    return table(head, rows, 2)


def _paper(found: Sequence[float] | None, width: int = 4) -> list[str]:
    return [number(value) for value in found] if found else [NONE] * width
