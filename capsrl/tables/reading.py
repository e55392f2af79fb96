"""Documents, which are texts to label, and what the files that have them share; see `documents`.

A row that has no text or cannot be read becomes a Document with an error, in its place.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from capsrl.errors import ConfigError, DataError, unreadable
from capsrl.files.compression import damages
from capsrl.files.opening import find_encoding, name_of, open_binary
from capsrl.tables.records import (
    ENCODING,
    NO_TEXT,
    SURROGATE,
    TOO_LONG,
    Fault,
    InputRecord,
    without_surrogates,
)

MAX_CHARACTERS = 1_000_000  # of a document: some 10,000 sentences, all of which are held at a time
_SHOWN_NAMES = 10  # columns that a message names


@dataclass(frozen=True, slots=True)
class Document:
    """A text to label, and where it comes from.

    id       the value of the id column; by default the file, and the number of the row if it has
             several: reviews.csv:12
    text     None if there is none, because of a fault
    columns  the other columns of its row
    place    where it is, for messages: "reviews.csv, row 12" or "reviews.jsonl:12"
    fault    why it cannot be labeled; None if it can
    number   of its row in the file, from 0
    offset   of its first byte in the decompressed file; None where that is not known
    """

    id: str
    text: str | None
    columns: Mapping[str, object] = field(default_factory=dict)
    place: str = ""
    fault: Fault | None = None
    number: int = field(default=0, compare=False)
    offset: int | None = field(default=None, compare=False)

    @property
    def error(self) -> str | None:
        """Why it cannot be labeled: "expected ..., got ..."; None if it can."""
        return self.fault and self.fault.reason


@dataclass(frozen=True, slots=True)
class FilePart:
    """Some rows of a file, which can be read without parsing those before: `Input.documents(part)`.

    first   number of the first row, from 0
    stop    number of the row after the last; None for all from the first on. Some may be blank
            lines, which are not documents
    offset  the byte at which the first row begins in the decompressed file; None for Parquet,
            which has row groups, and for encodings such as UTF-16, which are read from the start
    path    of the file
    size    of the whole file in bytes, if it is known; another size means that it has changed
    count   of its documents, if it is known
    """

    first: int = 0
    stop: int | None = None
    offset: int | None = None
    path: str = ""
    size: int | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read documents.

    format          one of DOCUMENT_FORMATS; by default that of the suffix
    text_column     the column with the texts; by default "text"
    id_column       the column with the ids; by default "id" if there is one
    encoding        of the file; by default UTF-8
    max_characters  longer texts are errors
    """

    format: str | None = None
    text_column: str | None = None
    id_column: str | None = None
    encoding: str | None = None
    max_characters: int = MAX_CHARACTERS


