"""Find and read files of documents: tables with a column of texts, text files, lines of text.

csv      .csv                  with a header; , ; tab or | between the cells
tsv      .tsv                  the same with tabs
jsonl    .jsonl .ndjson        one JSON object per line with a key for the text
parquet  .parquet              read by row groups; needs pyarrow
text     .txt                  a document per file
lines    by name               a document per line

Files may be compressed (.gz .xz .bz2 .zst) and may be URLs (s3://bucket/file), which fsspec opens.
"""

import errno
import glob
import os
import stat
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NoReturn

from capsrl.errors import ConfigError, DataError
from capsrl.files.compression import AND_COMPRESSED
from capsrl.files.opening import STANDARD, name_of, suffix_of
from capsrl.files.remote import file_system_of, is_url
from capsrl.formats.phrase_file import PHRASES_SUFFIX
from capsrl.tables.parquet import open_parquet, parquet_records
from capsrl.tables.reading import MAX_CHARACTERS, Document, FilePart, Input, ReadOptions
from capsrl.tables.records import (
    ESCAPE,
    CsvReader,
    Fault,
    InputRecord,
    Lines,
    bad_byte,
    json_records,
    line_records,
    without_surrogates,
)

DOCUMENT_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
_FIRST_KEYS = 1_000  # lines of JSON whose keys are the columns


class CsvInput(Input):
    """A document per row of a CSV or TSV file."""

    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        return self._reader(file).records(first=part.first, offset=part.offset)

    def _all_types(self, file: IO[bytes], used: Container[str] | None) -> dict[str, Any]:
        reader = self._reader(file)
        self._check_repeated(reader.header, used)
        return dict.fromkeys(reader.known, "string")

    def _fault(self, record: InputRecord) -> Fault | None:
        if record.fault is None:
            for name, value in record.values.items():
                if found := bad_byte(str(value), self._codec):
                    return Fault(found.kind, f"column {name!r}: {found.reason}")
        return record.fault

    def _reader(self, file: IO[bytes]) -> CsvReader:
        wanted = [self._text_column, *([self._id_column] if self._id_column else [])]
        delimiter = "\t" if self.format == "tsv" else None
        reader = CsvReader(Lines(file, self._codec), wanted, delimiter)
        if not reader.header:
            got = "an empty file" if reader.is_empty else "carriage returns as line ends"
            fix = "" if reader.is_empty else r"; convert them, as with tr '\r' '\n'"
            raise ConfigError(
                f"{name_of(self.path)}: expected a header with a column {self._text_column!r}, got "
                f"{got}{fix}"
            )
        for name in reader.names:
            if found := bad_byte(name, self._codec):
                raise DataError(f"{name_of(self.path)}: header: {found.reason}")
        self._check_columns(reader.known)
        self._check_repeated(reader.header, self._own(reader.names))
        return reader


class LinesInput(Input):
    """A document per line of a text file."""

    _before_number = ":"

    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        lines = Lines(file, self._codec)
        return line_records(lines, first=part.first, offset=part.offset)

    def _fault(self, record: InputRecord) -> Fault | None:
        return record.fault or bad_byte(str(record.values["text"]), self._codec)


class JsonInput(Input):
    """A document per line of JSON."""

    _before_number = ":"

    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        lines = Lines(file, self._codec)
        for record in json_records(lines, self._codec, first=part.first, offset=part.offset):
            # If the first has no such keys, the user has named the wrong ones.
            if record.number == 0 and record.fault is None:
                self._check_columns(list(record.values))
            yield record

    def _starts(self, file: IO[bytes]) -> Iterator[InputRecord]:
        return line_records(Lines(file, self._codec))  # without parsing them

    def _all_types(self, file: IO[bytes], used: Container[str] | None) -> dict[str, Any]:
        records = islice(json_records(Lines(file, self._codec), self._codec), _FIRST_KEYS)
        return {without_surrogates(key): "string" for record in records for key in record.values}


