"""Tables of propositions for the terminal."""

import sys
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import zip_longest
from typing import Any, TextIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.text import Text

from capsrl.sentence import Proposition, Sentence
from capsrl.show.formatting import (
    GUESS_NOTE,
    RoleHistory,
    role_histories,
    show_offsets,
    show_probability,
    show_sense,
    visible,
)
from capsrl.text.phrases import with_phrases
from capsrl.text.spacing import text_of

WIDTH = 100  # of output that does not go to a terminal
_LONGEST = 40  # most columns of a word or a phrase
_STEPS = "Below start, 1, 2, ... are the probabilities of the network, which are not calibrated."
_NAMES = "A name after a number is the role that was most probable then."
_OTHERS = "Roles in parentheses are not in the result."


class _Console(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # rich would exit with 1


def make_console(file: TextIO | None = None) -> Console:
    """A console for the tables, as wide as the terminal; plain text of fixed width elsewhere."""
    file = sys.stdout if file is None else file
    # Environment variables such as FORCE_COLOR must not change what goes into a file.
    plain: dict[str, Any] = {"width": WIDTH, "force_terminal": False, "no_color": True}
    kind = {"color_system": "auto"} if file.isatty() else {"color_system": None, **plain}
    return _Console(file=file, highlight=False, markup=False, emoji=False, **kind)


def table_parts(sentences: Iterable[Sentence], *, trace: bool = False) -> Iterator[RenderableType]:
    """Yield the table of each sentence, with a block per proposition, for `make_console().print`.

    trace  show the probabilities of every iteration, where propositions have traces
    """
    traced = guessed = False
    for number, sentence in enumerate(sentences):
        yield Group(*([_Wrapped(Text())] if number else []), *_sentence(sentence, trace=trace))
        traced |= trace and any(each.trace is not None for each in sentence.propositions)
        guessed |= any(each.guessed for each in sentence.propositions)
    notes = [_STEPS, _NAMES, _OTHERS] * traced + [GUESS_NOTE] * guessed
    if notes:
        yield Group(_Wrapped(Text()), *(_Wrapped(Text(note, "dim")) for note in notes))


def sentence_table(sentence: Sentence) -> str:
    """The sentence and its propositions as plain text, as the command line shows them.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    file = StringIO()
    make_console(file).print(*table_parts([with_phrases(sentence)]))
    return file.getvalue().rstrip("\n")


class _Wrapped:
    """Text wrapped at words and indented, without the spaces Rich leaves at line ends."""

    def __init__(self, text: Text, indent: int = 0) -> None:
        self.text, self.indent = text, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.wrap(console, max(1, options.max_width - self.indent)):
            line.rstrip()
            yield Text(" " * self.indent).append_text(line)


def _sentence(sentence: Sentence, *, trace: bool) -> list[_Wrapped]:
    lines = [_Wrapped(Text(visible(" ".join(text_of(sentence).split()))))]
    for proposition in sentence.propositions:
        rows = role_histories(proposition, steps=trace)
        lines.append(_Wrapped(_heading(sentence, proposition), 2))
        n_steps = max((len(row.probs) for row in rows), default=0)
        steps = [["start", *map(str, range(1, n_steps))]] if n_steps else []
        heads = [[Text(), Text(), *(Text(name, "dim") for name in names)] for names in steps]
        lines += _in_columns([*heads, *(_row_cells(sentence, row) for row in rows)])
    return lines if sentence.propositions else [*lines, _Wrapped(Text("no proposition", "dim"), 2)]


def _heading(sentence: Sentence, proposition: Proposition) -> Text:
    parts = [
        (visible(proposition.form or ""), "bold"),
        (show_sense(proposition), "bold cyan"),
        (show_probability(proposition.probability), ""),
        (show_offsets(proposition, sentence), "dim"),
        (visible(proposition.definition or ""), "italic"),
    ]
    return Text("  ").join(Text(*part) for part in parts if part[0])


def _row_cells(sentence: Sentence, row: RoleHistory) -> list[Text]:
    """Role, word, numbers, meaning; a row without a trace also has offsets and phrase."""
    part, style = row.argument, "" if row.argument else "dim"
    role = Text(visible(row.role), "bold green") if part else Text(f"({visible(row.role)})", style)
    cells = [role, _shortened(sentence.words[row.word], style)]
    for prob, best in zip(row.probs, row.best, strict=True):
        other = "" if best == row.role else f" {visible(best)}"
        cells.append(Text(show_probability(prob) + other, style))
    if part and not row.probs:
        phrase = part.phrase.text if part.phrase else ""
        offsets = Text(show_offsets(part, sentence), "dim")
        cells += [Text(show_probability(part.probability)), offsets, _shortened(phrase or "")]
    return [*cells, Text(visible(part.meaning or "") if part else "", "italic")]


def _shortened(text: str, style: str = "") -> Text:
    short = Text(visible(" ".join(text.split())), style)
    short.truncate(_LONGEST, overflow="ellipsis")
    return short


def _in_columns(lines: list[list[Text]]) -> list[_Wrapped]:
    """The cells in columns; those that are empty are left out."""
    columns = zip_longest(*lines, fillvalue=Text())
    widths = [max(cell.cell_len for cell in column) for column in columns]
    aligned: list[_Wrapped] = []
    for cells in lines:
        line = Text()
        for cell, width in zip(cells, widths, strict=False):
            if width:
                line.append_text(cell).append(" " * (width - cell.cell_len + 2))
        line.rstrip()
        aligned.append(_Wrapped(line, 4))
    return aligned
