"""Find and read what `capsrl label` is given: texts, files, folders, tables, standard input."""

import glob
import json
import os
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NoReturn

from capsrl.cli.progress import watched_lines, watched_texts
from capsrl.errors import ConfigError, DataError
from capsrl.files.compression import AND_COMPRESSED
from capsrl.files.opening import STANDARD, find_encoding, name_of, read_lines, suffix_of
from capsrl.files.remote import is_url
from capsrl.formats.formats import READABLE, SUFFIXES, TEXT, format_of, parse_sentences
from capsrl.formats.phrase_file import SUFFIX as SPANS
from capsrl.sentence import Sentence
from capsrl.tables.documents import FORMATS as DOCUMENTS
from capsrl.tables.documents import MAX_CHARACTERS, Document, Input, files_of, find_inputs
from capsrl.tables.documents import SUFFIXES as DOCUMENT_SUFFIXES
from capsrl.tables.labeled import Labeled, split_document
from capsrl.text.layout import PLAIN, Layout
from capsrl.text.sentences import split_text

_HTML = (".html", ".htm")
_OFFICE = {
    **dict.fromkeys((".xls", ".xlsx", ".ods"), ("spreadsheets", "the sheet as .csv")),
    ".json": ("JSON arrays", "one object per line as .jsonl: jq -c '.[]' FILE"),
    **dict.fromkeys((".pdf", ".doc", ".docx", ".odt", ".rtf"), ("such files", "the text as .txt")),
}
_ROWS = tuple(name for name in DOCUMENTS if name not in (TEXT, "jsonl"))
FROM = (TEXT, *_ROWS, *(name for name in READABLE if name != TEXT))
_KNOWN = {
    **{suffix: format for suffix, format in SUFFIXES.items() if format in READABLE},
    **dict.fromkeys(_HTML, TEXT),
    **{suffix: format for suffix, format in DOCUMENT_SUFFIXES.items() if format in _ROWS},
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
class TableOptions:
    """How the documents of tables are read; see `Input`."""

    text_column: str | None = None
    id_column: str | None = None
    max_characters: int = MAX_CHARACTERS
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """One thing to label.

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
        """What its sentences belong to, if it is not a table; None for text without a name."""
        name = name_of(self.name).strip("<>")
        return Document(name, None, {}, name_of(self.name)) if name else None

    @property
    def is_text(self) -> bool:
        """Whether its sentences are those of raw text, not of a corpus."""
        return self.format == TEXT or self.table is not None


def find_sources(
    inputs: Sequence[str],
    named: str | None,
    *,
    output: str,
    encoding: str | None = None,
    layout: Layout = PLAIN,
    tables: TableOptions | None = None,
) -> list[Source]:
    """Find out what each argument is; standard input if there is none.

    named     the format of all files; by default each has that of its suffix
    output    the file to be written, which is not read as part of a folder; it is an error to
              name it as an input, which would be lost
    encoding  the encoding of all files; by default UTF-8
    layout    how the text of arguments and files is laid out; HTML files are HTML in any case
    tables    how documents of tables are read
    """
    if not inputs:
        if sys.stdin is None or sys.stdin.isatty():  # None: closed
            raise ConfigError(
                "expected text, files or folders to label, got none; "
                'try: capsrl label "Hiti signed the contract."'
            )
        inputs = [STANDARD]
    if inputs.count(STANDARD) > 1:
        raise ConfigError("-: expected standard input once, got it twice")
    if encoding is not None:
        find_encoding(encoding, "--encoding")
    if STANDARD in inputs and sys.stdin is None:
        raise ConfigError("standard input is closed")
    tables = replace(tables or TableOptions(), encoding=encoding)
    sources: list[Source] = []
    for number, given in enumerate(inputs, start=1):
        prefix = f"text{number}" if len(inputs) > 1 else ""
        sources += _find(given, prefix, inputs, named, output, tables)
    _check_options(sources, layout, tables)
    return [_completed(source, encoding, layout) for source in sources]


def read_source(source: Source, *, bar: bool) -> Iterator[Labeled]:
    """Yield the sentences of a source; a document without sentences is one Labeled without any.

    bar  show a progress bar on stderr, if that is a terminal
    """
    if source.table is not None:
        for document in watched_texts(source.table.documents(), source.name, bar=bar):
            yield from split_document(document, source.layout)
        return
    number = 0
    for number, sentence in enumerate(_sentences(source, bar=bar), start=1):
        yield Labeled(source.document, sentence, number)
    if not number:
        yield Labeled(source.document)


def check_text(lines: Iterable[str], name: str) -> Iterator[str]:
    """Yield the lines of a text; raise DataError if they look like those of a corpus or table."""
    for number, line in enumerate(lines):
        if number == 0 and (found := _other_than_text(line)):
            raise DataError(
                f"{name}:1: expected text, got what looks like a {found}: {line[:20]!r}; "
                f"name its format with --from: {', '.join(FROM)}"
            )
        yield line


def refuse_same(path: str, output: str, option: str) -> None:
    """Raise ConfigError if the output would replace the file that is read."""
    if _is_same(path, output):
        raise ConfigError(
            f"{option}: expected another file than the input, got {output}; choose another name"
        )


def note_skipped(folder: str, files: Collection[Path]) -> None:
    """Say on standard error how many files of a folder are not read, and of which suffixes."""
    if files:
        sys.stderr.write(f"note: {folder}: skipped {_count_suffixes(files)}\n")


def _other_than_text(line: str) -> str | None:
    """What the first line of a file is, if it is not text."""
    if _CORPUS.match(line):
        return "corpus"
    return "table" if _HEADER.match(line) else None


def _sentences(source: Source, *, bar: bool) -> Iterator[Sentence]:
    """The sentences of text or of a corpus."""
    if source.text is not None:
        for number, sentence in enumerate(split_text(source.text, source.layout), start=1):
            name = f"{source.name}-{number}" if source.name else None
            yield replace(sentence.standalone(), id=name)
        return
    with watched_lines(source.name, bar=bar, encoding=source.encoding) as lines:
        name = name_of(source.name)
        if source.format == TEXT and not source.sure:
            lines = check_text(lines, name)
        if source.format == "jsonl" and source.name == STANDARD:
            lines = _check_words(lines)
        yield from parse_sentences(lines, source.format, source=name, layout=source.layout)


def _find(
    given: str,
    prefix: str,
    inputs: Sequence[str],
    named: str | None,
    output: str,
    tables: TableOptions,
) -> list[Source]:
    """The sources that one argument stands for."""
    if is_url(given) and not any(map(str.isspace, given)):
        refuse_same(given, output, "-o")
        files = find_inputs([given], suffixes=tuple(_KNOWN))
        return [_make_source(path, named, tables) for path in files if not _is_same(path, output)]
    if os.path.isdir(given):
        return _find_files(given, named, output, tables)
    if given == STANDARD or os.path.exists(given):
        refuse_same(given, output, "-o")
        return [_make_source(given, named, tables)]
    if matches := _matches(given, output):
        return [_make_source(path, named, tables) for path in matches]
    if not given or any(map(str.isspace, given)):
        _check_argument(given, named)
        return [Source(prefix, TEXT, given)]
    _refuse_word(given, inputs)


def _matches(pattern: str, output: str) -> list[str]:
    """The files that a pattern stands for, which the shell has not replaced."""
    found = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(pattern) else []
    return [path for path in found if os.path.isfile(path) and not _is_same(path, output)]


def _find_files(folder: str, named: str | None, output: str, tables: TableOptions) -> list[Source]:
    """The files of a folder and its subfolders, in the order of their names."""
    files = [path for path in files_of(folder) if not _is_same(path, output)]
    known = [path for path in files if named or _is_known(path)]
    if not known:
        raise ConfigError(
            f"{folder}: expected files with a suffix of {' '.join(_KNOWN)} ({AND_COMPRESSED}), "
            f"got {_count_suffixes(files)}"
        )
    note_skipped(folder, set(files) - set(known))
    return [_make_source(str(path), named, tables) for path in known]


def _is_known(path: Path) -> bool:
    return suffix_of(path) in _KNOWN and SPANS not in path.name.lower()


def _is_same(path: str | Path, output: str) -> bool:
    """Whether writing the output would replace the file; pipes and devices are not replaced."""
    path, output = (str(each).removeprefix("file://") for each in (path, output))
    if STANDARD in (path, output) or is_url(output):
        return path == output != STANDARD
    return os.path.isfile(path) and os.path.isfile(output) and os.path.samefile(path, output)


def _count_suffixes(files: Collection[Path]) -> str:
    suffixes = " ".join(sorted({suffix_of(path) or "no suffix" for path in files}))
    return f"{len(files)} file{'s' * (len(files) != 1)}{f' ({suffixes})' if files else ''}"


def _make_source(path: str, named: str | None, tables: TableOptions) -> Source:
    suffix = suffix_of(path)
    if named is None and suffix in _OFFICE:
        what, fix = _OFFICE[suffix]
        raise ConfigError(f"{path}: {what} ({suffix}) are not read; save {fix}")
    # Pipes and devices have no suffix, as standard input has none.
    name = path if os.path.isfile(path) or is_url(path) else STANDARD
    if named is None and suffix_of(name) in _HTML:
        return Source(path, TEXT, sure=True, layout=Layout(html=True))
    format = format_of(name, named, formats=FROM, suffixes=_KNOWN, default=TEXT, option="--from")
    table = None
    if format in _ROWS or (format == "jsonl" and _has_texts(path, tables)):
        table = Input(path, format, **_as_keywords(tables))
    return Source(path, format, sure=named is not None, table=table)


def _as_keywords(tables: TableOptions) -> dict[str, Any]:
    return {each.name: getattr(tables, each.name) for each in fields(tables)}


def _has_texts(path: str, tables: TableOptions) -> bool:
    """Whether the objects of a .jsonl file are documents, not sentences with their words."""
    if tables.text_column is not None:
        return True
    if path == STANDARD or not (os.path.isfile(path) or is_url(path)):
        return False
    lines = read_lines(path, encoding=tables.encoding, option="--encoding")
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


def _completed(source: Source, encoding: str | None, layout: Layout) -> Source:
    html = source.layout.html or layout.html
    layout = Layout(html, layout.one_sentence_per_line)
    return replace(source, encoding=encoding, layout=layout)


def _check_options(sources: Sequence[Source], layout: Layout, tables: TableOptions) -> None:
    """Refuse options of raw text where there is none, and of tables where there are none."""
    flags = {"--html": layout.html, "--one-sentence-per-line": layout.one_sentence_per_line}
    columns = {"--text-column": tables.text_column, "--id-column": tables.id_column}
    for given, expected, is_right in (
        (flags, "raw text", lambda source: source.is_text),
        (columns, "a table (csv, tsv, jsonl, parquet)", lambda source: source.table is not None),
    ):
        if not any(map(is_right, sources)):
            for flag in (flag for flag, value in given.items() if value):
                raise ConfigError(f"{flag}: expected {expected}, got {_described(sources[0])}")


def _described(source: Source) -> str:
    shown = source.name if source.text is None else f"{source.text!r:.40}"
    return f"{source.format} ({shown})"


def _check_argument(text: str, named: str | None) -> None:
    if named not in (None, TEXT):
        raise ConfigError(f"--from {named}: expected files, got the text {text[:40]!r}")
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
    if suffix_of(given) in _KNOWN or "/" in given or glob.has_magic(given):
        raise ConfigError(f"{given}: no such file")
    write = (
        f"capsrl label {shlex.quote(' '.join(inputs))}"
        if unquoted
        else (f"echo {shlex.quote(given)} | capsrl label")
    )
    raise ConfigError(f"{given}: no such file; to label the words themselves write: {write}")