class ParquetInput(Input):
    """A document per row of a Parquet file."""

    def parts(self, size: int) -> Iterator[FilePart]:
        """Yield parts of `size` rows; reads only the metadata."""
        with self._reading() as file:
            n = self._open(file).metadata.num_rows
        for first in range(0, n, size):
            stop = min(first + size, n)
            yield FilePart(first, stop, None, self.path, count=stop - first)

    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        return parquet_records(self._open(file), self.path, first=part.first)

    def _all_types(self, file: IO[bytes], used: Container[str] | None) -> dict[str, Any]:
        schema = self._open(file).schema_arrow
        self._check_repeated(schema.names, used)
        return {each.name: each.type for each in schema}

    def _open(self, file: IO[bytes]) -> Any:  # noqa: ANN401
        parquet = open_parquet(file, self.path)
        names = parquet.schema_arrow.names
        self._check_columns(names)
        self._check_repeated(names, self._own(names))
        return parquet


class TextInput(Input):
    """One document: a text file."""

    def parts(self, size: int) -> Iterator[FilePart]:
        """Yield the whole file as one part."""
        yield FilePart(0, 1, 0, self.path, count=1)

    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        limit = self._max_characters * 8 + 8  # bytes; no encoding needs more for a line end
        raw = file.read(limit)
        text = raw.decode(self._codec, ESCAPE).removeprefix("\ufeff").replace("\r\n", "\n")
        values = {self._text_column: text}
        # First whether it is too long: the last bytes may then be half a character.
        fault = self._too_long("more") if len(raw) == limit else bad_byte(text, self._codec)
        yield InputRecord(0, 0, values, fault)

    def _document(self, record: InputRecord) -> Document:
        fault = record.fault or self._text_fault(record.values)
        text = None if fault else str(record.values[self._text_column])
        id, place = without_surrogates(self.name), name_of(self.path)
        return Document(id, text, {}, place, fault, offset=record.offset)

    def _too_long(self, got: str, other_fix: str = "") -> Fault:
        return super()._too_long(got, ", take each line as a text with --from lines")


_CLASSES: dict[str, type[Input]] = {
    "csv": CsvInput,
    "tsv": CsvInput,
    "jsonl": JsonInput,
    "parquet": ParquetInput,
    "text": TextInput,
    "lines": LinesInput,
}
DOCUMENT_FORMATS = tuple(_CLASSES)


def make_input(path: str | Path, options: ReadOptions | None = None) -> Input:
    """How to read a file; raises ConfigError for an unknown format or encoding."""
    path, options = str(path), options or ReadOptions()
    format = options.format or _format_of(path)
    if format not in _CLASSES:
        raise ConfigError(f"{path}: expected one of {', '.join(DOCUMENT_FORMATS)}, got {format}")
    if path == STANDARD and format == "parquet":
        raise ConfigError("-: Parquet is not read from standard input; write it to a file")
    return _CLASSES[format](path, format, options)


def read_documents(
    path: str | Path,
    *,
    format: str | None = None,
    text_column: str | None = None,
    id_column: str | None = None,
    encoding: str | None = None,
    max_characters: int = MAX_CHARACTERS,
    first: int = 0,
    count: int | None = None,
    offset: int | None = None,
) -> Iterator[Document]:
    """Yield the documents of a file one at a time; the first five keywords are `ReadOptions`.

    first   number of the first row to read, from 0
    count   rows to read; default: all
    offset  the byte at which the first row begins, if it is known; see `FilePart`
    """
    options = ReadOptions(format, text_column, id_column, encoding, max_characters)
    stop = None if count is None else first + count
    return make_input(path, options).documents(FilePart(first, stop, offset))


