"""Read the spans of CoNLL-2005 and CoNLL-2012 files.

Both have a column per predicate with its arguments in brackets, `(A0*`, `*`, `*)`. The head word
of an argument is found by the rule of `capsrl.text.heads`; roles get their CoNLL-2009 names.

conll05  word first, then any columns, the lemma of each predicate (- elsewhere), one column per
         predicate. The sense is the lemma: CoNLL-2005 has no others
conll12  eleven columns (word, tag, lemma and sense are the 4th, 5th, 7th and 8th), one column per
         predicate, and coreference; documents begin with #begin and end with #end
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from capsrl.errors import DataError
from capsrl.formats.blocks import Block, Watch, read_blocks
from capsrl.frames.roles import conll09_role
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.text.heads import find_head

_TAG = re.compile(r"[A-Z$.,:'`#-][A-Z$.,:'`#-]*")


def read_conll05(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-2005 file; tags are those of the second column, if any."""
    for block in read_blocks(lines, source=source, watch=watch):
        columns = _columns(block)
        at = _target_column(columns)
        if at is None:
            raise DataError(f"{block.where()}: expected a column of predicates, and one for each")
        # Only the column of Penn tags has no brackets, lower case letters or digits.
        has_tags = at > 1 and all(map(_TAG.fullmatch, columns[1]))
        sentence = Sentence(columns[0], tags=columns[1] if has_tags else None)
        yield _with_spans(sentence, block, columns[at + 1 :], columns[at])


def read_conll12(
    lines: Iterable[str], *, source: str = "<lines>", watch: Watch | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-2012 file; punctuation loses its escape, `/.` is a dot."""
    plain = ("" if line.startswith("#") else line for line in lines)
    for block in read_blocks(plain, source=source, watch=watch):
        columns = _columns(block)
        if len(columns) < 12:
            raise DataError(f"{block.where()}: expected 12 columns or more, got {len(columns)}")
        words = tuple(re.sub(r"^/(?=[.?!-]$)", "", word) for word in columns[3])
        senses = [f"{lemma}.{sense}" for lemma, sense in zip(columns[6], columns[7], strict=True)]
        yield _with_spans(Sentence(words, tags=columns[4]), block, columns[11:-1], senses)


def _columns(block: Block) -> list[tuple[str, ...]]:
    rows = [row.split() for row in block.rows]
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            got = f"expected {len(rows[0])} columns, got {len(row)}"
            raise DataError(f"{block.where(number)}: {got}")
    return list(zip(*rows, strict=True))


def _target_column(columns: Sequence[Sequence[str]]) -> int | None:
    """The column of lemmas: after it there is one column of brackets for each of them."""
    for at in range(1, len(columns)):
        spans, n_targets = columns[at + 1 :], sum(cell != "-" for cell in columns[at])
        brackets = (all("*" in cell for cell in column) for column in spans)
        if n_targets == len(spans) and all(brackets):
            return at
    return None


def _with_spans(
    sentence: Sentence, block: Block, columns: Iterable[Sequence[str]], senses: Sequence[str]
) -> Sentence:
    propositions = []
    for column in columns:
        spans = list(_spans(column, block))
        found = [first for role, first, _ in spans if role == "V"]
        if len(found) != 1:
            raise DataError(f"{block.where()}: expected one (V*) in a column, got {len(found)}")
        arguments = tuple(
            Argument(conll09_role(role), find_head(sentence, start, end), phrase=Phrase(start, end))
            for role, start, end in spans
            if role != "V"
        )
        propositions.append(Proposition(found[0], senses[found[0]], arguments))
    return sentence.with_propositions(propositions)


def _spans(column: Sequence[str], block: Block) -> Iterator[tuple[str, int, int]]:
    """Role, first and last word of each bracket; nested ones too."""
    waiting: list[tuple[str, int]] = []
    for word, cell in enumerate(column):
        opened, star, closed = cell.partition("*")
        roles = re.findall(r"\(([^()*\s]+)", opened)
        if not star or opened != "".join(f"({role}" for role in roles) or closed.strip(")"):
            raise DataError(f"{block.where(word)}: expected (ROLE*), * and the like, got {cell!r}")
        waiting += [(role, word) for role in roles]
        for _ in closed:
            if not waiting:
                raise DataError(f"{block.where(word)}: a bracket is closed that is not open")
            role, first = waiting.pop()
            yield role, first, word
    if waiting:
        raise DataError(
            f"{block.where(waiting[-1][1])}: the bracket of {waiting[-1][0]} stays open"
        )
