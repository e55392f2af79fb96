"""Make rows of tables from sentences: one per argument, proposition or sentence; see `columns`."""

from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import attrgetter
from typing import Any

from capsrl.formats.fields import fields_in_tables
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.tables.columns import FACTS, Column, columns_of
from capsrl.text.spacing import text_of

Cells = dict[str, Any]  # the values of a row, by column

_CELL_DIGITS = 6  # of probabilities: what the network computes, more would only make files larger
# How values become cells, by the kinds of their fields; the others are the same.
_CONVERT: dict[str, Callable[[Any, int], Any]] = {
    "offset": lambda offset, shift: offset + shift,
    "probability": lambda probability, _: round(probability, _CELL_DIGITS),
    "strings": lambda strings, _: list(strings),
    "per word": lambda strings, _: list(strings),
}


def rows_of(
    rows: str, sentence: Sentence | None, *, document: object = None, number: int | None = None
) -> list[Cells]:
    """The rows of a sentence, in order, with all columns.

    A proposition without arguments has a row whose argument is null, a sentence without
    propositions one whose proposition is null, and a document without sentences (None) one with
    nothing but its id.

    rows      what a row is, one of `columns.ROWS`: an argument; a proposition, where a light verb
              and its noun are one, see `Sentence.facts`; a sentence with its propositions nested
    document  id of the document the sentence is in
    number    of the sentence in its document, from 1
    """
    empty = dict.fromkeys(column.name for column in columns_of(rows))
    if sentence is None:
        return [empty | {"document": document}]
    shift = sentence.start or 0
    common = empty | _sentence_cells(sentence, document, number)
    return [common | cells for cells in _MAKERS[rows](sentence, shift)] or [common]


argument_rows = partial(rows_of, "argument")


def _arguments(sentence: Sentence, shift: int) -> Iterator[Cells]:
    for proposition in sentence.propositions:
        cells = make_cells(Proposition, proposition, shift)
        for argument in proposition.arguments:
            yield cells | _argument_cells(argument, shift)
        if not proposition.arguments:
            yield cells


def _propositions(sentence: Sentence, shift: int) -> Iterator[Cells]:
    for each in sentence.facts:
        yield {column.name: _fact(column, get(each), shift) for column, get in FACTS}


def _nested(sentence: Sentence, shift: int) -> Iterator[Cells]:
    propositions = [
        make_cells(Proposition, each, shift)
        | {"arguments": [_argument_cells(part, shift) for part in each.arguments]}
        for each in sentence.propositions
    ]
    yield make_cells(Sentence, sentence, shift) | {"propositions": propositions}


_MAKERS = {"argument": _arguments, "proposition": _propositions, "sentence": _nested}


def _fact(column: Column, value: Any, shift: int) -> Any:  # noqa: ANN401
    if value is None or column.type not in ("int64", "double"):
        return value
    return value + shift if column.type == "int64" else round(value, _CELL_DIGITS)


def _sentence_cells(sentence: Sentence, document: object, number: int | None) -> Cells:
    shift, (start, end) = sentence.start or 0, sentence.extent or (None, None)
    return {
        "document": document,
        "sentence": number,
        "sentence_id": sentence.id,
        "text": text_of(sentence),
        "sentence_start": None if start is None else start + shift,
        "sentence_end": None if end is None else end + shift,
    }


def _argument_cells(argument: Argument, shift: int) -> Cells:
    cells = make_cells(Argument, argument, shift)
    return cells | make_cells(Phrase, argument.phrase, shift)


def make_cells(described: type, item: object, shift: int = 0) -> Cells:
    """The cells of an object, by their columns; all are null without one.

    shift  is added to offsets
    """
    columns, values_of = _columns_of(described)
    if item is None:
        return dict.fromkeys(name for name, _ in columns)
    return {
        name: value if convert is None or value is None else convert(value, shift)
        for (name, convert), value in zip(columns, values_of(item), strict=True)
    }


@cache
def _columns_of(described: type) -> tuple[list[tuple[str, Any]], Callable[[Any], Any]]:
    """The name of each column of a class with its conversion, and how to get the values."""
    found = fields_in_tables(described)
    columns = [(each.column, _CONVERT.get(each.about.kind)) for each in found]
    return columns, attrgetter(*(each.name for each in found))
