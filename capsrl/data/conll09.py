"""CoNLL-2009 text <-> Sentence, with the columns we do not use kept for the way back.

    ID FORM LEMMA PLEMMA POS PPOS FEAT PFEAT HEAD PHEAD DEPREL PDEPREL FILLPRED PRED APRED1..n

One word per row, tabs between columns, a blank line after each sentence, `_` for nothing.
A column whose name begins with P (but PRED and POS) was predicted by some tool; it is preferred to
its gold twin, since that is what a labeller sees on new text.
Files with the predicates hidden (blind) stop after PDEPREL, FILLPRED or PRED, or leave PRED empty.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence

# The ten columns every Sentence read here carries in `Sentence.columns`.
_KEPT = (
    *("LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT"),
    *("HEAD", "PHEAD", "DEPREL", "PDEPREL"),
)
_FIRST_TAIL = 2 + len(_KEPT)  # FILLPRED, PRED, APRED1..n follow: the tail
_EMPTY = ("_", "-", "")  # "" stands for a cell of a column that a narrow file lacks
_SPACE = re.compile(r"[^\S\t\r\n]")
_BREAK = re.compile(r"[\t\r\n]")

Column = Sequence[str]


def read_conll09(lines: Iterable[str], *, source: str = "<lines>") -> Iterator[Sentence]:
    """Yield one Sentence per block of a CoNLL-2009 file; blocks end at a blank line.

    A word is a predicate when its PRED is filled or its FILLPRED is Y; its sense is None while
    PRED is empty. The k-th APRED column belongs to the k-th predicate, so the width of a row is
    only known once its block has been read. Holds one block at a time.
    FILLPRED, PRED and APREDs enter `Sentence.columns` only where the propositions alone would not
    give the same cells again (`-` for empty, blind files).
    Raises DataError naming source and line for the first bad row.
    """
    rows: list[list[str]] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if number == 1:
            line = line.removeprefix("\ufeff")
        if line and not line.isspace():
            if "\t\t" in line or line[-1] == "\t" or "\r" in line:
                raise _cell_error(line, f"{source}:{number}")
            rows.append(line.split("\t"))
        elif rows:
            yield _sentence(rows, source, number - len(rows))
            rows = []
    if rows:  # the last sentence may lack its blank line
        yield _sentence(rows, source, number - len(rows) + 1)


def format_conll09(sentence: Sentence) -> str:
    """The rows of a sentence and the blank line after them; nothing for a sentence without words.

    A sentence that was read from CoNLL-2009 gives the same rows again, its propositions as they
    are now. Any other is written with what it knows, gold and predicted columns alike, spaces
    inside words as `_`. Text, offsets, comments, id and probabilities have no place in the format.
    Raises DataError for a word, sense or role that the format cannot hold.
    """
    if not sentence.words:
        return ""
    if is_conll09 := sentence.columns.keys() >= set(_KEPT):
        words, kept = sentence.words, [sentence.columns[name] for name in _KEPT]
    else:
        words, kept = _cells(sentence.words), _known_columns(sentence)
    tail = _kept_tail(sentence) if is_conll09 else None
    if tail is None:
        tail = _new_tail(sentence)
    columns = [_ids(len(words)), words, *kept, *tail]
    text = "".join(["\t".join(row) + "\n" for row in zip(*columns, strict=True)]) + "\n"
    # Counted over the whole text: looking into each cell takes longer than all the rest.
    n_tabs = len(words) * (len(columns) - 1)
    whole = text.count("\t") == n_tabs and text.count("\n") == len(words) + 1
    if not whole or any(hole in text for hole in ("\r", "\t\t", "\t\n")):
        bad = next(c for column in columns for c in column if not c or _BREAK.search(c))
        raise DataError(
            f"{_name(sentence)}: expected no tab or line break in a cell, nor nothing, got {bad!r}"
        )
    return text


def _sentence(rows: list[list[str]], source: str, start: int) -> Sentence:
    try:
        columns = list(zip(*rows, strict=True))
    except ValueError:
        raise _width_error(rows, source, start) from None
    tail = columns[_FIRST_TAIL:]
    if len(columns) < _FIRST_TAIL or (owners := _owners(tail)) is None:
        raise _width_error(rows, source, start)
    ids, words, *kept = columns[:_FIRST_TAIL]
    if ids != _ids(len(ids)):
        row, expected = next((i, e) for i, e in enumerate(_ids(len(ids))) if e != ids[i])
        raise DataError(f"{source}:{start + row}: expected ID {expected}, got {ids[row]!r}")
    lemma, plemma, pos, ppos, _, _, head, phead, deprel, pdeprel = kept
    heads = _heads(head, source, start, "HEAD")
    if phead != head:
        heads = _heads(phead, source, start, "PHEAD") or heads
    propositions = _propositions(tail, owners, source, start)
    extra = dict(zip(_KEPT, kept, strict=True))
    if _made_tail(len(words), propositions) != tail:
        extra |= _named_tail(tail, len(words))
    return Sentence(
        words=words,
        propositions=propositions,
        lemmas=_filled(plemma) or _filled(lemma),
        tags=_filled(ppos) or _filled(pos),
        heads=heads,
        relations=_filled(pdeprel) or _filled(deprel),
        columns=extra,
    )


def _filled(column: tuple[str, ...]) -> tuple[str, ...] | None:
    return column if column[0] != "_" or column.count("_") < len(column) else None


@lru_cache(maxsize=512)
def _ids(n_words: int) -> tuple[str, ...]:
    return tuple(map(str, range(1, n_words + 1)))


def _heads(
    column: tuple[str, ...], source: str, start: int, name: str
) -> tuple[int | None, ...] | None:
    if _filled(column) is None:
        return None
    heads = tuple(map(_head, column))
    # max over the heads that are neither root nor 0, which are in range whatever the length
    if -1 not in heads and max(filter(None, heads), default=0) < len(column):
        return heads
    row = next(i for i, h in enumerate(heads) if h is not None and not 0 <= h < len(column))
    raise DataError(
        f"{source}:{start + row}: expected {name} to be a number from 0 to {len(column)}, "
        f"got {column[row]!r}"
    )


@lru_cache(maxsize=1024)
def _head(cell: str) -> int | None:
    """Position of the head, None for a root, -1 for what is no number."""
    if not cell.isascii() or not cell.isdecimal() or len(cell) > 9:
        return -1
    return int(cell) - 1 if int(cell) else None


def _owners(tail: Sequence[Column]) -> tuple[list[int], list[int]] | None:
    """The predicates, and those of them that own an APRED column; None if the width is wrong."""
    fillpred: Column = tail[0] if tail else ()
    pred: Column = tail[1] if len(tail) > 1 else ()
    filled = [word for word, sense in enumerate(pred) if sense not in _EMPTY]
    predicates = filled
    if [fillpred[word] for word in filled].count("Y") != fillpred.count("Y"):
        marked = {word for word, mark in enumerate(fillpred) if mark == "Y"}
        predicates = sorted(marked.union(filled))
    n_columns = max(len(tail) - 2, 0)
    if n_columns == len(predicates):
        return predicates, predicates
    # With FILLPRED kept from the gold file, a system may have left out predicates.
    return (predicates, filled) if n_columns == len(filled) else None


def _propositions(
    tail: Sequence[Column], owners: tuple[list[int], list[int]], source: str, start: int
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
                _arguments(columns.get(predicate, ()), source, start),
            )
            for predicate in predicates
        ]
    )


def _arguments(column: Column, source: str, start: int) -> tuple[Argument, ...]:
    arguments = [
        Argument(role, word)
        for word, cell in enumerate(column)
        if cell != "_" and cell != "-"
        for role in cell.split("|")
    ]
    for argument in arguments:
        if argument.role in _EMPTY:
            raise DataError(
                f"{source}:{start + argument.word}: expected roles joined by |, "
                f"got {column[argument.word]!r}"
            )
    return tuple(arguments)


def _made_tail(n_words: int, propositions: Iterable[Proposition]) -> list[tuple[str, ...]]:
    """FILLPRED, PRED and the APREDs as the propositions alone would have them."""
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


def _named_tail(tail: Sequence[tuple[str, ...]], n_words: int) -> dict[str, tuple[str, ...]]:
    names = ["FILLPRED", "PRED", *(f"APRED{k}" for k in range(1, len(tail) - 1))]
    missing = [("",) * n_words] * (2 - len(tail))  # marks the narrow file it came from
    return dict(zip(names, [*tail, *missing], strict=True))


def _kept_tail(sentence: Sentence) -> list[tuple[str, ...]] | None:
    """The cells of the file, if kept, as long as they still say what the propositions say."""
    columns = sentence.columns
    if "FILLPRED" not in columns or "PRED" not in columns:
        return None
    tail = [column for column in (columns["FILLPRED"], columns["PRED"]) if "" not in column]
    while (name := f"APRED{len(tail) - 1}") in columns:
        tail.append(columns[name])
    try:
        owners = _owners(tail)
        same = owners and _propositions(tail, owners, "", 1) == tuple(
            Proposition(p.predicate, p.sense, tuple(Argument(a.role, a.word) for a in p.arguments))
            for p in sentence.propositions
        )
    except DataError:
        return None
    return tail if same else None


def _new_tail(sentence: Sentence) -> list[tuple[str, ...]]:
    ordered = sorted(sentence.propositions, key=lambda proposition: proposition.predicate)
    for previous, proposition in zip([None, *ordered], ordered, strict=False):
        _check(proposition, sentence)
        if previous is not None and previous.predicate == proposition.predicate:
            raise DataError(
                f"{_name(sentence)}: expected one proposition per predicate, "
                f"got two at word {proposition.predicate + 1}"
            )
    return _made_tail(len(sentence), ordered)


def _check(proposition: Proposition, sentence: Sentence) -> None:
    words = [proposition.predicate, *(argument.word for argument in proposition.arguments)]
    if not all(0 <= word < len(sentence) for word in words):
        raise ValueError(f"{_name(sentence)}: {words} are not all among {len(sentence)} words")
    if proposition.sense in _EMPTY:
        raise DataError(f"{_name(sentence)}: expected a sense or None, got {proposition.sense!r}")
    for argument in proposition.arguments:
        if argument.role in _EMPTY or "|" in argument.role:
            raise DataError(f"{_name(sentence)}: expected a role name, got {argument.role!r}")


def _known_columns(sentence: Sentence) -> list[tuple[str, ...]]:
    """What is known of a sentence from elsewhere, in the gold and the predicted column alike."""
    heads = None
    if sentence.heads is not None:
        heads = tuple(["0" if head is None else str(head + 1) for head in sentence.heads])
    features = sentence.columns.get("FEATS")  # the name in CoNLL-U
    columns = []
    for known in (sentence.lemmas, sentence.tags, features, heads, sentence.relations):
        column = _cells(known) if known else ("_",) * len(sentence)
        columns += [column, column]
    return columns


def _cells(column: Iterable[str]) -> tuple[str, ...]:
    return tuple([_SPACE.sub("_", cell) or "_" for cell in column])


def _name(sentence: Sentence) -> str:
    return f"sentence {sentence.id or ' '.join(sentence.words[:5])!r}"


def _cell_error(line: str, where: str) -> DataError:
    if "\r" in line:
        return DataError(f"{where}: expected carriage returns only at the end, got one in the row")
    column = line.split("\t").index("") + 1
    return DataError(f"{where}: expected _ in every empty cell, got nothing in column {column}")


def _width_error(rows: list[list[str]], source: str, start: int) -> DataError:
    """Name the first row that does not fit its sentence."""
    n_predicates = sum(
        row[12] == "Y" or (len(row) > 13 and row[13] not in _EMPTY) for row in rows if len(row) > 12
    )
    expected = 14 + n_predicates
    n_filled = sum(len(row) > 13 and row[13] not in _EMPTY for row in rows)
    if len(rows[0]) == 14 + n_filled or (not n_filled and len(rows[0]) in (12, 13)):
        expected = len(rows[0])
    offset, row = next((i, row) for i, row in enumerate(rows) if len(row) != expected)
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
        f"{source}:{start + offset}: expected {expected} columns{detail}, got {len(row)}{advice}"
    )
