"""Read and write CoNLL-2009 files.

    ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APRED1..n

One word per row, tabs between columns, a blank line after each sentence, `_` in empty cells.
Columns whose names begin with P (except PRED and POS) were predicted by a tool. They are preferred
to their gold counterparts, since that is what a model sees in new text. Columns that a Sentence has
no field for are kept in `Sentence.columns`, so that writing gives the same bytes again.
Blind files, which hide the predicates, stop after PDEPREL, FILLPRED or PRED, or have an empty PRED.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from capsrl.errors import DataError
from capsrl.formats.blocks import (
    Block,
    Watch,
    filled,
    format_heads,
    format_ids,
    name_sentence,
    parse_heads,
    read_blocks,
)
from capsrl.sentence import Argument, Proposition, Sentence

# The ten columns that every Sentence read here has in `Sentence.columns`.
_KEPT_COLUMNS = (
    *("LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT"),
    *("HEAD", "PHEAD", "DEPREL", "PDEPREL"),
)
_FIRST_TAIL = 2 + len(_KEPT_COLUMNS)  # FILLPRED, PRED, APRED1..n follow: the tail
_EMPTY = ("_", "-", "")  # "" stands for a cell of a column that a blind file lacks
_SPACE = re.compile(r"[^\S\t\r\n]")
_BREAK = re.compile(r"[\t\r\n]")

Column = Sequence[str]


def read_conll09(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-2009 file; hold one at a time.

    watch  is called with each block of rows before its sentence is yielded
    Raises DataError naming source and line for the first bad row.
    """
    return map(_parse_block, read_blocks(lines, source=source, watch=watch))


def _parse_block(block: Block) -> Sentence:
    """Return the sentence of a block.

    A word is a predicate when its PRED is filled or its FILLPRED is Y; its sense is None while
    PRED is empty. The k-th APRED column belongs to the k-th predicate, so the width of a row is
    only known once its block has been read.
    FILLPRED, PRED and APREDs enter `Sentence.columns` only where the propositions alone would not
    give the same cells again (`-` for empty, blind files).
    """
    _check_cells(block)
    rows = [row.split("\t") for row in block.rows]
    try:
        columns = list(zip(*rows, strict=True))
    except ValueError:
        raise _width_error(rows, block) from None
    tail = columns[_FIRST_TAIL:]
    if len(columns) < _FIRST_TAIL or (owners := _owners(tail)) is None:
        raise _width_error(rows, block)
    ids, words, *kept = columns[:_FIRST_TAIL]
    if ids != (expected := format_ids(len(ids))):
        row = next(row for row, cell in enumerate(ids) if cell != expected[row])
        raise DataError(f"{block.where(row)}: expected ID {expected[row]}, got {ids[row]!r}")
    lemma, plemma, pos, ppos, _, _, head, phead, deprel, pdeprel = kept
    heads = parse_heads(head, where=block.where)
    if phead != head:
        heads = parse_heads(phead, name="PHEAD", where=block.where) or heads
    propositions = _propositions(tail, owners, block)
    extra = dict(zip(_KEPT_COLUMNS, kept, strict=True))
    if _make_tail(len(words), propositions) != tail:
        extra |= _name_tail(tail, len(words))
    return Sentence(
        words=words,
        propositions=propositions,
        lemmas=filled(plemma) or filled(lemma),
        tags=filled(ppos) or filled(pos),
        heads=heads,
        relations=filled(pdeprel) or filled(deprel),
        columns=extra,
    )