class Input(ABC):
    """A file of documents; each format has a class, which `make_input` chooses.

    path  the name of a file, a URL, or - for standard input
    """

    _before_number = ", row "  # in places: reviews.csv, row 12

    def __init__(self, path: str, format: str, options: ReadOptions) -> None:
        self.path, self.format = path, format
        self._codec = find_encoding(options.encoding or "utf-8")
        self._text_column = options.text_column or "text"
        self._id_column = options.id_column
        self._max_characters = options.max_characters

    @property
    def name(self) -> str:
        """The path as it is in ids."""
        return name_of(self.path).strip("<>")

    def documents(self, part: FilePart | None = None) -> Iterator[Document]:
        """Yield the documents of the file, or those of a part of it.

        Raises DataError for a file that cannot be read, ConfigError if it has no column of texts.
        """
        part = part or FilePart()
        with self._reading() as file:
            for record in self._records(file, part):
                if part.stop is not None and record.number >= part.stop:
                    return
                yield self._document(record)

    def parts(self, size: int) -> Iterator[FilePart]:
        """Yield parts of `size` rows; reads the file once, but of Parquet only the metadata."""
        first = last = count = 0
        offset = None
        with self._reading() as file:
            for record in self._starts(file):
                if not count or record.number >= first + size:
                    if count:
                        yield FilePart(first, last + 1, offset, self.path, count=count)
                    first, offset, count = record.number, record.offset, 0
                last = record.number
                count += 1
        if count:
            yield FilePart(first, last + 1, offset, self.path, count=count)

    def column_types(self, used: Container[str] | None = None) -> dict[str, Any]:
        """The other columns, which `Document.columns` may have, and their types.

        The types of Parquet are those of pyarrow, all others are "string". JSON lines have no
        header: their columns are the keys of the first 1,000 lines.

        used  those that the caller is going to use; default: all
        Raises ConfigError if the file has two columns of the name of one that is used.
        """
        with self._reading() as file:
            types = self._all_types(file, used)
        own = self._own(types)
        return {name: type for name, type in types.items() if name not in own}

    @abstractmethod
    def _records(self, file: IO[bytes], part: FilePart) -> Iterator[InputRecord]:
        """The records from the first of the part on."""

    def _starts(self, file: IO[bytes]) -> Iterator[InputRecord]:
        """The records, for their numbers and offsets."""
        return self._records(file, FilePart())

    def _all_types(self, file: IO[bytes], used: Container[str] | None) -> dict[str, Any]:
        return {}

    def _fault(self, record: InputRecord) -> Fault | None:
        return record.fault

    def _own(self, names: Iterable[str]) -> tuple[str, ...]:
        """The columns of text and id."""
        has_id = self._id_column is not None or "id" in names
        return (self._text_column, *([self._id_column or "id"] if has_id else []))

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
        except UnicodeError as error:  # UTF-16 without its mark; other bytes are errors of rows
            raise DataError(f"{name_of(self.path)}: not {self._codec} text: {error}") from None
        except OSError as error:
            raise DataError(unreadable(self.path, error)) from None

    def _check_columns(self, names: Sequence[str]) -> None:
        for option, wanted in (("text", self._text_column), ("id", self._id_column)):
            if wanted is not None and wanted not in names:
                alike = [each for each in names if each.lower() == wanted.lower()]
                raise ConfigError(
                    f"{name_of(self.path)}: expected a column {wanted!r} with the {option}s, got "
                    f"{some_names(names)}; name the right one with "
                    f"{' '.join([f'--{option}-column', *alike[:2]])} (in Python {option}_column)"
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
                    f"{name_of(self.path)}: expected one column {name[:40]!r}, got columns "
                    f"{' and '.join(numbers[:3])}; rename one of them{fix}"
                )

    def _document(self, record: InputRecord) -> Document:
        values, number = record.values, record.number + 1
        own = self._own(values)
        given = values.get(own[1]) if len(own) > 1 else None
        id = f"{self.name}:{number}" if given in (None, "") else str(given)
        fault = self._fault(record) or self._text_fault(values)
        return Document(
            without_surrogates(id),
            None if fault else str(values[self._text_column]),
            {without_surrogates(key): _storable(values[key]) for key in values if key not in own},
            f"{name_of(self.path)}{self._before_number}{number}",
            fault,
            record.number,
            record.offset,
        )

    def _text_fault(self, values: Mapping[str, object]) -> Fault | None:
        column = self._text_column
        text = values.get(column)
        if not isinstance(text, str):
            got = (
                type(text).__name__ if text is not None else "null" if column in values else "none"
            )
            return Fault(NO_TEXT, f"expected text in {column!r}, got {got}")
        if len(text) > self._max_characters:
            return self._too_long(f"{len(text):,}")
        if found := SURROGATE.search(text):
            reason = (
                f"expected Unicode text in {column!r}, got the lone surrogate "
                f"\\u{ord(found[0]):04x}, which is half a character"
            )
            return Fault(ENCODING, reason)
        return None

    def _too_long(self, got: str, other_fix: str = "") -> Fault:
        reason = (
            f"expected at most {self._max_characters:,} characters, got {got}; "
            f"split the text{other_fix}, or raise the limit with --max-characters"
        )
        return Fault(TOO_LONG, reason)


def some_names(names: Iterable[str]) -> str:
    """Names of columns for a message, which may be very many and very long."""
    found = list(names)
    shown = ", ".join(f"{name[:40]!r}" for name in found[:_SHOWN_NAMES]) or "none"
    return f"{shown} and {n:,} more" if (n := len(found) - _SHOWN_NAMES) > 0 else shown


def _storable(value: object) -> object:
    """The value as any format can hold it: without lone surrogates, null for NaN and infinity."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, dict):
        return {without_surrogates(str(key)): _storable(each) for key, each in value.items()}
    return value
