"""Sentence -> CoNLL-U Plus: the ten columns of CoNLL-U, UP:PRED and UP:ARGHEADS.

`capsrl.data.conllu.read_conllu` reads it back, losing only probabilities.
"""

import re

from capsrl.data.conllu import (
    GLOBAL_COLUMNS,
    HEADER,
    NO_SENSE,
    NODES_AFTER,
    NODES_BEFORE,
    PLUS_COLUMNS,
    SENT_ID,
    TEXT,
    Block,
    find_comment,
    find_nodes,
)
from capsrl.errors import DataError
from capsrl.sentence import Argument, Sentence

__all__ = ["HEADER", "format_conllup"]


def format_conllup(sentence: Sentence) -> str:
    """The comments, rows and blank line of one sentence; a file begins with HEADER.

    Lemmas, heads and relations come from the sentence; UPOS, XPOS, FEATS, DEPS and MISC from its
    columns, where they are (else tags stand in XPOS, and PFEAT or FEAT of CoNLL-2009 in FEATS).
    Raises DataError for what the format cannot hold: tabs and line ends, an empty word, two
    propositions on one word.
    """
    n = len(sentence.words)
    empty = ("_",) * n
    columns = sentence.columns
    predicates, arguments = _proposition_columns(sentence)
    table = (
        tuple(str(number) for number in range(1, n + 1)),
        sentence.words,
        sentence.lemmas or empty,
        columns.get("UPOS", empty),
        columns.get("XPOS") or _tags(sentence) or empty,
        _features(sentence) or empty,
        _heads(sentence) or empty,
        sentence.relations or empty,
        columns.get("DEPS", empty),
        columns.get("MISC", empty),
        predicates,
        arguments,
    )
    _check_cells(sentence, table)
    rows = ["\t".join(cells) for cells in zip(*table, strict=True)]
    lines = [*_comments(sentence), *_with_other_nodes(sentence, rows)]
    return "\n".join(lines) + "\n\n"


def _heads(sentence: Sentence) -> tuple[str, ...] | None:
    if sentence.heads is None:
        return None
    return tuple("0" if head is None else str(head + 1) for head in sentence.heads)


def _features(sentence: Sentence) -> tuple[str, ...] | None:
    # CoNLL-2009 has two columns of features; the predicted one goes before, as elsewhere.
    found = (sentence.columns.get(name, ()) for name in ("FEATS", "PFEAT", "FEAT"))
    return next((column for column in found if set(column) - {"_"}), None)


def _tags(sentence: Sentence) -> tuple[str, ...] | None:
    # A reader that found XPOS empty took the tags from UPOS: they are there already.
    return None if sentence.tags == sentence.columns.get("UPOS") else sentence.tags


def _proposition_columns(sentence: Sentence) -> tuple[list[str], list[str]]:
    predicates = ["_"] * len(sentence)
    arguments = ["_"] * len(sentence)
    for proposition in sentence.propositions:
        word = proposition.predicate
        sense = NO_SENSE if proposition.sense is None else proposition.sense
        if predicates[word] != "_":
            raise DataError(
                f"{_name(sentence)}: expected one proposition per word in CoNLL-U Plus, got "
                f"{predicates[word]!r} and {sense!r} on word {word + 1}; JSONL holds both"
            )
        if sense in ("_", "") or proposition.sense == NO_SENSE:
            raise DataError(
                f"{_name(sentence)}: expected a sense other than '', '_' and '?', got {sense!r} "
                f"on word {word + 1}; JSONL holds it"
            )
        predicates[word] = sense
        arguments[word] = "|".join(_argument(sentence, a) for a in proposition.arguments) or "_"
    return predicates, arguments


def _argument(sentence: Sentence, argument: Argument) -> str:
    if not argument.role or "|" in argument.role:
        raise DataError(
            f"{_name(sentence)}: expected a role without '|', got {argument.role!r} on word "
            f"{argument.word + 1}; JSONL holds it"
        )
    return f"{argument.role}:{argument.word + 1}"


def _check_cells(sentence: Sentence, table: tuple[tuple[str, ...] | list[str], ...]) -> None:
    if not sentence.words:
        raise DataError(f"{_name(sentence)}: expected words, got an empty sentence")
    for column in table:
        joined = "".join(column)
        if "\t" in joined or "\n" in joined or "\r" in joined:
            cell = next(cell for cell in column if any(end in cell for end in "\t\n\r"))
            raise DataError(
                f"{_name(sentence)}: expected no tab or line end in a column, got {cell!r}; "
                "JSONL holds it"
            )
    if "" in sentence.words:
        raise DataError(
            f"{_name(sentence)}: expected a form, got nothing at word "
            f"{sentence.words.index('') + 1}; JSONL holds it"
        )


def _comments(sentence: Sentence) -> list[str]:
    """The comments, with the sentence's own id and text where they say another or none."""
    comments = [_one_line(line) for line in sentence.comments]
    comments = [line if line.startswith("#") else f"# {line}" for line in comments]
    # That line speaks of the file: in the middle of one it would change how the rest is read.
    comments = [line for line in comments if not GLOBAL_COLUMNS.fullmatch(line)]
    comments = _with_value(comments, TEXT, "text", sentence.text)
    return _with_value(comments, SENT_ID, "sent_id", sentence.id)


def _with_value(
    comments: list[str], pattern: re.Pattern[str], key: str, value: str | None
) -> list[str]:
    if value is None:
        return comments
    value = _one_line(value)
    if find_comment(comments, pattern) == value:
        return comments
    return [f"# {key} = {value}", *(line for line in comments if not pattern.fullmatch(line))]


def _one_line(text: str) -> str:
    # One space for one character, so that offsets into the text stay right.
    return text.replace("\r", " ").replace("\n", " ")


def _with_other_nodes(sentence: Sentence, rows: list[str]) -> list[str]:
    before = sentence.columns.get(NODES_BEFORE)
    after = sentence.columns.get(NODES_AFTER)
    if before is None and after is None:
        return rows
    lines: list[str] = []
    for word, row in enumerate(rows):
        lines += _node_rows(before, word)
        lines.append(row)
    lines += _node_rows(after, len(rows) - 1)
    # These columns may come from a JSON file that somebody edited.
    cells = [line.split("\t") for line in lines]
    name = f"{_name(sentence)} with its multiword tokens and empty nodes"
    if bad := [row for row in cells if len(row) != len(PLUS_COLUMNS) or "\r" in "".join(row)]:
        raise DataError(f"{name}: expected rows of 10 columns, got {bad[0][:-2]}")
    find_nodes(Block(name, 1, PLUS_COLUMNS, (), cells))
    return lines


def _node_rows(column: tuple[str, ...] | None, word: int) -> list[str]:
    if column is None or not column[word]:
        return []
    return [f"{row}\t_\t_" for row in column[word].split("\n")]


def _name(sentence: Sentence) -> str:
    return f"sentence {sentence.id or ' '.join(sentence.words[:5])!r}"
