"""Find and read what `capsrl label` is given: texts, files, folders, tables, standard input."""

import glob
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from capsrl.cli.progress import watched_lines, watched_texts
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import STANDARD, find_encoding, name_of, read_lines, suffix_of
from capsrl.files.remote import is_url
from capsrl.formats.formats import READABLE, SUFFIXES, TEXT, format_of, parse_sentences
from capsrl.sentence import Sentence
from capsrl.tables.documents import (
    DOCUMENT_FORMATS,
    DOCUMENT_SUFFIXES,
    count_suffixes,
    find_inputs,
    make_input,
)
from capsrl.tables.pipeline import DocumentSentence, split_document
from capsrl.tables.reading import Document, Input, ReadOptions
from capsrl.text import PLAIN, Layout
from capsrl.text.sentences import split_text

_HTML = (".html", ".htm")
_OFFICE = {
    **dict.fromkeys((".xls", ".xlsx", ".ods"), ("spreadsheets", "the sheet as .csv")),
    ".json": ("JSON arrays", "one object per line as .jsonl: jq -c '.[]' FILE"),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".odt", ".rtf"), ("such files", "the text as .txt")),
}
_TABLE_FORMATS = tuple(name for name in DOCUMENT_FORMATS if name not in (TEXT, "jsonl"))
FROM = (TEXT, *_TABLE_FORMATS, *(name for name in READABLE if name != TEXT))
_KNOWN = {
    **{suffix: format for suffix, format in SUFFIXES.items() if format in READABLE},
    **dict.fromkeys(_HTML, TEXT),
    **{suffix: format for suffix, format in DOCUMENT_SUFFIXES.items() if format in _TABLE_FORMATS},
}
# How the files of a corpus begin, which may be called .txt or come from a pipe.
_CORPUS = re.compile(r'1\t([^\t]*\t){8}|# (global\.columns|newdoc|sent_id|text)\b|\{"')
# How tables begin: names without blanks, three at least, or one of them "text" or "id".
_CELL = r'"?[\w.-]+"?'
_HEADER = re.compile(
    rf'({_CELL}[,;\t])*"?(text|id)"?([,;\t]{_CELL})+$|({_CELL}[,;\t])+"?(text|id)"?$'
    rf"|{_CELL}([,;\t]{_CELL}){{2,}}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Given:
    """One thing to label that was given on the command line.

    name      the path as given, - for standard input; for text, the prefix of its ids, if any
    format    one of FROM
    text      the text itself where it was given as an argument
    sure      whether the user named the format
    encoding  of the file; None for UTF-8
    layout    how its text is laid out
    table     how to read its documents, if it is a table or has a document per line
    """

    name: str
    format: str = TEXT
    text: str | None = None
    sure: bool = False
    encoding: str | None = None
    layout: Layout = PLAIN
    table: Input | None = None

    @property
    def is_stream(self) -> bool:
        """Whether it may arrive slowly, so that results should not wait for the end."""
        return self.name == STANDARD and (self.format == TEXT or self.table is not None)

    @property
    def document(self) -> Document | None:
        """The document of its sentences, if it is not a table; None for text without a name."""
        name = name_of(self.name).strip("<>")
        return Document(name, None, {}, name_of(self.name)) if name else None

    @property
    def is_text(self) -> bool:
        """Whether its sentences are those of raw text, not of a corpus."""
        return self.format == TEXT or self.table is not None


def find_given(
    inputs: Sequence[str], read: ReadOptions, *, output: str, layout: Layout = PLAIN
) -> list[Given]:
    """Find out what each argument is; standard input if there is none.

    read    the format of all files, by default each has that of its suffix; their encoding; and how
            documents of tables are read
    output  the file to be written, which is not read as part of a folder; it is an error to
            name it as an input, which would be lost
    layout  how the text of arguments and files is laid out; HTML files are HTML in any case
    """
    if not inputs and (sys.stdin is None or sys.stdin.isatty()):  # None: closed
        raise ConfigError(
            "there is nothing to label; give text, files or folders: "
            'capsrl label "Hiti signed the contract."'
        )
    inputs = inputs or [STANDARD]
    if inputs.count(STANDARD) > 1:
        raise ConfigError("-: standard input can be read only once")
    if read.encoding is not None:
        find_encoding(read.encoding, "--encoding")
    if STANDARD in inputs and sys.stdin is None:
        raise ConfigError("standard input is closed")
    found: list[Given] = []
    for number, given in enumerate(inputs, start=1):
        if _is_path(given):
            found += (_make_given(path, read, layout) for path in _find_files(given, read, output))
        elif not given or any(map(str.isspace, given)):
            _check_argument(given, read.format)
            prefix = f"text{number}" if len(inputs) > 1 else ""
            found.append(Given(prefix, TEXT, given, layout=layout))
        else:
            _refuse_word(given, inputs)
    _check_options(found, read, layout)
    return found


def read_given(given: Given, *, bar: bool) -> Iterator[DocumentSentence]:
    """Yield the sentences of an input; a document that has none is one item without a sentence.

    bar  show a progress bar on stderr, if that is a terminal
    """
    if given.table is not None:
        for document in watched_texts(given.table.documents(), given.name, bar=bar):
            yield from split_document(document, given.layout)
        return
    number = 0
    for number, sentence in enumerate(_sentences(given, bar=bar), start=1):
        yield DocumentSentence(given.document, sentence, number)
    if not number:
        yield DocumentSentence(given.document)


def check_text(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the lines of a text; raise DataError if they look like those of a corpus or table."""
    for number, line in enumerate(lines):
        kind = "corpus" if _CORPUS.match(line) else "table" if _HEADER.match(line) else None
        if number == 0 and kind is not None:
            raise DataError(
                f"{name}:1: this looks like a {kind}, not like text: {line[:20]!r}; "
                f"name its format with --from: {', '.join(FROM)}"
            )
        yield line


def refuse_same(path: str, output: str, option: str) -> None:
    """Raise ConfigError if the output would replace the file that is read."""
    if _is_same(path, output):
        raise ConfigError(f"{option}: the output would overwrite the input {output}")


def note_skipped(path: str, files: Sequence[str]) -> None:
    """Say on standard error how many files of a folder are not read, and of which suffixes."""
    sys.stderr.write(f"note: {name_of(path)}: skipped {count_suffixes(files)}\n")


def can_be_read_twice(path: str) -> bool:
    """Whether it is a file, on a disk or remote, and not a pipe or a device."""
    return path != STANDARD and (os.path.isfile(path) or is_url(path))


def _sentences(given: Given, *, bar: bool) -> Iterator[Sentence]:
    """The sentences of text or of a corpus."""
    if given.text is not None:
        for number, sentence in enumerate(split_text(given.text, given.layout), start=1):
            name = f"{given.name}-{number}" if given.name else None
            yield replace(sentence.standalone(), id=name)
        return
    with watched_lines(given.name, bar=bar, encoding=given.encoding) as lines:
        name = name_of(given.name)
        if given.format == TEXT and not given.sure:
            lines = check_text(lines, name)
        if given.format == "jsonl" and given.name == STANDARD:
            lines = _check_words(lines)
        yield from parse_sentences(lines, given.format, source=name, layout=given.layout)


def _is_path(given: str) -> bool:
    """Whether an argument is the name or the pattern of files, and not text."""
    if given == STANDARD or os.path.exists(given):
        return True
    if is_url(given):
        return not any(map(str.isspace, given))
    return glob.has_magic(given) and any(glob.iglob(given, recursive=True))


def _find_files(given: str, read: ReadOptions, output: str) -> list[str]:
    """The files that one argument stands for; pipes and devices are among them."""
    refuse_same(given, output, "-o")
    return find_inputs(
        [given],
        suffixes=_KNOWN if read.format is None else None,
        is_output=lambda path: _is_same(path, output),
        report_skipped=note_skipped,
    )


def _is_same(path: str, output: str) -> bool:
    """Whether writing the output would replace the file; pipes and devices are not replaced."""
    path, output = (each.removeprefix("file://") for each in (path, output))
    if STANDARD in (path, output) or is_url(output):
        return path == output != STANDARD
    return os.path.isfile(path) and os.path.isfile(output) and os.path.samefile(path, output)


def _make_given(path: str, read: ReadOptions, layout: Layout) -> Given:
    suffix, named = suffix_of(path), read.format
    if named is None and suffix in _OFFICE:
        what, fix = _OFFICE[suffix]
        raise ConfigError(f"{path}: {what} ({suffix}) are not read; save {fix}")
    # Pipes and devices have no suffix, as standard input has none.
    name = path if can_be_read_twice(path) else STANDARD
    if named is None and suffix_of(name) in _HTML:
        layout = replace(layout, html=True)
        return Given(path, TEXT, sure=True, encoding=read.encoding, layout=layout)
    format = format_of(name, named, formats=FROM, suffixes=_KNOWN, default=TEXT, option="--from")
    is_table = format in _TABLE_FORMATS or (format == "jsonl" and _has_texts(path, read))
    table = make_input(path, replace(read, format=format)) if is_table else None
    return Given(
        path, format, sure=named is not None, encoding=read.encoding, layout=layout, table=table
    )


def _has_texts(path: str, read: ReadOptions) -> bool:
    """Whether the objects of a .jsonl file are documents, not sentences with their words."""
    if read.text_column is not None:
        return True
    if not can_be_read_twice(path):
        return False
    lines = read_lines(path, encoding=read.encoding, option="--encoding")
    first = next(filter(str.strip, lines), "").strip()
    if first.startswith("[") or first == "{":
        fix = "jq -c '.[]'" if first[0] == "[" else "jq -c ."
        raise ConfigError(
            f"{path}: expected one JSON object per line, got {first[:20]!r}; convert it: {fix}"
        )
    return _is_document(first)


def _check_words(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of JSON on standard input; raise DataError if they are documents."""
    for number, line in enumerate(lines):
        if number == 0 and _is_document(line):
            raise DataError(
                "<stdin>:1: expected sentences with the key 'words', got an object without it; "
                "for documents name the key of the text with --text-column"
            )
        yield line


def _is_document(line: str) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and "words" not in value


def _check_options(found: Sequence[Given], read: ReadOptions, layout: Layout) -> None:
    """Refuse options of raw text where there is none, and of tables where there are none."""
    flags = {"--html": layout.html, "--one-sentence-per-line": layout.one_sentence_per_line}
    columns = {"--text-column": read.text_column, "--id-column": read.id_column}
    shown = found[0].name if found[0].text is None else f"{found[0].text!r:.40}"
    for options, needed, is_right in (
        (flags, "raw text", any(given.is_text for given in found)),
        (columns, "a table (csv, tsv, jsonl, parquet)", any(given.table for given in found)),
    ):
        for option in (option for option, value in options.items() if value and not is_right):
            raise ConfigError(f"{option}: needs {needed}, got {found[0].format} ({shown})")


def _check_argument(text: str, named: str | None) -> None:
    if named not in (None, TEXT):
        raise ConfigError(f"--from {named}: needs files, got the text {text[:40]!r}")
    if suffix_of(text) in _KNOWN:
        sys.stderr.write(f"note: {text[-40:]!r} is not a file; labeling these words\n")


def _refuse_word(given: str, inputs: Sequence[str]) -> NoReturn:
    """Refuse an argument that is neither a file nor, having no blank in it, text."""
    try:
        os.stat(given)
    except PermissionError as error:
        raise ConfigError(f"{given}: cannot be read: {error.strerror}") from None
    except OSError:
        pass
    unquoted = len(inputs) > 1 and not any(" " in each or os.path.exists(each) for each in inputs)
    if glob.has_magic(given):
        raise ConfigError(f"{given}: no file matches")
    if suffix_of(given) in _KNOWN or "/" in given:
        raise ConfigError(f"{given}: no such file")
    words, pipe = shlex.quote(" ".join(inputs)), f"echo {shlex.quote(given)} | capsrl label"
    write = f"capsrl label {words}" if unquoted else pipe
    raise ConfigError(f"{given}: no such file; to label the words themselves write: {write}")
