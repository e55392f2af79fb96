"""Read documents: the rows of tables with a column of texts, text files, and lines of text.

csv      .csv                  with a header; , ; tab or | between the cells
tsv      .tsv                  the same with tabs
jsonl    .jsonl .ndjson        one JSON object per line with a key for the text
parquet  .parquet              read by row groups; needs pyarrow
text     .txt                  a document per file
lines    by name               a document per line

Files may be compressed (.gz .xz .bz2 .zst) and may be URLs (s3://bucket/file), which fsspec opens.
A row that has no text or cannot be read becomes a Document with an error, in its place.
"""

import errno
import glob
import math
import os
import stat
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NoReturn

from capsrl.errors import ConfigError, DataError
from capsrl.files.compression import damages
from capsrl.files.opening import (
    STANDARD,
    find_encoding,
    name_of,
    open_binary,
    suffix_of,
)
from capsrl.files.remote import file_system_of, is_url
from capsrl.tables.parquet import open_parquet, parquet_rows
from capsrl.tables.records import (
    ESCAPE,
    SURROGATE,
    CsvReader,
    Lines,
    Row,
    bad_byte,
    json_rows,
    line_rows,
    without_surrogates,
)

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
FORMATS = ("csv", "tsv", "jsonl", "parquet", "text", "lines")
MAX_CHARACTERS = 1_000_000  # of a document: some 10,000 sentences, all of which are held at a time
_FIRST_KEYS = 1_000  # lines of JSON whose keys are the columns


