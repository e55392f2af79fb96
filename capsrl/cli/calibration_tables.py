"""Print how well probabilities are calibrated, as tables."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from capsrl.score.calibration import Answers, CalibrationScores


def print_calibration(scores: CalibrationScores) -> None:
    """Print accuracy, mean probability, ECE and Brier score by kind of answer and by role."""
    console = _console()
    _print_rows(console, "Calibration", scores.kinds)
    _print_rows(console, "Calibration of arguments, by role", scores.frequent_roles())


def print_fit(before: CalibrationScores, after: CalibrationScores) -> None:
    """Print ECE and Brier score by kind of answer, before and after calibration."""
    table = _table("answers", "right", "ECE before", "after", "Brier before", "after")
    for kind, raw in before.kinds.items():
        new = after.kinds[kind]
        cells = [raw.ece, new.ece, raw.brier, new.brier]
        numbers = [f"{cell:.4f}" for cell in cells]
        table.add_row(kind, str(len(raw)), f"{raw.accuracy:.4f}", *numbers)
    _console().print(table)


def _print_rows(console: Console, title: str, rows: Mapping[str, Answers]) -> None:
    table = _table("answers", "right", "probability", "ECE", "Brier")
    for name, answers in rows.items():
        if len(answers):
            figures = (answers.accuracy, answers.confidence, answers.ece, answers.brier)
            table.add_row(name, str(len(answers)), *(f"{figure:.4f}" for figure in figures))
    console.print()
    console.print(title, style="bold", soft_wrap=True)
    console.print(table)


def _table(*headers: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("", no_wrap=True)
    for header in headers:
        table.add_column(header, justify="right", no_wrap=True)
    return table


def _console() -> Console:
    return Console(highlight=False, markup=False, emoji=False, width=1000)
