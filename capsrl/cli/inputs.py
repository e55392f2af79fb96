"""Text, files or standard input -> the sentences that `capsrl label` labels."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from capsrl.cli.progress import watched_lines
from capsrl.data.files import STANDARD, name_of, read_lines, suffix_of
from capsrl.data.formats import SUFFIXES, parse_sentences
from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.text.sentences import iter_paragraphs, split_text

RAW = "text"
FORMATS = (RAW, "conll09", "conllu", "conllup", "jsonl", "up1")


def find_files(text: str | None, files: Sequence[str]) -> list[str]:
    """The files to read, standard input if there is neither text nor file; none for text."""
    if text is not None and text != STANDARD:
        if files:
            raise ConfigError(
                f"expected TEXT or --file, got both: {text[:40]!r} and {files[0]}; "
                "say --file before each file"
            )
        return []
    if text == STANDARD or not files:
        files = [*files, STANDARD]
    if files.count(STANDARD) > 1:
        raise ConfigError("expected standard input (-) once, got it twice")
    if files == [STANDARD] and text is None and sys.stdin.isatty():
        raise ConfigError(
            "expected TEXT, --file FILE or text on standard input, got none of them; "
            'try: capsrl label "Hiti signed the contract."'
        )
    return list(files)


def input_format(path: str, format: str | None) -> str:
    """The format named, or by suffix; what is not known by its suffix is raw text, so is .txt."""
    if format is not None:
        if format not in FORMATS:
            raise ConfigError(f"--from: expected one of {', '.join(FORMATS)}, got {format}")
        return format
    suffix = suffix_of(path)
    return SUFFIXES.get(suffix, RAW)


def read_inputs(files: Iterable[tuple[str, str]], *, bar: bool) -> Iterator[Sentence]:
    """Yield the sentences of files, given with their formats; holds one paragraph at a time.

    bar  show on stderr how far it is, if that is a terminal
    """
    for path, format in files:
        if bar:
            with watched_lines(path, every=1) as lines:
                yield from _sentences(lines, path, format)
        else:
            yield from _sentences(read_lines(path), path, format)


def _sentences(lines: Iterable[str], path: str, format: str) -> Iterator[Sentence]:
    if format != RAW:
        yield from parse_sentences(lines, format, source=name_of(path))
        return
    prefix = "stdin" if path == STANDARD else Path(path).name
    numbers = count(1)
    for start, paragraph in iter_paragraphs(lines):
        for sentence in split_text(paragraph):
            yield replace(sentence, start=start, id=f"{prefix}-{next(numbers)}").standalone()
