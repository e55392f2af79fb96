"""Read the `.gold_skel` files of propbank-release: tags and propositions without the words.

    file  sentence  word  [WORD]  tag  parse  lemma  sense  one column of spans per predicate

Columns are separated by spaces, sentences by blank lines. `-` is an empty lemma or sense.
The k-th column of spans belongs to the k-th word with a sense: `(ARG0*`, `*`, `*)`, `(V*)`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capsrl.errors import DataError
from capsrl.formats.blocks import Block, read_blocks
from capsrl.frames.roles import conll09_role

_N_FIXED = 8
_TAG, _SENSE = 4, 7
_PART = re.compile(r"\(([^()*\s]+)|\)")
_CELL = re.compile(r"(?:\([^()*\s]+)*\*\)*")


@dataclass(frozen=True, slots=True)
class Span:
    """A role and the words that fill it, from first to last."""

    role: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SkeletonProposition:
    """A predicate, its sense and its arguments; positions count the words of the skeleton."""

    predicate: int
    sense: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The tags and propositions of a sentence."""

    tags: tuple[str, ...]
    propositions: tuple[SkeletonProposition, ...]


def read_gold_skel(lines: Iterable[str], *, source: str = "<lines>") -> Iterator[Skeleton]:
    """Yield the sentences of a file, with the role names of CoNLL-2009 (`capsrl.frames.roles`).

    The mark V of the predicate itself is left out, C-V (its particle) is kept.
    Raises DataError naming source and line.
    """
    return map(_skeleton, read_blocks(lines, source=source))


def _skeleton(block: Block) -> Skeleton:
    rows = [row.split() for row in block.rows]
    predicates = [i for i, row in enumerate(rows) if len(row) >= _N_FIXED and row[_SENSE] != "-"]
    width = _N_FIXED + len(predicates)
    for i, row in enumerate(rows):
        if len(row) != width:
            raise DataError(
                f"{block.where(i)}: expected {width} columns ({_N_FIXED} fixed + "
                f"{len(predicates)} for the predicates of this sentence), got {len(row)}"
            )
    propositions = [
        SkeletonProposition(
            predicate,
            rows[predicate][_SENSE],
            tuple(_spans([row[column] for row in rows], block)),
        )
        for column, predicate in enumerate(predicates, start=_N_FIXED)
    ]
    return Skeleton(tuple(row[_TAG] for row in rows), tuple(propositions))


def _spans(column: list[str], block: Block) -> list[Span]:
    found: list[Span] = []
    opened: list[tuple[str, int]] = []
    for i, cell in enumerate(column):
        parts = list(_PART.finditer(cell))
        if not _CELL.fullmatch(cell) or cell.count(")") > len(opened) + cell.count("("):
            raise DataError(
                f"{block.where(i)}: expected spans as (ARG0*, * or *), each closed once, "
                f"got {cell!r}"
            )
        for part in parts:
            if part[1]:
                opened.append((part[1], i))
            else:
                role, first = opened.pop()
                found.append(Span(conll09_role(role), first, i))
    if opened:
        role, first = opened[-1]
        raise DataError(f"{block.where(first)}: ({role}* is not closed in its sentence")
    return sorted((span for span in found if span.role != "V"), key=lambda s: (s.first, s.last))
