"""Runs in, the blocks of the report out, in the order of a reader."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from capsrl.config import ROUTED
from reproduce import published
from reproduce.behaviour import behaviour_themes
from reproduce.blocks import Block, Heading, Items, Picture, Table, Text
from reproduce.claims import score_themes
from reproduce.corpora import SETS, CorpusRuns, group_runs
from reproduce.figures import (
    plot_duplicates,
    plot_groups,
    plot_iterations,
    plot_languages,
)
from reproduce.languages import languages_table, languages_theme, make_pairs
from reproduce.results import RunResult
from reproduce.tables import (
    ablation_table,
    groups_table,
    iterations_table,
    results_table,
    uniqueness_table,
)
from reproduce.transitions import OFTEN, changed_steps, plot_transitions
from reproduce.verdicts import RULES, Theme, tally
from reproduce.wording import NONE, NOT_MEASURED, counted, listed, number

_MISSING = Text(NOT_MEASURED)
_READING = (
    "**F1** is the labelled semantic F1 of the official CoNLL-2009 scorer, senses and "
    "arguments pooled, with the predicates given; **P** and **R** are its precision and recall. "
    "**EM** is the share of propositions whose sense and whole argument set are right.",
    "Figures are mean ± sample standard deviation over seeds, in per cent; without ± there was one "
    "seed. Brackets are 95 % intervals of a difference.",
    "Variants, each adding to the one before: `baseline`; `word` (word capsules, no refinement); "
    "`capsule` (role capsules, refined by routing); `capsule+global` (with the global node: the "
    "paper's CapsuleNet).",
    f"The paper's numbers are of **{published.DATA}**: tables 1 to 4 and figures 3 to 6 of "
    "English, with ELMo; table 5 of seven languages, with fastText but for English. Beside runs on "
    "other data they stand for orientation only.",
)


def make_blocks(runs: Sequence[RunResult], notes: Sequence[str] = ()) -> list[Block]:
    """The whole report; raises DataError for runs that cannot be compared."""
    corpora = group_runs(runs)
    # The paper's own language first.
    full = sorted(
        (corpus for corpus in corpora if corpus.is_full),
        key=lambda corpus: (corpus.first.paper != "en", corpus.first.language, corpus.name),
    )
    return [
        Heading(1, "Results: the paper's tables and figures"),
        *_what_was_run(runs, corpora),
        *_notes(notes),
        *_claims(full, corpora),
        *_uniqueness(corpora),
        *_section("Test, out of domain, ablation", full, _ablation),
        *_section("Sentence length and number of arguments", full, _groups),
        *_section("Number of iterations", full, _iterations),
        *_section("Duplicate arguments", full, _duplicates),
        *_section("Role changes between iterations", full, _changes),
        *_languages(corpora),
        Heading(2, "Every run"),
        _every_run(corpora),
    ]


def _what_was_run(runs: Sequence[RunResult], corpora: Sequence[CorpusRuns]) -> Iterator[Block]:
    hours = number(sum(run.seconds for run in runs) / 3600, 1)
    yield Text(
        "Semantic role labelling with capsule networks after Chen, Lyu and Titov (2019): "
        f"{counted(len(runs), 'run')}, {counted(len(corpora), 'pair')} of corpus "
        f"and encoder, {hours} hours of training (runs side by side count each). This page is "
        "generated: `capsrl paper PLAN.toml` makes the runs, `capsrl report RUNS OUT.html` the "
        "page and its figures."
    )
    yield Items(_READING)
    yield Heading(2, "What was run")
    head = ["corpus", "language", "annotation", "encoder", "variants", "seeds"]
    sizes = [f"{name}, propositions" for name in SETS.values()]
    yield Table([*head, "runs", *sizes], [_corpus_row(corpus) for corpus in corpora], len(head))
    devices = listed(sorted({run.device for run in runs}))
    commits = listed([f"`{commit}`" for commit in sorted({run.commit for run in runs})])
    yield Text(
        f"Device: {devices}. Code: commit {commits}. The epoch with the best F1 on dev is the one "
        "measured."
    )


def _notes(notes: Sequence[str]) -> Iterator[Block]:
    if notes:
        yield Heading(2, "Notes")
        yield from map(Text, notes)


def _corpus_row(corpus: CorpusRuns) -> list[str]:
    first = corpus.first
    sets = {name: counts for run in corpus.runs for name, counts in run.measured.sets.items()}
    sizes = [number(sets[name].gold_predicates, 0) if name in sets else NONE for name in SETS]
    seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in corpus.runs}))
    variants = dict.fromkeys(f"`{run.variant}`" for run in corpus.runs)
    words = [corpus.name, first.language, first.annotation, first.encoder]
    return [*words, ", ".join(variants), seeds, str(len(corpus.runs)), *sizes]


def _claims(full: Sequence[CorpusRuns], corpora: Sequence[CorpusRuns]) -> Iterator[Block]:
    themes = [(corpus, [*score_themes(corpus), *behaviour_themes(corpus)]) for corpus in full]
    languages = languages_theme(corpora)
    all_claims = [claim for _, found in themes for theme in found for claim in theme.claims]
    yield Heading(2, "Claims")
    yield Text(
        "What the paper says, and whether it is so here: "
        f"{tally([*all_claims, *languages.claims])}. Verdicts follow from the runs by these rules:"
    )
    yield Items(RULES)
    yield Text("In short, question by question:")
    yield Items(
        [
            f"{corpus.name}: **{theme.title}**: {tally(theme.claims)}."
            for corpus, found in themes
            for theme in found
        ]
        + [f"All corpora: **{languages.title}**: {tally(languages.claims)}."]
    )
    for corpus, found in themes:
        yield Heading(3, f"Claims on {_title(corpus)}")
        for theme in found:
            yield from _theme(theme)
    if not full:
        yield Text("Claims about the variants: not measured, no corpus has three of them.")
    yield Heading(3, "Claims over languages")
    yield from _theme(languages)


def _theme(theme: Theme) -> Iterator[Block]:
    yield Heading(4, theme.title)
    yield Text(theme.prose)
    rows = [[claim.text, claim.paper, claim.ours, f"**{claim.verdict}**"] for claim in theme.claims]
    yield Table(["claim", f"paper ({published.DATA})", "here", "verdict"], rows, 4)


def _section(
    title: str, full: Sequence[CorpusRuns], make: Callable[[CorpusRuns], Iterable[Block]]
) -> Iterator[Block]:
    yield Heading(2, title)
    for corpus in full:
        yield Heading(3, _title(corpus))
        yield from make(corpus)
    if not full:
        yield _MISSING


def _uniqueness(corpora: Sequence[CorpusRuns]) -> Iterator[Block]:
    yield Heading(2, "Uniqueness loss and iterations of training")
    tables = [(corpus, table) for corpus in corpora if (table := uniqueness_table(corpus))]
    for corpus, table in tables:
        yield Heading(3, _title(corpus))
        yield Text(
            "Variant `capsule` (without the global node) on dev, trained with different weights η "
            "of the uniqueness loss and numbers of iterations; the paper's table 1 beside it."
        )
        yield table
    if not tables:
        yield _MISSING


def _ablation(corpus: CorpusRuns) -> Iterator[Block]:
    yield Text(_setting(corpus))
    if "test" in corpus.sets or "ood" in corpus.sets:
        yield Text("F1 as in the paper's table 2:")
        yield results_table(corpus)
    yield Text("The four variants, as in its table 3:")
    yield ablation_table(corpus)


def _groups(corpus: CorpusRuns) -> Iterator[Block]:
    tables = [table for name in ("lengths", "arguments") if (table := groups_table(corpus, name))]
    if not tables:
        yield _MISSING
        return
    name = _file_name(corpus, "groups")
    caption = (
        f"F1 on the test set of {corpus.name} by sentence length and by number of arguments; bars "
        "are standard deviations over seeds (the paper's figure 3 and table 4, whose groups these "
        "are: longer sentences, and propositions with none or more arguments, are left out)."
    )
    yield Picture(name, caption, plot_groups(name, corpus))
    yield from tables


def _iterations(corpus: CorpusRuns) -> Iterator[Block]:
    table = iterations_table(corpus)
    if table is None:
        yield _MISSING
        return
    name = _file_name(corpus, "iterations")
    caption = (
        f"Scores on the dev set of {corpus.name} against the number of iterations at prediction "
        f"time, of models trained with {corpus.iterations}; bands are standard deviations over "
        "seeds (the paper's figure 4)."
    )
    yield Picture(name, caption, plot_iterations(name, corpus))
    yield table


def _duplicates(corpus: CorpusRuns) -> Iterator[Block]:
    if iterations_table(corpus) is None:
        yield _MISSING
        return
    name = _file_name(corpus, "duplicates")
    caption = (
        f"Propositions of the dev set of {corpus.name} in which a role is filled more than once, "
        "against the number of iterations (the paper's figure 5). The numbers are in the table "
        "above, under repeated roles."
    )
    yield Picture(name, caption, plot_duplicates(name, corpus))


def _changes(corpus: CorpusRuns) -> Iterator[Block]:
    if not changed_steps(corpus):
        yield _MISSING
        return
    name = _file_name(corpus, "changes")
    caption = (
        f"Role changes between consecutive iterations on the dev set of {corpus.name}, summed over "
        "seeds (the paper's figure 6): from the role of the row to that of the column. The upper "
        "left half of a cell counts changes to the gold role (right, blue), the lower right half "
        "changes away from it (wrong, orange), on the paper's scale sign(q) log|q|; white is no "
        f"change. Changes from one wrong role to another are left out. Roles that gold has more "
        f"than {OFTEN} times; None is no argument."
    )
    yield Picture(name, caption, plot_transitions(name, corpus))


def _languages(corpora: Sequence[CorpusRuns]) -> Iterator[Block]:
    yield Heading(2, "Languages")
    f1, em = (languages_table(corpora, measure) for measure in ("F1", "EM"))
    if f1 is None or em is None:
        yield _MISSING
        return
    yield Text(
        "`baseline` against `capsule+global` on the test set of every corpus, beside the paper's "
        f"table 5 ({published.DATA}). A language with several rows counts once in the average, by "
        "the mean of its rows; the interval is over languages. The paper's average is over its own "
        "seven: Catalan, Chinese, Czech, English, German, Japanese and Spanish."
    )
    yield f1
    yield em
    caption = (
        "What refinement adds on test, with 95 % intervals over seeds; one seed has none. Crosses "
        f"are the paper's differences in F1 in that language ({published.DATA})."
    )
    pairs = make_pairs(corpora, "F1"), make_pairs(corpora, "EM")
    yield Picture("languages", caption, plot_languages("languages", *pairs))


def _every_run(corpora: Sequence[CorpusRuns]) -> Table:
    rows = []
    for run in (run for corpus in corpora for run in corpus.runs):
        figures = [
            number(value) if counts else NONE
            for name in SETS
            for counts in [run.measured.sets.get(name)]
            for value in ((counts.labeled.f1, counts.exact_match) if counts else (0.0, 0.0))
        ]
        iterations = str(run.iterations) if run.variant in ROUTED else NONE
        setting = [f"`{run.variant}`", iterations, f"{run.uniqueness:g}", str(run.seed)]
        epochs = f"{run.best_epoch} of {len(run.dev_f1)}"
        rows.append([run.corpus, *setting, epochs, number(run.seconds, 0), *figures])
    head = ["corpus", "variant", "iterations", "η", "seed", "best epoch", "seconds"]
    head += [f"{name} {measure}" for name in SETS for measure in ("F1", "EM")]
    return Table(head, rows, 2)


def _title(corpus: CorpusRuns) -> str:
    words = ", ".join(filter(None, (corpus.first.language, corpus.first.encoder)))
    return f"{corpus.name} ({words})" if words else corpus.name


def _setting(corpus: CorpusRuns) -> str:
    iterations = counted(corpus.iterations, "iteration")
    return f"Trained with {iterations} and η = {corpus.uniqueness:g}."


def _file_name(corpus: CorpusRuns, figure: str) -> str:
    """For a file and for ids in XML, so only letters, digits, dots, dashes and underscores."""
    return f"{re.sub(r'[^A-Za-z0-9._-]', '-', corpus.name)}-{figure}"