def format_conll09(sentence: Sentence) -> str:
    """Return the rows of a sentence and a blank line; nothing for a sentence without words.

    A sentence that was read from CoNLL-2009 gives the same rows again, with its current
    propositions. Other sentences are written with the same values in gold and predicted columns,
    and spaces inside words become `_`. The format cannot hold text, offsets, comments, id and
    probabilities.
    Raises DataError for a word, sense or role that the format cannot hold.
    """
    if not sentence.words:
        return ""
    if is_conll09 := sentence.columns.keys() >= set(_KEPT_COLUMNS):
        words, kept = sentence.words, [sentence.columns[name] for name in _KEPT_COLUMNS]
    else:
        words, kept = _cells_of_row(sentence.words), _known_columns(sentence)
    tail = _original_tail(sentence) if is_conll09 else None
    if tail is None:
        tail = _checked_tail(sentence)
    columns = [format_ids(len(words)), words, *kept, *tail]
    text = "".join(["\t".join(row) + "\n" for row in zip(*columns, strict=True)]) + "\n"
    # Counted over the whole text: checking each cell takes longer than everything else here.
    n_tabs = len(words) * (len(columns) - 1)
    whole = text.count("\t") == n_tabs and text.count("\n") == len(words) + 1
    if not whole or any(hole in text for hole in ("\r", "\t\t", "\t\n")):
        bad = next(c for column in columns for c in column if not c or _BREAK.search(c))
        raise DataError(
            f"{name_sentence(sentence)}: expected non-empty cells without tabs or line breaks, "
            f"got {bad!r}"
        )
    return text


def _owners(tail: Sequence[Column]) -> tuple[list[int], list[int]] | None:
    """Return the predicates, and those that own an APRED column; None if the width is wrong."""
    fillpred: Column = tail[0] if tail else ()
    pred: Column = tail[1] if len(tail) > 1 else ()
    with_sense = [word for word, sense in enumerate(pred) if sense not in _EMPTY]
    predicates = with_sense
    if [fillpred[word] for word in with_sense].count("Y") != fillpred.count("Y"):
        marked = {word for word, mark in enumerate(fillpred) if mark == "Y"}
        predicates = sorted(marked.union(with_sense))
    n_columns = max(len(tail) - 2, 0)
    if n_columns == len(predicates):
        return predicates, predicates
    # With FILLPRED kept from the gold file, a system may have left out predicates.
    return (predicates, with_sense) if n_columns == len(with_sense) else None


def _propositions(
    tail: Sequence[Column], owners: tuple[list[int], list[int]], block: Block
) -> tuple[Proposition, ...]:
    predicates, with_column = owners
    if not predicates:
        return ()
    columns = dict(zip(with_column, tail[2:], strict=True)) if with_column else {}
    senses: Column = tail[1] if len(tail) > 1 else ()
    return tuple(
        [
            Proposition(
                predicate,
                senses[predicate] if senses and senses[predicate] not in _EMPTY else None,
                _arguments_of_row(columns.get(predicate, ()), block),
            )
            for predicate in predicates
        ]
    )


def _arguments_of_row(column: Column, block: Block) -> tuple[Argument, ...]:
    arguments = [
        Argument(role, word)
        for word, cell in enumerate(column)
        if cell != "_" and cell != "-"
        for role in cell.split("|")
    ]
    for argument in arguments:
        if argument.role in _EMPTY:
            raise DataError(
                f"{block.where(argument.word)}: expected roles joined by |, "
                f"got {column[argument.word]!r}"
            )
    return tuple(arguments)


def _make_tail(n_words: int, propositions: Iterable[Proposition]) -> list[tuple[str, ...]]:
    """Return FILLPRED, PRED and the APREDs that represent the propositions."""
    fillpred, pred = ["_"] * n_words, ["_"] * n_words
    tail = [fillpred, pred]
    for proposition in propositions:
        fillpred[proposition.predicate] = "Y"
        pred[proposition.predicate] = proposition.sense or "_"
        apred = ["_"] * n_words
        for role, word in [(argument.role, argument.word) for argument in proposition.arguments]:
            apred[word] = role if apred[word] == "_" else f"{apred[word]}|{role}"
        tail.append(apred)
    return list(map(tuple, tail))


def _name_tail(tail: Sequence[tuple[str, ...]], n_words: int) -> dict[str, tuple[str, ...]]:
    names = ["FILLPRED", "PRED", *(f"APRED{k}" for k in range(1, len(tail) - 1))]
    missing = [("",) * n_words] * (2 - len(tail))  # marks the columns that a blind file lacks
    return dict(zip(names, [*tail, *missing], strict=True))