@dataclass(frozen=True, slots=True)
class Document:
    """A text to label, and where it comes from.

    id       the value of the id column; by default the file, and the number of the row if it has
             several: reviews.csv:12
    text     None if there is none, because of an error
    columns  the other columns of its row
    place    where it is, for messages: "reviews.csv, row 12" or "reviews.jsonl:12"
    error    why it cannot be labeled: "expected ..., got ..."; None if it can
    """

    id: str
    text: str | None
    columns: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a file, which can be read without parsing those before: `Input.documents(part)`.

    first   number of the first row, from 0
    count   number of rows; some may be blank lines, which are not documents
    offset  the byte at which the first row begins in the decompressed file; None for Parquet,
            which has row groups, and for encodings such as UTF-16, which are read from the start
    """

    first: int
    count: int
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """A file of documents and how to read it; raises ConfigError for an unknown format.

    path            the name of a file, a URL, or - for standard input
    format          one of FORMATS; by default that of the suffix
    text_column     the column with the texts; by default "text"
    id_column       the column with the ids; by default "id" if there is one
    encoding        of the file; by default UTF-8
    max_characters  longer texts are errors
    """

    path: str
    format: str | None = None
    text_column: str | None = None
    id_column: str | None = None
    encoding: str | None = None
    max_characters: int = MAX_CHARACTERS

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(self.path))
        object.__setattr__(self, "format", self.format or _format_of(self.path))
        if self.format not in FORMATS:
            raise ConfigError(
                f"{self.path}: expected one of {', '.join(FORMATS)}, got {self.format}"
            )
        if self.path == STANDARD and self.format == "parquet":
            raise ConfigError("-: expected a Parquet file, got standard input; write it to a file")
        find_encoding(self.encoding or "utf-8")

    @property
    def name(self) -> str:
        """The path as it is in ids."""
        return name_of(self.path).strip("<>")

    def documents(self, part: Part | None = None) -> Iterator[Document]:
        """Yield the documents of the file, or those of a part of it.

        Raises DataError for a file that cannot be read, ConfigError if it has no column of texts.
        """
        return (document for _, document in self.numbered(part))

    def numbered(self, part: Part | None = None) -> Iterator[tuple[int, Document]]:
        """Yield the documents as `documents` does, with the numbers of their rows."""
        if self.format == "text":
            yield 0, self._whole_file()
            return
        with self._reading() as file:
            end = None if part is None else part.first + part.count
            for row in self._rows(file, part or Part(0, 0, None)):
                if end is not None and row.number >= end:
                    return
                yield row.number, self._document(row)

    def parts(self, size: int) -> Iterator[Part]:
        """Yield parts of `size` rows; reads the file once, but of Parquet only the metadata."""
        if self.format == "text":
            yield Part(0, 1, 0)
            return
        with self._reading() as file:
            if self.format == "parquet":
                n = self._parquet(file).metadata.num_rows
                yield from (Part(first, min(size, n - first)) for first in range(0, n, size))
                return
            first, offset, last = 0, None, None
            for row in self._starts(file):
                if last is None or row.number >= first + size:
                    if last is not None:
                        yield Part(first, last - first + 1, offset)
                    first, offset = row.number, row.offset
                last = row.number
            if last is not None:
                yield Part(first, last - first + 1, offset)

    def column_types(self, used: Container[str] | None = None) -> dict[str, Any]:
        """The other columns, which `Document.columns` may have, and their types.

        The types of Parquet are those of pyarrow, all others are "string". JSON lines have no
        header: their columns are the keys of the first 1,000 lines.

        used  those that the caller is going to use; default: all
        Raises ConfigError if the file has two columns of the name of one that is used.
        """
        if self.format in ("text", "lines"):
            return {}
        types: dict[str, Any] = {}
        with self._reading() as file:
            if self.format == "parquet":
                schema = self._parquet(file).schema_arrow
                types = {each.name: each.type for each in schema}
                self._check_repeated(schema.names, used)
            elif self.format == "jsonl":
                rows = islice(json_rows(self._lines(file), self._codec), _FIRST_KEYS)
                types = {without_surrogates(name): "string" for row in rows for name in row.values}
            else:
                reader = self._csv(file)
                types = dict.fromkeys(reader.known, "string")
                self._check_repeated(reader.header, used)
        return {name: types[name] for name in types if name not in self._own(types)}

    @property
    def _codec(self) -> str:
        return find_encoding(self.encoding or "utf-8")

    @property
    def _text_name(self) -> str:
        return self.text_column or "text"

    def _own(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of text and id."""
        has_id = self.id_column is not None or "id" in names
        return (self._text_name, *([self.id_column or "id"] if has_id else []))

    @contextmanager
    def _reading(self) -> Iterator[IO[bytes]]:
        try:
            with open_binary(self.path) as file:
                yield file
        except damages() as error:
            raise DataError(
                f"{self.path}: expected more compressed data, got "
                f"{str(error) or type(error).__name__}; the file is damaged or cut short"
            ) from None
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror or error}") from None

    def _lines(self, file: IO[bytes]) -> Lines:
        return Lines(file, self._codec)

    def _rows(self, file: IO[bytes], part: Part) -> Iterator[Row]:
        if self.format == "parquet":
            return parquet_rows(self._parquet(file), self.path, first=part.first)
        first, offset = part.first, part.offset
        if self.format == "lines":
            return line_rows(self._lines(file), first=first, offset=offset)
        if self.format == "jsonl":
            rows = json_rows(self._lines(file), self._codec, first=first, offset=offset)
            return self._checked(rows)
        return self._csv(file).rows(first=first, offset=offset)

    def _starts(self, file: IO[bytes]) -> Iterator[Row]:
        """The rows of a file, for their numbers and offsets; JSON is not parsed."""
        if self.format in ("lines", "jsonl"):
            return line_rows(self._lines(file))
        return self._csv(file).rows()

    def _parquet(self, file: IO[bytes]) -> Any:  # noqa: ANN401
        parquet = open_parquet(file, self.path)
        names = parquet.schema_arrow.names
        self._check_columns(names)
        self._check_repeated(names, self._own(names))
        return parquet

    def _csv(self, file: IO[bytes]) -> CsvReader:
        wanted = [self._text_name, *([self.id_column] if self.id_column else [])]
        delimiter = "\t" if self.format == "tsv" else None
        reader = CsvReader(self._lines(file), wanted, delimiter)
        if not reader.header:
            got = "an empty file" if reader.is_empty else "carriage returns as line ends"
            fix = "" if reader.is_empty else r"; convert them, as with tr '\r' '\n'"
            raise ConfigError(
                f"{name_of(self.path)}: expected a header with a column {self._text_name!r}, got "
                f"{got}{fix}"
            )
        for name in reader.names:
            if found := bad_byte(name, self._codec):
                raise DataError(f"{name_of(self.path)}: header: {found}")
        self._check_columns(reader.known)
        self._check_repeated(reader.header, self._own(reader.names))
        return reader

    def _checked(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows of JSON lines; the first must have the keys, or those named are wrong."""
        for row in rows:
            if row.number == 0 and row.error is None:
                self._check_columns(list(row.values))
            yield row

    def _check_columns(self, names: Sequence[str]) -> None:
        for option, wanted in (("text", self._text_name), ("id", self.id_column)):
            if wanted is not None and wanted not in names:
                alike = "".join(f" {each}" for each in names if each.lower() == wanted.lower())
                raise ConfigError(
                    f"{name_of(self.path)}: expected a column {wanted!r} with the {option}s, got "
                    f"{', '.join(map(repr, names)) or 'none'}; name the right one with "
                    f"--{option}-column{alike} (in Python {option}_column)"
                )

    def _check_repeated(self, names: Sequence[str], used: Container[str] | None) -> None:
        """Refuse two columns of one name if that is used; None: all but empty names are."""
        columns: dict[str, list[str]] = {}
        for number, name in enumerate(names, start=1):
            columns.setdefault(name, []).append(str(number))
        for name, numbers in columns.items():
            if len(numbers) > 1 and name and (used is None or name in used):
                is_own = name in self._own(names)
                fix = "" if is_own else ", or name the columns to keep: --columns NAMES"
                raise ConfigError(
                    f"{name_of(self.path)}: expected one column {name!r}, got columns "
                    f"{' and '.join(numbers)}; rename one of them{fix}"
                )

    def _document(self, row: Row) -> Document:
        own = self._own(row.values)
        columns = {name: value for name, value in row.values.items() if name not in own}
        number = row.number + 1
        by_line = self.format in ("lines", "jsonl")
        place = f"{name_of(self.path)}{':' if by_line else ', row '}{number}"
        given = row.values.get(own[1]) if len(own) > 1 else None
        id = without_surrogates(f"{self.name}:{number}" if given in (None, "") else str(given))
        error = row.error or self._bad_cell(row.values)
        text = row.values.get(self._text_name)
        error = error or self._text_error(text, self._text_name in row.values)
        clean = {without_surrogates(name): _clean(value) for name, value in columns.items()}
        return Document(id, None if error else str(text), clean, place, error)

    def _bad_cell(self, values: Mapping[str, object]) -> str | None:
        if self.format in ("parquet", "jsonl"):  # JSON has been checked before it was parsed
            return None
        for name, value in values.items():
            if isinstance(value, str) and (found := bad_byte(value, self._codec)):
                return found if self.format == "lines" else f"column {name!r}: {found}"
        return None

    def _text_error(self, text: object, is_there: bool) -> str | None:
        if not isinstance(text, str):
            got = type(text).__name__ if text is not None else "null" if is_there else "none"
            return f"expected text in {self._text_name!r}, got {got}"
        if len(text) > self.max_characters:
            return self._length_error(f"{len(text):,}")
        if found := SURROGATE.search(text):
            return (
                f"expected Unicode text in {self._text_name!r}, got the lone surrogate "
                f"\\u{ord(found[0]):04x}, which is half a character"
            )
        return None

    def _length_error(self, got: str) -> str:
        lines = ", take each line as a text with --from lines" if self.format == "text" else ""
        return (
            f"expected at most {self.max_characters:,} characters, got {got}; "
            f"split the text{lines}, or raise the limit with --max-characters"
        )

    def _whole_file(self) -> Document:
        limit = self.max_characters * 8 + 8  # bytes; no encoding needs more for a line end
        with self._reading() as file:
            raw = file.read(limit)
        decoded = raw.decode(self._codec, ESCAPE).removeprefix("\ufeff").replace("\r\n", "\n")
        error: str | None
        if len(raw) == limit:  # before its bytes: the last ones may be half a character
            error = self._length_error("more")
        else:
            error = bad_byte(decoded, self._codec) or self._text_error(decoded, True)
        text = None if error else decoded
        return Document(without_surrogates(self.name), text, {}, name_of(self.path), error)


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
    """Yield the documents of a file one at a time; the keywords are those of `Input` and `Part`.

    first, count, offset  read only these rows, see `Part`; default: all
    """
    source = Input(str(path), format, text_column, id_column, encoding, max_characters)
    if first == 0 and count is None and offset is None:
        return source.documents()
    return source.documents(Part(first, _ALL if count is None else count, offset))


_ALL = 1 << 62  # more rows than there are


def find_inputs(paths: Iterable[str | Path], *, suffixes: Sequence[str] = ()) -> list[str]:
    """Find the files that paths stand for: files, folders, patterns with * ? [, and URLs.

    The files of a folder and its subfolders are those with a known suffix, in the order of their
    names; those that begin with a dot are left out.

    suffixes  known suffixes besides those of SUFFIXES
    Raises ConfigError for a path that stands for no file.
    """
    known = (*SUFFIXES, *suffixes)
    found: list[str] = []
    for path in map(str, paths):
        if path == STANDARD or (not is_url(path) and os.path.isfile(path)):
            found.append(path)
            continue
        files = _find_remote(path) if is_url(path) else _find_local(path)
        chosen = [file for file in files if suffix_of(file) in known] if files != [path] else files
        if not (files or is_url(path) or os.path.exists(path) or glob.has_magic(path)):
            raise ConfigError(f"{path}: no such file")
        if not chosen:
            raise ConfigError(
                f"{path}: expected a file, or a folder or pattern of files with a suffix of "
                f"{' '.join(known)}, got {'none of them' if files else 'no file'}"
            )
        found += chosen
    return found


def _find_local(path: str) -> list[str]:
    matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    found: list[str] = []
    for match in matches:
        if not os.path.isdir(match):
            found.append(match)
            continue
        found += map(str, files_of(match))
    return found


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
    """What `Path.is_file` tells, which from Python 3.14 on takes no rights for no file."""
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
    found = SUFFIXES.get(suffix_of(path))
    if found is None:
        got = "standard input" if path == STANDARD else suffix_of(path) or "none"
        raise ConfigError(
            f"{path}: expected a suffix of {' '.join(SUFFIXES)}, got {got}; "
            f"name the format: {', '.join(FORMATS)}"
        )
    return found


def _clean(value: object) -> object:
    """The value as any format can hold it: without lone surrogates, null for NaN and infinity."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {without_surrogates(str(key)): _clean(each) for key, each in value.items()}
    return value
