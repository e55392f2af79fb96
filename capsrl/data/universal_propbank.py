"""Universal PropBank 1.0 and 2.0 -> Sentence.

1.0 is CoNLL-U with more columns, in two layouts that carry the same suffix, `.conllu`:

documented (English)   ten columns, then the roleset, then one column per predicate
projected (others)     eight columns, then Y at predicates, then the roleset, then one column each

2.0 holds no words: a CoNLL-U Plus file with ID, UP:PRED, UP:ARGHEADS and UP:ARGSPANS, to be merged
by sent_id with the CoNLL-U file it was made from.
Roles get the names of CoNLL-2009: ARG0 becomes A0, ARGM-TMP AM-TMP, also after C- and R-.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from capsrl.data.conllu import (
    PLAIN_COLUMNS,
    SENT_ID,
    Block,
    find_comment,
    find_nodes,
    make_sentence,
    parse_arguments,
    read_blocks,
    read_conllu,
)
from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence

_ARG = re.compile(r"((?:[CR]-)*)ARG(M-|\d|A)")
_STAND_OFF = ("ID", "UP:PRED", "UP:ARGHEADS")
_EMPTY = ("_", "")  # English 1.0 has empty cells in sentences without predicates


def read_up1(lines: Iterable[str], *, source: str = "<lines>") -> Iterator[Sentence]:
    """Yield the sentences of a Universal PropBank 1.0 file, of either layout.

    A column of roles belongs to the predicate of its rank. The mark V (the predicate itself, in
    English) is no role and is left out; C-V is kept.
    Raises DataError naming source and line.
    """
    for block in read_blocks(lines, source=source):
        nodes = find_nodes(block)
        rows = [block.rows[row] for row in nodes.words]
        n_plain = 8 if any(row[8:9] == ["Y"] for row in rows) else 10
        first_role = 10 if n_plain == 8 else 11
        senses = [row[first_role - 1] if len(row) >= first_role else "_" for row in rows]
        if n_plain == 8:
            predicates = [word for word, row in enumerate(rows) if row[8:9] == ["Y"]]
        else:
            predicates = [word for word, sense in enumerate(senses) if sense not in _EMPTY]
        for row, cells in zip(nodes.words, rows, strict=True):
            _check_width(cells, n_plain, first_role, len(predicates), block.where(row))
        # Rows of multiword tokens and empty nodes are not always as wide as those of words.
        plain = [[*row[:n_plain], *["_"] * 10][:10] for row in block.rows]
        sentence = make_sentence(replace(block, columns=PLAIN_COLUMNS, rows=plain), nodes)
        yield sentence.with_propositions(
            Proposition(
                predicate,
                None if senses[predicate] in _EMPTY else senses[predicate],
                _arguments([row[column] for row in rows]),
            )
            for column, predicate in enumerate(predicates, start=first_role)
        )


def read_up2(
    lines: Iterable[str],
    conllu_lines: Iterable[str],
    *,
    source: str = "<lines>",
    conllu_source: str = "<conllu>",
) -> Iterator[Sentence]:
    """Yield every sentence of a CoNLL-U file with its propositions from a 2.0 stand-off file.

    Sentences are matched by sent_id. Both files are read side by side: one sentence of each is
    held when they have the same order, and as many as one runs ahead of the other when not.
    A sentence that the stand-off file lacks comes without propositions.
    The numbers in 2.0 files count empty nodes (8.1) as words, though IDs do not; they are
    translated. Predicates and arguments on empty nodes are left out.
    Raises DataError naming source and line, also for a sentence that only the stand-off file has.
    """
    waiting: dict[str, _StandOff] = {}
    stand_offs = _read_stand_offs(lines, source)
    for sentence in read_conllu(conllu_lines, source=conllu_source):
        if sentence.id is None:
            raise DataError(
                f"{conllu_source}: expected a line '# sent_id = ...' above every sentence, got "
                f"none above {' '.join(sentence.words[:5])!r}; it is what {source} is merged by"
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
    """What a 2.0 file says of one sentence."""

    where: str
    sent_id: str
    n_words: int
    propositions: tuple[Proposition, ...]


def _read_stand_offs(lines: Iterable[str], source: str) -> Iterator[_StandOff]:
    for block in read_blocks(lines, source=source):
        if not set(_STAND_OFF) <= set(block.columns) or block.columns[0] != "ID":
            raise DataError(
                f"{source}: expected the columns {' '.join(_STAND_OFF)} in # global.columns, got "
                f"{' '.join(block.columns)}"
            )
        sent_id = find_comment(block.comments, SENT_ID)
        if sent_id is None:
            raise DataError(
                f"{block.where(0)}: expected '# sent_id = ...' above every sentence, got none"
            )
        nodes = find_nodes(block)
        # The n-th node of all, empty ones included, is what the number n means in these files.
        positions = {
            str(number): None if "." in node else int(node) - 1
            for number, node in enumerate(nodes.ids, start=1)
        }
        propositions = tuple(_stand_off_propositions(block, nodes.words, positions))
        yield _StandOff(block.where(0), sent_id, len(nodes.words), propositions)


def _stand_off_propositions(
    block: Block, words: list[int], positions: dict[str, int | None]
) -> Iterator[Proposition]:
    sense_column = block.columns.index("UP:PRED")
    argument_column = block.columns.index("UP:ARGHEADS")
    for row in words:
        cells = block.rows[row]
        if len(cells) != len(block.columns):
            raise DataError(
                f"{block.where(row)}: expected {len(block.columns)} columns, got {len(cells)}"
            )
        predicate = positions[cells[0]]
        if cells[sense_column] not in _EMPTY and predicate is not None:
            found = parse_arguments(cells[argument_column], positions, where=block.where(row))
            arguments = tuple(Argument(_role(a.role), a.word) for a in found)
            yield Proposition(predicate, cells[sense_column], arguments)


def _check_width(
    cells: list[str], n_plain: int, first_role: int, n_predicates: int, where: str
) -> None:
    expected = first_role + n_predicates if n_predicates else 10
    if len(cells) == expected or (
        # Without predicates, English files have one or two columns with nothing in them.
        not n_predicates and len(cells) > 10 and all(cell in _EMPTY for cell in cells[10:])
    ):
        return
    detail = ""
    if n_predicates:
        fixed = "8 plain, Y, roleset" if n_plain == 8 else "10 plain, roleset"
        detail = f" ({fixed}, {n_predicates} for the predicates of this sentence)"
    raise DataError(f"{where}: expected {expected} columns{detail}, got {len(cells)}")


def _arguments(column: list[str]) -> tuple[Argument, ...]:
    return tuple(
        Argument(_role(role), word)
        for word, cell in enumerate(column)
        for role in cell.split("|")
        if role not in _EMPTY and role != "V"
    )


def _role(role: str) -> str:
    return _ARG.sub(r"\1A\2", role, count=1) if role.startswith(("ARG", "C-", "R-")) else role