def _original_tail(sentence: Sentence) -> list[tuple[str, ...]] | None:
    """Return the cells of the file if they were kept and still represent the propositions."""
    columns = sentence.columns
    if "FILLPRED" not in columns or "PRED" not in columns:
        return None
    tail = [column for column in (columns["FILLPRED"], columns["PRED"]) if "" not in column]
    while (name := f"APRED{len(tail) - 1}") in columns:
        tail.append(columns[name])
    try:
        owners = _owners(tail)
        same = owners and _propositions(tail, owners, Block("", 1, [])) == tuple(
            Proposition(p.predicate, p.sense, tuple(Argument(a.role, a.word) for a in p.arguments))
            for p in sentence.propositions
        )
    except DataError:
        return None
    return tail if same else None


def _checked_tail(sentence: Sentence) -> list[tuple[str, ...]]:
    ordered = sorted(sentence.propositions, key=lambda proposition: proposition.predicate)
    for previous, proposition in zip([None, *ordered], ordered, strict=False):
        _check_proposition(proposition, sentence)
        if previous is not None and previous.predicate == proposition.predicate:
            raise DataError(
                f"{name_sentence(sentence)}: expected one proposition per predicate, "
                f"got two at word {proposition.predicate + 1}"
            )
    return _make_tail(len(sentence), ordered)


def _check_proposition(proposition: Proposition, sentence: Sentence) -> None:
    name = name_sentence(sentence)
    if proposition.sense in _EMPTY:
        raise DataError(f"{name}: expected a sense or None, got {proposition.sense!r}")
    for argument in proposition.arguments:
        if argument.role in _EMPTY or "|" in argument.role:
            raise DataError(f"{name}: expected a role name, got {argument.role!r}")


def _known_columns(sentence: Sentence) -> list[tuple[str, ...]]:
    """Return the ten columns of a sentence from another format, gold and predicted ones alike."""
    features = sentence.columns.get("FEATS")  # the name in CoNLL-U
    known = (sentence.lemmas, sentence.tags, features, format_heads(sentence), sentence.relations)
    columns = [_cells_of_row(column) if column else ("_",) * len(sentence) for column in known]
    return [column for column in columns for _ in ("gold", "predicted")]


def _cells_of_row(column: Iterable[str]) -> tuple[str, ...]:
    return tuple([_SPACE.sub("_", cell) or "_" for cell in column])


def _check_cells(block: Block) -> None:
    text = "\n".join(block.rows) + "\n"
    if not any(hole in text for hole in ("\r", "\t\t", "\t\n")):
        return
    for number, row in enumerate(block.rows):
        if "\r" in row:
            problem = "carriage returns only at the end of a row, got one inside"
        elif "" in (cells := row.split("\t")):
            problem = f"_ in every empty cell, got nothing in column {cells.index('') + 1}"
        else:
            continue
        raise DataError(f"{block.where(number)}: expected {problem}")


def _width_error(rows: list[list[str]], block: Block) -> DataError:
    """Name the first row whose width does not fit its sentence."""
    n_marked = sum(row[12:13] == ["Y"] or _has_sense(row) for row in rows)
    n_senses = sum(map(_has_sense, rows))
    if len(rows[0]) == 14 + n_senses or (not n_senses and len(rows[0]) in (12, 13)):
        expected = len(rows[0])
    else:
        expected = 14 + n_marked
    number, row = next((i, row) for i, row in enumerate(rows) if len(row) != expected)
    if expected > 14:
        detail = f" (14 fixed + {expected - 14} for the predicates of this sentence)"
    else:
        detail = ""
    if len(row) == 1:
        advice = "; columns are separated by tabs"
    elif len(row) == 10 or row[0].startswith("#"):
        advice = "; is this CoNLL-U?"
    else:
        advice = ""
    return DataError(
        f"{block.where(number)}: expected {expected} columns{detail}, got {len(row)}{advice}"
    )


def _has_sense(row: list[str]) -> bool:
    return len(row) > 13 and row[13] not in _EMPTY
