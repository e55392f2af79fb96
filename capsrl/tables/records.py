"""Read the records of CSV files, JSON lines and text lines, with the byte at which each begins.

A record that cannot be read has a fault, and reading goes on at the next line: one bad record of a
large file should not lose the others. Reading can start at any record whose byte is known.
"""

import codecs
import csv
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import TextIOWrapper
from itertools import chain, count
from typing import IO, Any, NamedTuple

from capsrl.files.opening import MAX_LINE, guess_encoding, has_byte_lines

DELIMITERS = (",", ";", "\t", "|")
_SKIP = 1 << 16  # bytes that are skipped at a time in a file that cannot seek
ESCAPE = "capsrl.escape"  # how undecodable bytes are read: as lone surrogates
_BAD_BYTE = re.compile("[\udc00-\udcff]")  # these surrogates
_SEPARATOR = re.compile(r"sep=(.)\s*")  # a line that Excel puts before the header
SURROGATE = re.compile("[\ud800-\udfff]")  # a half of a character, without the other half


class Fault(NamedTuple):
    """Why a record or a document cannot be labeled.

    kind    NO_TEXT, ENCODING, TOO_LONG or BAD_ROW, for counting; bulk has FAILED too
    reason  for users: "expected ..., got ..."
    """

    kind: str
    reason: str


NO_TEXT, ENCODING, TOO_LONG, BAD_ROW = "no text", "encoding", "too long", "bad row"


@dataclass(frozen=True, slots=True)
class InputRecord:
    """One row of a table, or one line.

    number  counted from 0, without the header
    offset  of its first byte in the decompressed file; None where that is not known
    values  by the names of the columns
    fault   what is wrong with it, if anything is
    """

    number: int
    offset: int | None
    values: Mapping[str, object] = field(default_factory=dict)
    fault: Fault | None = None


class _Line(NamedTuple):
    """One line with its line end; undecodable bytes are lone surrogates."""

    text: str
    offset: int | None
    is_cut: bool


class Lines(Iterator[_Line]):
    """The lines of a binary file in some encoding.

    Lines that are longer than MAX_LINE are cut; their rest is skipped.
    """

    def __init__(self, file: IO[bytes], codec: str) -> None:
        self._file = file
        self._codec = codec
        self._decoded = None if has_byte_lines(codec) else _lines_of_text(file, codec)
        self.position = 0  # in bytes; without meaning for encodings without byte lines

    def skip_to(self, offset: int) -> None:
        """Go to a byte that is not before the current position."""
        if self._file.seekable():
            self._file.seek(offset)
        else:
            while (left := offset - self.position) > 0 and (
                data := self._file.read(min(left, _SKIP))
            ):
                self.position += len(data)
        self.position = offset

    def __next__(self) -> _Line:
        if self._decoded is not None:
            return next(self._decoded)
        offset = self.position
        raw = self._file.readline(MAX_LINE)
        if not raw:
            raise StopIteration
        self.position += len(raw)
        is_cut = False
        if raw[-1:] != b"\n":
            n_skipped = _skip_line(self._file)
            self.position += n_skipped
            is_cut = n_skipped > 0
        text = raw.decode(self._codec, ESCAPE)
        return _Line(text if offset else text.removeprefix("\ufeff"), offset, is_cut)


def _lines_of_text(file: IO[bytes], codec: str) -> Iterator[_Line]:
    """The lines of a file in an encoding without byte lines; the file stays open."""
    wrapper = TextIOWrapper(file, codec, ESCAPE, newline="\n")
    try:
        while text := wrapper.readline(MAX_LINE):
            is_cut = text[-1] != "\n" and _skip_line(wrapper) > 0
            yield _Line(text.removeprefix("\ufeff"), None, is_cut)
    finally:
        with suppress(ValueError):  # only the header may have been read, and the file closed
            wrapper.detach()


def _skip_line(file: Any) -> int:  # noqa: ANN401
    """Skip the rest of a line; return its length."""
    n = 0
    while rest := file.readline(MAX_LINE):
        n += len(rest)
        if rest[-1:] in ("\n", b"\n"):
            break
    return n


