"""Read corpus files of one word per line, and what their columns have in common.

CoNLL-2009, CoNLL-U, Universal PropBank and the files of propbank-release all put a word on a line
and a blank line after each sentence. `read_blocks` splits such a file into sentences and keeps
the line numbers, so that every reader can name the line of a mistake.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from capsrl.errors import DataError
from capsrl.files.opening import MAX_LINE
from capsrl.sentence import Argument, Phrase, Sentence

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")  # at most nine digits: int() refuses thousands


@dataclass(frozen=True, slots=True)
class Block:
    """The lines of one sentence.

    source    name of the file, for messages
    line      number of the first row in the file, from 1; the others follow without a gap
    rows      the lines with a word each
    comments  the comment lines above the rows
    """

    source: str
    line: int
    rows: list[str]
    comments: tuple[str, ...] = ()

    def where(self, row: int = 0) -> str:
        """Return `file:line` of a row."""
        return f"{self.source}:{self.line + row}"

    def where_word(self, word: int) -> str:
        """Return `file:line` of a word, skipping multiword tokens (2-3) and empty nodes (8.1)."""
        ids = (row.partition("\t")[0] for row in self.rows)
        words = [row for row, cell in enumerate(ids) if cell.isdecimal()] or [0]
        return self.where(words[min(word, len(words) - 1)])


Watch = Callable[[Block], None]


def read_blocks(
    lines: Iterable[str], *, source: str, comment: str | None = None, watch: Watch | None = None
) -> Iterator[Block]:
    """Yield the blocks of a file, which end at blank lines; hold one block at a time.

    Raises DataError for one of more than MAX_LINE characters.

    comment  how comment lines begin; None in formats without comments
    watch    is called with each block before it is yielded
    """
    for block in _split_blocks(lines, source, comment):
        if watch is not None:
            watch(block)
        yield block


def _split_blocks(lines: Iterable[str], source: str, comment: str | None) -> Iterator[Block]:
    comments: list[str] = []
    rows: list[str] = []
    number = size = 0
    for number, line in enumerate(lines, start=1):
        line = line.rstrip("\r\n")
        if number == 1:
            line = line.removeprefix("\ufeff")
        if (size := size + len(line)) > MAX_LINE:
            raise DataError(
                f"{source}:{number}: expected sentences of at most {MAX_LINE:,} characters, with "
                "a blank line after each"
            )
        if comment is not None and line.startswith(comment):
            if rows:
                raise DataError(
                    f"{source}:{number}: expected a word or a blank line, got a comment; "
                    "comments stand above the words"
                )
            comments.append(line)
        elif line and not line.isspace():
            rows.append(line)
        elif rows:
            yield Block(source, number - len(rows), rows, tuple(comments))
            comments, rows, size = [], [], 0
    if rows:  # the last sentence may lack its blank line
        yield Block(source, number - len(rows) + 1, rows, tuple(comments))


def filled(column: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the column, or None if it is missing or `_` at every word."""
    if column is None or (column[0] == "_" and column.count("_") == len(column)):
        return None
    return column


def parse_heads(
    column: tuple[str, ...] | None, *, name: str = "HEAD", where: Callable[[int], str]
) -> tuple[int | None, ...] | None:
    """Return the positions of the heads, None at a root; None for an empty column.

    where  gives `file:line` of a word
    """
    if filled(column) is None:
        return None
    assert column is not None
    heads = tuple(map(_parse_head, column))
    # The largest head that is neither a root nor word 0, which are in range for any length.
    if -1 not in heads and max(filter(None, heads), default=0) < len(column):
        return heads
    word = next(
        i for i, head in enumerate(heads) if head is not None and not 0 <= head < len(heads)
    )
    hint = "; an unparsed sentence has _ at every word" if column[word] == "_" else ""
    raise DataError(
        f"{where(word)}: expected {name} from 0 to {len(column)}, got {column[word]!r}{hint}"
    )


@lru_cache(maxsize=1024)
def _parse_head(cell: str) -> int | None:
    """Return the position of the head, None for a root, -1 for anything but a number."""
    if not _NUMBER.fullmatch(cell):
        return -1
    return int(cell) - 1 if cell != "0" else None


def format_heads(sentence: Sentence) -> tuple[str, ...] | None:
    """Return the HEAD column of a sentence; None if it is not parsed."""
    if sentence.heads is None:
        return None
    return tuple(["0" if head is None else str(head + 1) for head in sentence.heads])


def find_offsets(words: Sequence[str], text: str) -> tuple[tuple[int, int], ...] | None:
    """Return (start, end) of each word, or None unless the text has all words in this order."""
    offsets = []
    end = 0
    for word in words:
        start = end
        while start < len(text) and text[start].isspace() and not text.startswith(word, start):
            start += 1
        if not text.startswith(word, start):
            return None
        end = start + len(word)
        offsets.append((start, end))
    return tuple(offsets)


def parse_arguments(
    cell: str, positions: Mapping[str, int | None], *, where: str
) -> tuple[Argument, ...]:
    """Parse `A0:2|A1:6`; positions maps an ID to its word, or to None to leave it out."""
    if cell in ("_", ""):
        return ()
    arguments = []
    for part in cell.split("|"):
        role, _, node = part.rpartition(":")
        if not role or node not in positions:
            raise DataError(
                f"{where}: expected arguments as role:ID (A0:2|A1:6) with IDs of this sentence, "
                f"got {part!r}"
            )
        word = positions[node]
        if word is not None:
            arguments.append(Argument(role, word))
    return tuple(sorted(arguments, key=lambda argument: argument.word))


def add_phrases(
    arguments: Sequence[Argument], cell: str, positions: Mapping[str, int | None], *, where: str
) -> tuple[Argument, ...]:
    """Add the phrases of `A0:1-2|A1:4-6`: to each argument the first of its role around its word.

    Phrases that begin or end at an empty node, or belong to no argument, are left out.
    """
    found: list[tuple[str, Phrase]] = []
    for part in cell.split("|") if cell not in ("_", "") else ():
        role, _, ids = part.rpartition(":")
        first, _, last = ids.partition("-")
        if not role or not {first, last} <= positions.keys():
            raise DataError(
                f"{where}: expected phrases as role:first-last (A0:1-2|A1:4-6) with IDs of this "
                f"sentence, got {part!r}"
            )
        start, end = positions[first], positions[last]
        if start is not None and end is not None:
            found.append((role, Phrase(start, end)))
    return tuple(replace(argument, phrase=_take_phrase(argument, found)) for argument in arguments)


def _take_phrase(argument: Argument, found: list[tuple[str, Phrase]]) -> Phrase | None:
    for number, (role, phrase) in enumerate(found):
        if role == argument.role and phrase.first <= argument.word <= phrase.last:
            del found[number]
            return phrase
    return None


@lru_cache(maxsize=512)
def format_ids(n_words: int) -> tuple[str, ...]:
    """Return the ID column of a sentence: 1, 2, 3, ..."""
    return tuple(map(str, range(1, n_words + 1)))


def name_sentence(sentence: Sentence) -> str:
    """Name a sentence in messages: by its id, or by its first words."""
    return f"sentence {sentence.id or ' '.join(sentence.words[:5])!r}"
