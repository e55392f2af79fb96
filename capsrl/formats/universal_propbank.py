"""Read Universal PropBank 1.0 and 2.0.

1.0 is CoNLL-U with more columns, in two layouts that share the suffix `.conllu`:

documented (English)   ten columns, then the roleset, then one column per predicate
projected (others)     eight columns, then Y at predicates, then the roleset, then one column each

2.0 has no words: a CoNLL-U Plus file with ID, UP:PRED, UP:ARGHEADS and UP:ARGSPANS, which is merged
by sent_id with the CoNLL-U file it was made from.
Roles get their CoNLL-2009 names (`capsrl.frames.roles`): ARG0 becomes A0, ARGM-TMP AM-TMP.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from capsrl.errors import DataError
from capsrl.formats.blocks import Watch, parse_arguments
from capsrl.formats.conllu import (
    PLAIN_COLUMNS,
    Table,
    make_sentence,
    read_conllu,
    read_tables,
)
from capsrl.frames.roles import conll09_role
from capsrl.sentence import Argument, Proposition, Sentence

_STAND_OFF = ("ID", "UP:PRED", "UP:ARGHEADS")
_EMPTY_CELLS = ("_", "")  # English 1.0 has empty cells in sentences without predicates


def read_up1(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a Universal PropBank 1.0 file, in either layout.

    The k-th column of roles belongs to the k-th predicate. The mark V (the predicate itself, in
    English) is not a role and is left out; C-V is kept.
    watch  is called with each block of rows before its sentence is yielded
    Raises DataError naming source and line.
    """
    for table in read_tables(lines, source=source, watch=watch):
        rows = [table.rows[row] for row in table.words]
        n_plain = 8 if any(row[8:9] == ["Y"] for row in rows) else 10
        first_role = 10 if n_plain == 8 else 11
        senses = [row[first_role - 1] if len(row) >= first_role else "_" for row in rows]
        if n_plain == 8:
            predicates = [word for word, row in enumerate(rows) if row[8:9] == ["Y"]]
        else:
            predicates = [word for word, sense in enumerate(senses) if sense not in _EMPTY_CELLS]
        for word, cells in enumerate(rows):
            _check_row_width(cells, n_plain, first_role, len(predicates), table.where(word))
        # Rows of multiword tokens and empty nodes are not always as wide as those of words.
        plain = [[*row[:n_plain], *["_"] * 10][:10] for row in table.rows]
        sentence = make_sentence(replace(table, columns=PLAIN_COLUMNS, rows=plain))
        yield sentence.with_propositions(
            Proposition(
                predicate,
                None if senses[predicate] in _EMPTY_CELLS else senses[predicate],
                _rename_roles(_arguments_of_column([row[column] for row in rows])),
            )
            for column, predicate in enumerate(predicates, start=first_role)
        )