def _escape_byte(error: UnicodeError) -> tuple[str, int]:
    """Do as `surrogateescape`, but for bytes below 128 too: half a character of UTF-16."""
    assert isinstance(error, UnicodeDecodeError)
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(ESCAPE, _escape_byte)


def bad_byte(text: str, codec: str) -> Fault | None:
    """The fault of text that has undecodable bytes in it."""
    found = _BAD_BYTE.search(text)
    if found is None:
        return None
    raw = text.encode("utf-8", "surrogateescape") if codec == "utf-8" else b""
    guess = guess_encoding(raw) if codec == "utf-8" else "utf-8"
    byte = ord(found[0]) - 0xDC00
    return Fault(
        ENCODING,
        f"expected {codec.upper()} text, got byte 0x{byte:02x}; "
        f"name the encoding, such as --encoding {guess}, or convert the file",
    )


def without_surrogates(text: str) -> str:
    """The text with U+FFFD in the place of lone surrogates, which no file can hold."""
    return SURROGATE.sub("\ufffd", text)


class _Feed(Iterator[str]):
    """The lines of a CSV file for `csv.reader`; those of a bad record are read again.

    A record goes on in the next line only inside quotes. One that begins inside a bad record and
    goes on has therefore the same fault, at the same place. It is not read to that place again,
    which would take quadratic time.
    """

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        # The lines to read again, and the fault of a record that begins there and goes on.
        self._waiting: deque[tuple[_Line, str | None]] = deque()
        self.begin()

    def begin(self) -> None:
        """The next line is the first of a record."""
        self.taken: list[_Line] = []  # the lines of the record
        self._fault: str | None = None
        self._has_ended = False

    def __next__(self) -> str:
        self._has_ended = True
        if self._fault is not None:
            raise StopIteration
        line, self._fault = self._waiting.popleft() if self._waiting else (next(self._lines), None)
        self._has_ended = False
        self.taken.append(line)
        return line.text

    def fail(self, fault: str) -> str:
        """Keep the first line of a bad record only, and read the others again; gives its fault."""
        rest, self.taken = self.taken[1:], self.taken[:1]
        faults: list[str | None] = [fault] * len(rest)
        if rest and not self._has_ended:
            faults[-1] = None  # it has the fault itself
        self._waiting.extendleft(reversed([*zip(rest, faults, strict=True)]))
        return self._fault if self._fault is not None and self._has_ended else fault

    def skip_to(self, offset: int | None) -> None:
        """Begin the records; `offset` is the first byte of the first of them, if it is not next."""
        # Without the faults, which are those that another delimiter had.
        self._waiting = deque((line, None) for line, _ in self._waiting)
        if offset is not None:
            while self._waiting and (self._waiting[0][0].offset or 0) < offset:
                self._waiting.popleft()
            if not self._waiting:
                self._lines.skip_to(offset)


