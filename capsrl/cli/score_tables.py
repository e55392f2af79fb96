"""Print scores and calibration errors as tables."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from capsrl.score import BREAKDOWNS, PRF, Confusion, Counts, PhraseScores, Row, Scores
from capsrl.score.agreement import Kappa
from capsrl.score.breakdown import OF_ARGUMENTS
from capsrl.score.calibration import Answers, CalibrationScores
from capsrl.score.counts import percent
from capsrl.score.mistakes import most_common
from capsrl.score.phrase_scores import PREDICATE
from capsrl.score.scorer import NONE
from capsrl.score.significance import Interval, PairedTest

MODE_TITLES = {
    "official": "Official CoNLL-2009 scores",
    "strict": "Strict scores: lemmas count",
    "primesrl": "PriMeSRL scores: numbered roles need their sense, C- and R- merged",
}

_SIDES = ("gold", "predicted"), ("first", "second")
_COLUMNS = 8  # roles in the matrix of confusions, which has to fit into a terminal
_MOST = 20  # confusions that are listed


def print_scores(
    files: Sequence[str],
    scores: Sequence[Scores],
    intervals: Mapping[str, Interval],
    test: PairedTest | None,
    agreement: Mapping[str, Kappa],
) -> None:
    """Print the scores of the first system, and a comparison with the second if there is one.

    agreement  of two annotators, if there is no gold
    """
    console = _console()
    first = scores[0]
    title = f"{files[1]} against {files[0]}: {first.counts.sentences} sentences"
    console.print(title, style="dim", soft_wrap=True)
    if agreement:
        _print_table(console, _agreement_table(first.counts, agreement))
    else:
        _print_table(console, _main_table("official", first.official))
        if first.mode != "official":
            _print_table(console, _main_table(first.mode, first.counts))
        _print_table(console, _subtask_table(first))
        console.print()
        for line in _summary_lines(first, intervals):
            console.print(line, soft_wrap=True)
    for name, rows in first.breakdowns.items():
        _print_table(console, _breakdown_table(name, rows))
    if first.phrases is not None:
        _print_table(console, _phrase_table(first.phrases))
        console.print()
        for line in _phrase_lines(first.phrases):
            console.print(line, soft_wrap=True)
    if first.confusion is not None:
        _print_confusion(console, first.confusion, _SIDES[bool(agreement)])
    if test is not None:
        _print_table(console, _comparison_table(files[1:], scores))
        console.print(_verdict(test), soft_wrap=True)


def print_calibration(scores: CalibrationScores) -> None:
    """Print accuracy, mean probability, ECE and Brier score by kind of answer and by role."""
    console = _console()
    _print_table(console, _calibration_table("Calibration", scores.kinds))
    _print_table(
        console, _calibration_table("Calibration of arguments, by role", scores.frequent_roles())
    )


def print_fit(before: CalibrationScores, after: CalibrationScores) -> None:
    """Print ECE and Brier score by kind of answer, before and after calibration."""
    headers = ("answers", "right", "ECE before", "after", "Brier before", "after")
    table = _plain_table("", "", *headers)
    for kind, old in before.kinds.items():
        new = after.kinds[kind]
        figures = (old.accuracy, old.ece, new.ece, old.brier, new.brier)
        table.add_row(kind, str(len(old)), *(f"{figure:.4f}" for figure in figures))
    _console().print(table)


def _console() -> Console:
    # File and role names are text, not markup. No table is this wide: at the width of the terminal,
    # or the 80 columns of a pipe, Rich would cut off digits of large numbers.
    return Console(highlight=False, markup=False, emoji=False, width=1000)


def _print_table(console: Console, table: Table) -> None:
    # Rich would center the title and cut it to the width of the table.
    title, table.title = str(table.title), None
    console.print()
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def _main_table(mode: str, counts: Counts) -> Table:
    table = _plain_table(
        MODE_TITLES[mode], "", "precision", "recall", "F1", "correct", "gold", "pred"
    )
    gold = f"{counts.gold_arguments} + {counts.gold_predicates}"
    pred = f"{counts.pred_arguments} + {counts.pred_predicates}"
    correct = f"{counts.correct_arguments} + {counts.correct_senses}"
    found = f"{counts.found_arguments} + {counts.found_predicates}"
    table.add_row("labeled", *_three(counts.labeled), correct, gold, pred)
    table.add_row("unlabeled", *_three(counts.unlabeled), found, gold, pred)
    whole = counts.propositions
    table.add_row("propositions", *_three(whole), *_counts(whole))
    exact = f"{counts.exact_semantic_match:.2f}"
    n_sentences = str(counts.sentences)
    table.add_row(
        "exact sentences", "", exact, "", str(counts.exact_sentences), n_sentences, n_sentences
    )
    return table


def _agreement_table(counts: Counts, agreement: Mapping[str, Kappa]) -> Table:
    headers = ("F1", "observed", "chance", "kappa", "items")
    table = _plain_table("Agreement of two annotators", "", *headers)
    found = (counts.predicates, counts.senses, counts.argument_positions, None, counts.arguments)
    for (name, each), prf in zip(agreement.items(), found, strict=True):
        shares = (each.observed, each.chance, each.kappa)
        cells = ("" if share is None else f"{share:.4f}" for share in shares)
        table.add_row(name, f"{prf.f1:.2f}" if prf else "", *cells, str(each.items))
    table.add_row("senses, arguments and roles", f"{counts.labeled.f1:.2f}")
    return table


def _subtask_table(scores: Scores) -> Table:
    counts = scores.counts
    table = _plain_table("Sub-tasks", "", "precision", "recall", "F1", "accuracy", "correct", "of")
    table.add_row("predicate identification", *_three(counts.predicates), "", "", "")
    sense = (str(counts.correct_senses), str(counts.found_predicates))
    table.add_row("sense of those found", "", "", "", f"{counts.sense_accuracy:.2f}", *sense)
    table.add_row("predicates with senses", *_three(counts.senses), "", "", "")
    table.add_row("argument identification", *_three(counts.argument_positions), "", "", "")
    role = (str(counts.correct_arguments), str(counts.found_arguments))
    table.add_row("role of those found", "", "", "", f"{counts.role_accuracy:.2f}", *role)
    table.add_row("arguments with roles", *_three(counts.arguments), "", "", "")
    if scores.mode == "primesrl":
        table.add_row("  core arguments", *_three(counts.core_arguments), "", "", "")
        table.add_row("  context arguments", *_three(counts.context_arguments), "", "", "")
    return table


def _summary_lines(scores: Scores, intervals: Mapping[str, Interval]) -> list[str]:
    counts, official = scores.counts, scores.official
    return [
        f"Exact match (EM): {counts.exact_match:.2f} % of gold propositions "
        f"({counts.correct_propositions} / {counts.gold_predicates}), "
        f"{counts.exact_arguments:.2f} % by their arguments alone",
        f"Propositions with a repeated role: gold {official.gold_repeated}, "
        f"predicted {official.pred_repeated}",
        f"Labeled F1 {scores.labeled_f1:.2f}, "
        f"95% bootstrap interval {_bounds(intervals['labeled_f1'])}",
    ]


def _breakdown_table(name: str, rows: Mapping[str, Row]) -> Table:
    of_arguments = name in OF_ARGUMENTS
    headers = ["precision", "recall", "F1", "correct", "gold", "pred"]
    headers += [] if of_arguments else ["EM", "propositions"]
    title = "arguments" if of_arguments else "senses and arguments"
    table = _plain_table(f"By {BREAKDOWNS[name]} ({title})", name, *headers)
    for key, row in rows.items():
        cells = [*_three(row), *_counts(row)]
        cells += [] if of_arguments else [f"{row.exact_match:.2f}", str(row.propositions)]
        table.add_row(key, *cells)
    return table


def _phrase_table(phrases: PhraseScores) -> Table:
    headers = ["precision", "recall", "F1", "correct", "gold", "pred"]
    table = _plain_table("Phrases, CoNLL-2005 scores", "", *headers)
    table.add_row("overall", *_three(phrases.overall), *_counts(phrases.overall))
    table.add_row("end to end", *_three(phrases.end_to_end), *_counts(phrases.end_to_end))
    for role, prf in phrases.by_role().items():
        table.add_row(role, *_three(prf), *_counts(prf))
    verbs = phrases.roles.get(PREDICATE, PRF())
    table.add_row("V (not in overall)", *_three(verbs), *_counts(verbs))
    return table


def _phrase_lines(phrases: PhraseScores) -> list[str]:
    lines = [
        f"Exact boundaries where the head word is right: {phrases.boundaries:.2f} % "
        f"({phrases.same_phrases} / {phrases.same_heads})",
        f"Propositions with all phrases right: {phrases.exact_match:.2f} % "
        f"({phrases.exact_propositions} / {phrases.gold_propositions})",
    ]
    if phrases.gold_heads or phrases.pred_heads:
        lines.append(
            f"Arguments without a phrase, scored by their head word: gold {phrases.gold_heads}, "
            f"predicted {phrases.pred_heads}"
        )
    return lines


def _print_confusion(console: Console, confusion: Confusion, sides: tuple[str, str]) -> None:
    _print_table(console, _matrix_table(confusion, sides))
    for name, counts in (("roles", confusion.roles), ("senses", confusion.senses)):
        found = most_common(counts)
        if not found:
            console.print(f"\nNo {name} are confused.", soft_wrap=True)
            continue
        _print_table(console, _confusion_table(name, sides, counts, found[:_MOST]))
        if len(found) > _MOST:
            console.print(f"... and {len(found) - _MOST} more: --json has all of them")


def _matrix_table(confusion: Confusion, sides: tuple[str, str]) -> Table:
    """The counts of the most frequent roles; the others are one row and one column."""
    roles = [role for role in confusion.labels() if role is not None]
    labels = [*roles[:_COLUMNS], *(["other"] if len(roles) > _COLUMNS else []), NONE]
    number: dict[str | None, int] = {None: len(labels) - 1}
    number |= {role: min(n, _COLUMNS) for n, role in enumerate(roles)}
    cells = [[0] * len(labels) for _ in labels]
    for (gold, pred), count in confusion.roles.items():
        cells[number[gold]][number[pred]] += count
    title = f"Roles of the same words: {sides[0]} in rows, {sides[1]} in columns"
    table = _plain_table(title, "", *labels)
    for label, row in zip(labels, cells, strict=True):
        table.add_row(label, *(str(count) if count else "." for count in row))
    return table


def _confusion_table(
    name: str,
    sides: tuple[str, str],
    counts: Mapping[tuple[str | None, str | None], int],
    found: Sequence[tuple[str | None, str | None, int]],
) -> Table:
    headers = [sides[1], "count", *([f"of {sides[0]}"] if name == "roles" else [])]
    table = _plain_table(f"Most frequent confusions of {name}", sides[0], *headers)
    table.columns[1].justify = "left"
    for gold, pred, count in found:
        cells = [gold or NONE, pred or NONE, str(count)]
        if name == "roles" and gold is not None:
            whole = sum(n for (its, _), n in counts.items() if its == gold)
            cells.append(f"{percent(count, whole):.1f} %")
        table.add_row(*cells)
    return table


def _calibration_table(title: str, rows: Mapping[str, Answers]) -> Table:
    table = _plain_table(title, "", "answers", "right", "probability", "ECE", "Brier")
    for name, answers in rows.items():
        if len(answers):
            figures = (answers.accuracy, answers.confidence, answers.ece, answers.brier)
            table.add_row(name, str(len(answers)), *(f"{figure:.4f}" for figure in figures))
    return table


def _comparison_table(files: Sequence[str], scores: Sequence[Scores]) -> Table:
    table = _plain_table("Comparison", "", "precision", "recall", "F1", "EM", "repeated roles")
    # Long paths are wrapped, so that the numbers have room.
    table.columns[0].no_wrap, table.columns[0].overflow = False, "fold"
    for file, system in zip(files, scores, strict=True):
        em, repeated = f"{system.exact_match:.2f}", str(system.official.pred_repeated)
        table.add_row(file, *_three(system.counts.labeled), em, repeated)
    return table


def _verdict(test: PairedTest) -> str:
    return (
        f"Difference in labeled F1: {test.difference:+.2f}, 95% interval {_bounds(test.interval)}, "
        f"p = {test.p_value:.4f} (approximate randomization over sentences, two-sided, "
        f"{test.n_rounds} rounds)"
    )


def _plain_table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, box=None, pad_edge=False)
    table.add_column(first, no_wrap=True)
    for header in others:
        table.add_column(header, justify="right", no_wrap=True)
    return table


def _three(prf: PRF) -> tuple[str, str, str]:
    return f"{prf.precision:.2f}", f"{prf.recall:.2f}", f"{prf.f1:.2f}"


def _counts(prf: PRF) -> tuple[str, str, str]:
    return str(prf.correct), str(prf.gold), str(prf.pred)


def _bounds(interval: Interval) -> str:
    return f"{interval.low:.2f} to {interval.high:.2f}"