def read_up2(
    lines: Iterable[str],
    conllu_lines: Iterable[str],
    *,
    source: str = "<lines>",
    conllu_source: str = "<conllu>",
    watch: Watch | None = None,
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file with their propositions from a 2.0 stand-off file.

    Sentences are matched by sent_id. Both files are read side by side: one sentence of each is
    held if they have the same order, and otherwise as many as one is ahead of the other.
    A sentence that the stand-off file lacks has no propositions; one that only the stand-off file
    has is an error.
    The numbers in 2.0 files count empty nodes (8.1) as words, though IDs do not; they are
    translated. Predicates and arguments on empty nodes are left out.
    watch  is called with each block of the CoNLL-U file
    Raises DataError naming source and line.
    """
    waiting: dict[str, _StandOff] = {}
    stand_offs = map(_parse_stand_off, read_tables(lines, source=source))
    for sentence in read_conllu(conllu_lines, source=conllu_source, watch=watch):
        if sentence.id is None:
            raise DataError(
                f"{conllu_source}: expected a line '# sent_id = ...' above every sentence, got "
                f"none above {' '.join(sentence.words[:5])!r}; {source} is merged by it"
            )
        while sentence.id not in waiting and (found := next(stand_offs, None)):
            if found.sent_id in waiting:
                raise DataError(
                    f"{found.where}: expected every sent_id once, got {found.sent_id!r} again"
                )
            waiting[found.sent_id] = found
        stand_off = waiting.pop(sentence.id, None)
        if stand_off is None:
            yield sentence
            continue
        if stand_off.n_words != len(sentence):
            raise DataError(
                f"{stand_off.where}: expected {sentence.id!r} to be as long as in "
                f"{conllu_source}, {len(sentence)}, got {stand_off.n_words} words; "
                "take the release of the treebank that the propositions were made on"
            )
        yield sentence.with_propositions(stand_off.propositions)
    if left := next(iter(waiting.values()), None) or next(stand_offs, None):
        raise DataError(
            f"{left.where}: expected sent_id {left.sent_id!r} in {conllu_source}, got no such "
            "sentence; merge the file with the treebank (and split) that it was made on"
        )


@dataclass(frozen=True, slots=True)
class _StandOff:
    """The propositions of one sentence in a 2.0 file."""

    where: str
    sent_id: str
    n_words: int
    propositions: tuple[Proposition, ...]


def _parse_stand_off(table: Table) -> _StandOff:
    if not set(_STAND_OFF) <= set(table.columns) or table.columns[0] != "ID":
        raise DataError(
            f"{table.block.source}: expected the columns {' '.join(_STAND_OFF)} in "
            f"# global.columns, got {' '.join(table.columns)}"
        )
    if table.sent_id is None:
        raise DataError(
            f"{table.block.where()}: expected '# sent_id = ...' above every sentence, got none"
        )
    propositions = tuple(_stand_off_propositions(table))
    return _StandOff(table.block.where(), table.sent_id, len(table.words), propositions)


def _stand_off_propositions(table: Table) -> Iterator[Proposition]:
    # In these files the number n means the n-th node of all, empty ones included.
    positions = {
        str(number): None if "." in node else int(node) - 1
        for number, node in enumerate(table.ids, start=1)
    }
    sense_column = table.columns.index("UP:PRED")
    argument_column = table.columns.index("UP:ARGHEADS")
    for word, row in enumerate(table.words):
        cells = table.rows[row]
        if len(cells) != len(table.columns):
            raise DataError(
                f"{table.where(word)}: expected {len(table.columns)} columns, got {len(cells)}"
            )
        predicate = positions[cells[0]]
        if cells[sense_column] not in _EMPTY_CELLS and predicate is not None:
            arguments = parse_arguments(cells[argument_column], positions, where=table.where(word))
            yield Proposition(predicate, cells[sense_column], _rename_roles(arguments))


def _check_row_width(
    cells: list[str], n_plain: int, first_role: int, n_predicates: int, where: str
) -> None:
    expected = first_role + n_predicates if n_predicates else 10
    if len(cells) == expected or (
        # Without predicates, English files have one or two empty columns.
        not n_predicates and len(cells) > 10 and all(cell in _EMPTY_CELLS for cell in cells[10:])
    ):
        return
    detail = ""
    if n_predicates:
        fixed = "8 plain, Y, roleset" if n_plain == 8 else "10 plain, roleset"
        detail = f" ({fixed}, {n_predicates} for the predicates of this sentence)"
    raise DataError(f"{where}: expected {expected} columns{detail}, got {len(cells)}")


def _arguments_of_column(column: list[str]) -> Iterator[Argument]:
    for word, cell in enumerate(column):
        for role in cell.split("|"):
            if role not in _EMPTY_CELLS and role != "V":
                yield Argument(role, word)


def _rename_roles(arguments: Iterable[Argument]) -> tuple[Argument, ...]:
    """Give the arguments their CoNLL-2009 names; A1 and A1-DSP of one word become one argument."""
    renamed = [Argument(conll09_role(argument.role), argument.word) for argument in arguments]
    return tuple(dict.fromkeys(renamed))