class CsvReader:
    """The records of a CSV file with a header, as the standard csv module reads them, strictly.

    One with a quote in the wrong place is a bad record; the next begins on its second line.
    `header` has its cells, none if it cannot be read; `names` a name for each column that no other
    column has; `known` the names that users may give: the cells, or the numbers of empty ones.

    wanted     the columns that must be in the header, to find out which of DELIMITERS is used
    delimiter  of a file where it is known
    """

    def __init__(self, lines: Lines, wanted: Sequence[str], delimiter: str | None) -> None:
        # The limit of the csv module holds for the whole process, so it is only ever raised.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE))
        self._feed = _Feed(lines)
        texts = self._first_lines(delimiter or ",")
        if texts and (named := _SEPARATOR.fullmatch(texts[0])):
            delimiter = named[1]
            texts = self._first_lines(delimiter)
        found = {mark: _header(texts, mark) for mark in ([delimiter] if delimiter else DELIMITERS)}
        # The delimiter with which the header has all columns, else the most of them.
        self.delimiter = max(
            found, key=lambda mark: (set(wanted) <= set(found[mark]), len(found[mark]))
        )
        self.is_empty = not texts
        self.header = found[self.delimiter]
        self.names = _unique(self.header)
        pairs = zip(self.header, self.names, strict=True)
        self.known = tuple(cell or name for cell, name in pairs)

    def records(self, *, first: int = 0, offset: int | None = None) -> Iterator[InputRecord]:
        """The records from number `first` on; `offset` is the first byte of that, if known."""
        number = 0 if offset is None else first
        self._feed.skip_to(offset)
        while True:
            cells, taken = self._read(self.delimiter)
            if not taken:
                return
            if cells == []:
                continue  # a blank line
            if number >= first:
                yield self._record(cells, taken, number)
            number += 1

    def _first_lines(self, delimiter: str) -> list[str]:
        """The lines of the next record that is not blank."""
        cells, taken = self._read(delimiter)
        while taken and cells == []:
            cells, taken = self._read(delimiter)
        return [line.text for line in taken]

    def _read(self, delimiter: str) -> tuple[list[str] | str, list[_Line]]:
        """The cells of the next record, or what is wrong with it, and its lines."""
        self._feed.begin()
        try:
            cells = next(csv.reader(self._feed, delimiter=delimiter, strict=True), [])
        except csv.Error as error:
            return self._feed.fail(f"expected quotes in pairs, got: {error}"), self._feed.taken
        return cells, self._feed.taken

    def _record(self, cells: list[str] | str, taken: list[_Line], number: int) -> InputRecord:
        offset = taken[0].offset
        if any(line.is_cut for line in taken):
            return InputRecord(number, offset, {}, _too_long())
        if isinstance(cells, str):
            return InputRecord(number, offset, {}, Fault(BAD_ROW, cells))
        fault = None
        if len(cells) != len(self.names):
            found = f"expected {len(self.names)} cells as in the header, got {len(cells)}"
            fault = Fault(BAD_ROW, found)
        return InputRecord(number, offset, dict(zip(self.names, cells, strict=False)), fault)


def _header(lines: list[str], delimiter: str) -> tuple[str, ...]:
    """The cells of the header, without blanks around them."""
    try:
        return tuple(map(str.strip, next(csv.reader(lines, delimiter=delimiter), [])))
    except csv.Error:  # such as lines that end with a carriage return alone
        return ()


def _unique(header: Sequence[str]) -> tuple[str, ...]:
    """The names of the columns; those that are empty or not the first of their name are changed."""
    given = set(header)
    names: dict[str, None] = {}
    for number, cell in enumerate(header, start=1):
        name = cell or f"column_{number}"
        tries = chain([name], (f"{name}.{n}" for n in count(1)))
        free = (each for each in tries if each not in names and (each == cell or each not in given))
        names[next(free)] = None
    return tuple(names)


def _too_long() -> Fault:
    reason = f"expected a line of at most {MAX_LINE:,} bytes, got a longer one; split the text"
    return Fault(TOO_LONG, reason)


def line_records(
    lines: Lines, *, first: int = 0, offset: int | None = None
) -> Iterator[InputRecord]:
    """One record with the value "text" for each line that is not blank; blank ones are counted."""
    if offset is not None:
        lines.skip_to(offset)
    for number, line in enumerate(lines, start=first if offset is not None else 0):
        if number >= first and line.text.strip():
            fault = _too_long() if line.is_cut else None
            yield InputRecord(number, line.offset, {"text": line.text.rstrip("\r\n")}, fault)


def json_records(
    lines: Lines, codec: str, *, first: int = 0, offset: int | None = None
) -> Iterator[InputRecord]:
    """One record for each line that is not blank, with the values of its JSON object."""
    for line in line_records(lines, first=first, offset=offset):
        values: dict[str, object] = {}
        fault = line.fault or bad_byte(str(line.values["text"]), codec)
        if fault is None:
            values, fault = _parse_json(str(line.values["text"]))
        yield InputRecord(line.number, line.offset, values, fault)


def _parse_json(text: str) -> tuple[dict[str, object], Fault | None]:
    problem = f"expected a JSON object, got {text[:40]!r}"
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as reason:
        return {}, Fault(BAD_ROW, f"{problem}: {reason}")
    return (value, None) if isinstance(value, dict) else ({}, Fault(BAD_ROW, problem))
