"""Where in a file a sentence stands, so that a message can name the line.

Reads the file again, so only for messages: readers do not carry line numbers along.
"""

from collections.abc import Iterable
from pathlib import Path

from capsrl.data.files import STANDARD, name_of, read_lines


def place_of(path: str | Path, sentence: int, word: int | None = None) -> str:
    """`file:line` of a sentence or one of its words, counted from 0.

    The last line of the file where it has no such sentence; the name alone for standard input,
    which cannot be read twice.
    """
    if str(path) == STANDARD:
        return name_of(path)
    return f"{name_of(path)}:{line_of(read_lines(path), sentence, word)}"


def line_of(lines: Iterable[str], sentence: int, word: int | None = None) -> int:
    """The 1-based line of a sentence in blocks of rows (CoNLL) or in objects, one a line (JSONL).

    Comments, multiword tokens (2-3) and empty nodes (8.1) are no words.
    """
    n_sentences, n_words, last = 0, 0, 1
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            n_sentences += n_words > 0
            n_words = 0
            continue
        last = number
        if line.startswith("{"):
            if n_sentences == sentence:
                return number
            n_sentences += 1
        elif not line.startswith("#") and line.partition("\t")[0].isdigit():
            if n_sentences == sentence and n_words == (word or 0):
                return number
            n_words += 1
    return last
