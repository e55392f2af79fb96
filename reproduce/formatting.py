"""How the report writes numbers, Markdown tables and CSV."""

import csv
import io
from collections.abc import Sequence

from reproduce.stats import Difference, Sample

NONE = "–"  # for a number that was not measured


def number(value: float, places: int = 2) -> str:
    """`12,345.60`."""
    return f"{value:,.{places}f}"


def signed(value: float, places: int = 2) -> str:
    """With a sign and a true minus; a value that rounds to zero has no sign."""
    text = f"{value:+,.{places}f}"
    return text.replace("-", "−") if text.strip("+-0.,") else text[1:]


def spread(found: Sample | None, places: int = 2) -> str:
    """`85.30 ± 0.03`; without the deviation for one seed."""
    if found is None:
        return NONE
    mean = number(found.mean, places)
    return mean if found.deviation is None else f"{mean} ± {number(found.deviation, places)}"


def gain(found: Difference | None, places: int = 2) -> str:
    """`+0.56 [+0.20, +0.92]`; without the interval for one seed."""
    if found is None:
        return NONE
    mean = signed(found.mean, places)
    if found.half is None:
        return mean
    return f"{mean} [{signed(found.low, places)}, {signed(found.high, places)}]"


def cells(found: Sample | None, places: int = 2) -> list[str]:
    """Mean and deviation in cells of their own, for CSV; empty if not measured."""
    if found is None:
        return ["", ""]
    deviation = "" if found.deviation is None else f"{found.deviation:.{places}f}"
    return [f"{found.mean:.{places}f}", deviation]


def counted(n: int, thing: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{n:,} {thing}{'s' * (n != 1)}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """A Markdown table; the columns from `numbers` on are aligned to the right."""
    rule = ["---" if i < numbers else "--:" for i in range(len(head))]
    cells = [[escape(cell).replace("|", "\\|") for cell in row] for row in (head, *rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (cells[0], rule, *cells[1:]))


def csv_text(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The text of a CSV file."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([head, *rows])
    return buffer.getvalue()


def escape(text: str) -> str:
    """Text for Markdown, with no HTML in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
