"""Tables of propositions for the terminal."""

import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import zip_longest
from typing import TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from capsrl.sentence import Proposition, Sentence
from capsrl.show.argument_rows import HEADINGS, Row, known_columns, make_rows, step_headings
from capsrl.show.formatting import show_offsets, show_probability, show_sense, visible
from capsrl.show.role_history import RoleHistory
from capsrl.text.phrases import with_phrases
from capsrl.text.spacing import text_of

WIDTH = 100  # of output that does not go to a terminal
_LONGEST = 40  # most columns of a word or a phrase
_STYLES = ("bold green", "", "", "dim", "", "italic")  # of the cells, by HEADINGS
_NOTE = "0.25 A1: A1 was more probable than the role of the row; (A1): not in the result"


def make_console(file: TextIO | None = None) -> Console:
    """A console for the tables, as wide as the terminal; plain text of fixed width elsewhere."""
    file = sys.stdout if file is None else file
    # Environment variables such as FORCE_COLOR must not change what goes into a file.
    plain = not file.isatty()
    return Console(
        file=file,
        width=WIDTH if plain else None,
        force_terminal=False if plain else None,
        color_system=None if plain else "auto",
        no_color=True if plain else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def table_parts(sentences: Iterable[Sentence], *, trace: bool = False) -> Iterator[RenderableType]:
    """Yield the table of each sentence, with a block per proposition, for `make_console().print`.

    trace  show the probabilities of every iteration, where propositions have traces
    """
    traced = False
    for number, sentence in enumerate(sentences):
        lines = _sentence(sentence, trace=trace)
        yield Group(*([_Wrapped(Text())] if number else []), *lines)
        traced |= any(proposition.trace is not None for proposition in sentence.propositions)
    if trace and traced:
        yield Group(_Wrapped(Text()), _Wrapped(Text(_NOTE, "dim")))


def sentence_table(sentence: Sentence) -> str:
    """The sentence and its propositions as plain text, as the command line shows them.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    console = make_console(StringIO())
    with console.capture() as capture:
        console.print(*table_parts([with_phrases(sentence)]))
    return capture.get().rstrip("\n")


class _Wrapped:
    """Text wrapped at words and indented, without the spaces Rich leaves at line ends."""

    def __init__(self, text: Text, indent: int = 0) -> None:
        self.text = text
        self.indent = indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.wrap(console, max(1, options.max_width - self.indent)):
            line.rstrip()
            yield Text(" " * self.indent).append_text(line)


def _sentence(sentence: Sentence, *, trace: bool) -> list[_Wrapped]:
    lines = [_Wrapped(Text(visible(" ".join(text_of(sentence).split()))))]
    for proposition in sentence.propositions:
        traced = trace and proposition.trace is not None
        rows = make_rows(sentence, proposition, trace=traced)
        lines.append(_Wrapped(_heading(sentence, proposition), 2))
        lines += _aligned(_traced_cells(rows) if traced else _cells(rows))
    return lines if sentence.propositions else [*lines, _Wrapped(Text("no predicate", "dim"), 2)]


def _heading(sentence: Sentence, proposition: Proposition) -> Text:
    parts = [
        (visible(proposition.form or ""), "bold"),
        (show_sense(proposition), "bold cyan"),
        (show_probability(proposition.probability), ""),
        (show_offsets(proposition, sentence), "dim"),
        (visible(proposition.definition or ""), "italic"),
    ]
    return Text("  ").join(Text(*part) for part in parts if part[0])


def _cells(rows: list[Row]) -> list[list[Text]]:
    columns = known_columns(rows)
    return [[_cell(row, column) for column in columns] for row in rows]


def _traced_cells(rows: list[Row]) -> list[list[Text]]:
    n_steps = max((len(row.history.probs) for row in rows if row.history), default=0)
    lines = [[Text(), Text(), *(Text(name, "dim") for name in step_headings(n_steps))]]
    for row in rows:
        steps = _steps(row.history) if row.history else [""] * n_steps
        style = "dim" if row.is_dropped else ""
        lines.append([_cell(row, 0), _cell(row, 1), *(Text(step, style) for step in steps)])
        if row.cells[-1]:
            lines[-1].append(_cell(row, len(HEADINGS) - 1))
    return lines if rows else []


def _cell(row: Row, column: int) -> Text:
    cell = Text(row.cells[column], "dim" if row.is_dropped else _STYLES[column])
    if HEADINGS[column] in ("word", "phrase"):  # either may be longer than the line
        cell.truncate(_LONGEST, overflow="ellipsis")
    return cell


def _steps(history: RoleHistory) -> list[str]:
    return [
        show_probability(prob) + ("" if best == history.role else f" {visible(best)}")
        for prob, best in zip(history.probs, history.best, strict=True)
    ]


def _aligned(lines: list[list[Text]]) -> list[_Wrapped]:
    columns = zip_longest(*lines, fillvalue=Text())
    widths = [max(cell.cell_len for cell in column) for column in columns]
    aligned: list[_Wrapped] = []
    for cells in lines:
        line = Text()
        for cell, width in zip(cells, widths, strict=False):
            line.append_text(cell).append(" " * (width - cell.cell_len + 2))
        line.rstrip()
        aligned.append(_Wrapped(line, 4))
    return aligned
