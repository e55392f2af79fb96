"""Read files of unlabeled text as sentences of which only the words are known."""

import json
from collections.abc import Iterator

from capsrl.errors import DataError
from capsrl.files.opening import name_of, read_lines
from capsrl.formats.formats import format_of, parse_sentences
from capsrl.sentence import Sentence


def read_unlabeled(path: str) -> Iterator[Sentence]:
    """Yield the sentences of a file in any format that can be read, chosen by its suffix.

    Objects of a JSONL file need `words`; all their other keys are ignored.
    """
    format = format_of(path)
    lines = read_lines(path)
    if format != "jsonl":
        for sentence in parse_sentences(lines, format, source=name_of(path)):
            yield Sentence(sentence.words)
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield Sentence(_words(line, f"{name_of(path)}:{number}"))


def _words(line: str, where: str) -> tuple[str, ...]:
    try:
        words = json.loads(line)["words"]
    except (ValueError, TypeError, KeyError):
        raise DataError(f"{where}: expected a JSON object with words, got {line[:40]!r}") from None
    if not isinstance(words, list) or not all(isinstance(word, str) and word for word in words):
        raise DataError(f"{where}: expected words to be a list of strings, got {line[:40]!r}")
    return tuple(words)
