"""Find and read what `capsrl label` is given: texts, files, folders, standard input."""

import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import NoReturn

from capsrl.cli.progress import watched_lines
from capsrl.data.compression import AND_COMPRESSED
from capsrl.data.files import STANDARD, find_encoding, name_of, suffix_of
from capsrl.data.formats import READABLE, SUFFIXES, TEXT, format_of, parse_sentences
from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Sentence
from capsrl.text.layout import PLAIN, Layout
from capsrl.text.sentences import split_lines, split_text

_HTML = (".html", ".htm")
_TABLES = (".csv", ".tsv", ".xls", ".xlsx", ".parquet")
# How the files of a corpus begin, which may be called .txt or come from a pipe.
_CORPUS = re.compile(r'1\t([^\t]*\t){8}|# (global\.columns|newdoc|sent_id|text)\b|\{"')


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to label.

    name      the path as given, - for standard input; for text, the prefix of its ids, if any
    format    one of READABLE
    text      the text itself where it was given as an argument
    sure      whether the user named the format
    encoding  of the file; None for UTF-8
    layout    how its text is laid out
    """

    name: str
    format: str = TEXT
    text: str | None = None
    sure: bool = False
    encoding: str | None = None
    layout: Layout = PLAIN

    @property
    def is_stream(self) -> bool:
        """Whether it may arrive slowly, so that results should not wait for the end."""
        return self.name == STANDARD and self.format == TEXT


def find_sources(
    inputs: Sequence[str],
    named: str | None,
    *,
    output: str,
    encoding: str | None = None,
    layout: Layout = PLAIN,
) -> list[Source]:
    """Find out what each argument is; standard input if there is none.

    named     the format of all files; by default each has that of its suffix
    output    the file to be written, which is not read as part of a folder
    encoding  the encoding of all files; by default UTF-8
    layout    how the text of arguments and files is laid out; HTML files are HTML in any case
    """
    if not inputs:
        if sys.stdin.isatty():
            raise ConfigError(
                "expected text, files or folders to label, got none; "
                'try: capsrl label "Hiti signed the contract."'
            )
        inputs = [STANDARD]
    if inputs.count(STANDARD) > 1:
        raise ConfigError("-: expected standard input once, got it twice")
    if encoding is not None:
        find_encoding(encoding, "--encoding")
    sources: list[Source] = []
    for number, given in enumerate(inputs, start=1):
        if os.path.isdir(given):
            sources += _find_files(given, named, output)
        elif given == STANDARD or os.path.exists(given):
            sources.append(_make_source(given, named))
        elif not given or any(map(str.isspace, given)):
            _check_argument(given, named)
            sources.append(Source(f"text{number}" if len(inputs) > 1 else "", TEXT, given))
        else:
            _refuse_word(given, inputs)
    _check_layout(sources, layout)
    return [
        replace(
            source,
            encoding=encoding,
            layout=Layout(source.layout.html or layout.html, layout.one_sentence_per_line),
        )
        for source in sources
    ]


def read_source(source: Source, *, bar: bool) -> Iterator[Sentence | None]:
    """Yield the sentences of a source; None where those so far should be labeled and shown.

    bar  show a progress bar on stderr, if that is a terminal
    """
    if source.text is not None:
        for number, sentence in enumerate(split_text(source.text, source.layout), start=1):
            name = f"{source.name}-{number}" if source.name else None
            yield replace(sentence.standalone(), id=name)
        return
    with watched_lines(source.name, bar=bar, encoding=source.encoding) as lines:
        name = name_of(source.name)
        if source.format == TEXT and not source.sure:
            lines = check_text(lines, name)
        if source.is_stream:
            yield from _read_stream(lines, source.layout)
        else:
            yield from parse_sentences(lines, source.format, source=name, layout=source.layout)


def check_text(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the lines of a text; raise DataError if they look like those of a corpus."""
    for number, line in enumerate(lines):
        if number == 0 and _CORPUS.match(line):
            raise DataError(
                f"{name}:1: expected text, got what looks like a corpus: {line[:20]!r}; "
                f"name its format with --from: {', '.join(READABLE)}"
            )
        yield line


def _find_files(folder: str, named: str | None, output: str) -> list[Source]:
    """The files of a folder and its subfolders, in the order of their names."""
    files = [
        path
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.resolve() != Path(output).resolve()
    ]
    suffixes = [suffix for suffix, name in SUFFIXES.items() if name in READABLE]
    known = [path for path in files if named or suffix_of(path) in (*suffixes, *_HTML)]
    if not known:
        raise ConfigError(
            f"{folder}: expected files with a suffix of {' '.join((*suffixes, *_HTML))} "
            f"({AND_COMPRESSED}), got {_count_suffixes(files)}"
        )
    if len(known) < len(files):
        skipped = _count_suffixes(set(files) - set(known))
        sys.stderr.write(f"note: {folder}: skipped {skipped}\n")
    return [_make_source(str(path), named) for path in known]


def _count_suffixes(files: Collection[Path]) -> str:
    suffixes = " ".join(sorted({suffix_of(path) or "no suffix" for path in files}))
    return f"{len(files)} file{'s' * (len(files) != 1)}{f' ({suffixes})' if files else ''}"


def _make_source(path: str, named: str | None) -> Source:
    suffix = suffix_of(path)
    if named is None and suffix in _TABLES:
        raise ConfigError(
            f"{path}: tables ({suffix}) are not read yet; save the texts as .txt, or label the "
            "column in Python: labeler.label(column)"
        )
    # Pipes and devices have no suffix, as standard input has none.
    name = path if os.path.isfile(path) else STANDARD
    if named is None and suffix_of(name) in _HTML:
        return Source(path, TEXT, sure=True, layout=Layout(html=True))
    format = format_of(name, named, default=TEXT, option="--from")
    return Source(path, format, sure=named is not None)


def _check_layout(sources: Sequence[Source], layout: Layout) -> None:
    """Refuse options of raw text where there is none."""
    if sources and not any(source.format == TEXT for source in sources):
        flags = {"--html": layout.html, "--one-sentence-per-line": layout.one_sentence_per_line}
        for flag in (flag for flag, given in flags.items() if given):
            raise ConfigError(
                f"{flag}: expected raw text, got {sources[0].format} ({sources[0].name})"
            )


def _check_argument(text: str, named: str | None) -> None:
    if named not in (None, TEXT):
        raise ConfigError(f"--from {named}: expected files, got the text {text[:40]!r}")
    if suffix_of(text) in SUFFIXES:
        sys.stderr.write(f"note: {text[-40:]!r} is not a file; labeling these words\n")


def _refuse_word(given: str, inputs: Sequence[str]) -> NoReturn:
    """Refuse an argument that is neither a file nor, having no blank in it, text."""
    unquoted = len(inputs) > 1 and not any(" " in each or os.path.exists(each) for each in inputs)
    if suffix_of(given) in SUFFIXES or "/" in given:
        raise ConfigError(f"{given}: no such file")
    write = (
        f"capsrl label {shlex.quote(' '.join(inputs))}"
        if unquoted
        else (f"echo {shlex.quote(given)} | capsrl label")
    )
    raise ConfigError(f"{given}: no such file; to label the words themselves write: {write}")


def _read_stream(lines: Iterable[str], layout: Layout) -> Iterator[Sentence | None]:
    """The sentences of standard input, and None at the end of each paragraph or line."""
    numbers = count(1)
    for sentences in split_lines(lines, layout):
        for sentence in sentences:
            yield replace(sentence, id=f"stdin-{next(numbers)}")
        yield None