def find_inputs(
    paths: Iterable[str | Path],
    *,
    suffixes: Collection[str] | None = DOCUMENT_SUFFIXES.keys(),
    is_output: Callable[[str], bool] = lambda path: False,
    report_skipped: Callable[[str, Sequence[str]], None] = lambda path, files: None,
) -> list[str]:
    """Find the files that paths stand for: files, folders, patterns with * ? [, and URLs.

    The files of a folder and its subfolders are those with a known suffix, in the order of their
    names; those that begin with a dot are left out, and so are files of phrases (.spans.tsv).

    suffixes        those of files to read in folders and patterns; None for all
    is_output       whether a file is written by this command, so that it is not read
    report_skipped  is called with a folder or pattern and its files of other suffixes, if any
    Raises ConfigError for a path that stands for no file.
    """
    found: list[str] = []
    only_output = ""
    for path in map(str, paths):
        files = [path] if path == STANDARD else _find_remote(path) if is_url(path) else _find(path)
        others = [file for file in files if not is_output(file)]
        if files and not others:
            only_output = path
            continue
        is_named = files == [path]  # then it may have any suffix
        known = [each for each in others if suffixes is None or _is_known(each, suffixes)]
        if not is_named and not known:
            if not files and not os.path.isdir(path) and not is_url(path):
                what = "no file matches" if glob.has_magic(path) else "no such file"
                raise ConfigError(f"{path}: {what}")
            raise ConfigError(
                f"{path}: expected files with a suffix of {' '.join(suffixes or ())} "
                f"({AND_COMPRESSED}), got {count_suffixes(files)}"
            )
        if not is_named and len(known) < len(others):
            report_skipped(path, sorted({*others} - {*known}))
        found += others if is_named else known
    if only_output and not found:
        raise ConfigError(f"{only_output}: there are no files to label besides the output")
    return found


def count_suffixes(files: Collection[str]) -> str:
    """The number of files and their suffixes, for messages."""
    suffixes = " ".join(sorted({suffix_of(path) or "no suffix" for path in files})[:20])
    return f"{len(files)} file{'s' * (len(files) != 1)}{f' ({suffixes})' if files else ''}"


def _is_known(path: str, suffixes: Collection[str]) -> bool:
    return suffix_of(path, long=(PHRASES_SUFFIX,)) in suffixes


def _find(path: str) -> list[str]:
    """The files of a folder, or of what a pattern stands for, or the path itself.

    A pipe or device must be named: one among many files may block, or never end.
    """
    matches = [path]
    if not os.path.exists(path):
        found = sorted(glob.glob(path, recursive=True))
        matches = [each for each in found if os.path.isdir(each) or _is_file(Path(each))]
    files = ([*map(str, files_of(each))] if os.path.isdir(each) else [each] for each in matches)
    return [*chain.from_iterable(files)]


def files_of(folder: str) -> list[Path]:
    """The files of a folder and its subfolders, in the order of their names, but for hidden ones.

    Links to folders are not followed, since they may lead back.
    Raises DataError for a subfolder that cannot be read, whose files would be missed.
    """

    def refuse(error: OSError) -> NoReturn:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}")

    found: list[Path] = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(place, name) for name in files if not name.startswith(".")]
    try:
        return sorted(file for file in found if _is_file(file))
    except OSError as error:  # a folder that can be listed but not entered
        refuse(error)


def _is_file(path: Path) -> bool:
    """As `Path.is_file`, which from Python 3.14 on does not tell missing rights from no file."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR):  # of a link
            return False
        raise


def _find_remote(url: str) -> list[str]:
    system, path = file_system_of(url)
    system.invalidate_cache()  # of listings
    if any(mark in path for mark in "*?["):
        matches = sorted(system.glob(path))
    elif system.isdir(path):
        matches = [file for file in sorted(system.find(path)) if not _is_hidden(file[len(path) :])]
    else:
        return [url]
    return [str(system.unstrip_protocol(match)) for match in matches]


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _format_of(path: str) -> str:
    found = DOCUMENT_SUFFIXES.get(suffix_of(path))
    if found is None:
        got = "standard input" if path == STANDARD else suffix_of(path) or "none"
        raise ConfigError(
            f"{path}: expected a suffix of {' '.join(DOCUMENT_SUFFIXES)}, got {got}; "
            f"name the format: {', '.join(DOCUMENT_FORMATS)}"
        )
    return found
