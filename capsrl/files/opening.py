"""Read and write lines of text: plain and compressed files, standard input and output.

Reading holds one line at a time; files are UTF-8 unless another encoding is named. Writing is
atomic: it goes to a temporary file beside the target, which is renamed at the end, so an error
never leaves half a file or loses the old one.
"""

import codecs
import contextlib
import errno
import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any, TextIO, cast

from capsrl.errors import ConfigError, DataError, unreadable, without_secrets
from capsrl.files.compression import (
    COMPRESSED,
    compress,
    compression_of,
    damages,
    decompress,
    is_known,
)
from capsrl.files.remote import file_system_of, is_url
from capsrl.files.replacing import DISK_FULL, replacing, writing_errors

STANDARD = "-"  # the name of standard input and output on the command line
MAX_LINE = 1 << 24  # bytes of a line, and characters of what is read whole, such as a sentence


def read_lines(
    path: str | Path, *, encoding: str | None = None, option: str | None = None
) -> Iterator[str]:
    """Yield the lines of a file without their line ends; `-` is standard input.

    Lines end only at a newline: words may contain any other Unicode separator. Carriage returns
    before it and a byte-order mark are dropped.

    encoding  any text encoding that Python knows, such as latin-1; UTF-8 by default
    option    the command-line option that names the encoding, for messages
    Raises ConfigError for an unknown encoding, DataError naming the file, and the line if there is
    one, also for a line longer than MAX_LINE. Some lines before the damage in a damaged compressed
    file may have been yielded by then.
    """
    codec = find_encoding(encoding or "utf-8", option or "encoding")
    number = 0
    raw = b""
    try:
        with open_binary(path) as file:
            if not has_byte_lines(codec):
                yield from _lines_of(file, codec, path)
                return
            for number, raw in enumerate(iter(partial(file.readline, MAX_LINE), b""), start=1):
                if len(raw) == MAX_LINE:
                    raise _too_long(path, number)
                if number == 1 and codec == "utf-8":
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                yield raw.rstrip(b"\r\n").decode(codec)
    except UnicodeDecodeError as error:
        raise _wrong_encoding(path, number, raw, error, codec, option) from None
    except UnicodeError as error:  # UTF-16 without its mark
        raise DataError(f"{name_of(path)}: not {codec} text: {error}") from None
    except damages() as error:
        raise DataError(
            f"{name_of(path)}: expected more compressed text after line {number}, "
            f"got {str(error) or type(error).__name__}; the file is damaged or cut short"
        ) from None
    except OSError as error:
        raise DataError(unreadable(name_of(path), error)) from None


@contextlib.contextmanager
def open_binary(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, decompressed; `-` is standard input, which stays open.

    The path may be a URL (s3://bucket/file), which fsspec opens. A compressed file is recognized
    by its content; one that has the suffix of a compression must be compressed with it.
    """
    with _open_raw(path) as file:
        suffix = Path(name_of(path)).suffix.lower()
        found = compression_of(file.peek(8)[:8]) if suffix in COMPRESSED else suffix
        if suffix != found:
            raise DataError(
                f"{name_of(path)}: the content is not {suffix} data; "
                f"remove {suffix} from the name if the file is not compressed"
            )
        content = decompress(file, name_of(path))
        yield content


@contextlib.contextmanager
def open_writer(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for an atomic write: it appears only when the block succeeds.

    `-` is standard output; it, devices and pipes are written directly. A link stays a link, and an
    existing file keeps its permissions. The suffix tells whether the file is compressed.
    Raises DataError if the file cannot be created, the disk is full, or the text is not Unicode.
    """
    check_compression(path)
    is_standard = str(path) == STANDARD
    suffix = "" if is_standard else Path(os.path.realpath(path)).suffix.lower()
    with open_binary_writer(path) as raw, compress(raw, suffix) as packed:
        try:
            with _detached(packed) as text:
                yield text
        except UnicodeEncodeError as error:
            surrogate = ord(error.object[error.start])
            raise DataError(
                f"{'<stdout>' if is_standard else path}: the lone surrogate U+{surrogate:04X} "
                "cannot be written in UTF-8"
            ) from None


@contextlib.contextmanager
def open_binary_writer(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for an atomic write of bytes, as `open_writer` does for text."""
    if is_url(path):
        raise ConfigError(f"{path}: a URL cannot be written; name a local file")
    if str(path) == STANDARD:
        if sys.stdout is None:
            raise ConfigError("standard output is closed; name a file")
        with writing_errors("<stdout>", only=DISK_FULL):
            sys.stdout.flush()
            yield sys.stdout.buffer
    elif _is_device(path):
        # Renaming over /dev/null or a pipe would replace it by a plain file.
        with writing_errors(path, only=DISK_FULL), open(path, "wb") as device:
            yield device
    else:
        with replacing(path) as temporary, open(temporary, "wb") as file:
            yield file


def find_encoding(name: str, option: str = "encoding") -> str:
    """Return the usual name of an encoding; raises ConfigError for one that Python does not have.

    option  what the name was given as, for the message
    """
    try:
        "a".encode(name)  # refuses codecs such as rot13 that do not decode bytes
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        raise ConfigError(
            f"{option}: expected the name of an encoding, such as latin-1, cp1252 or utf-16, "
            f"got {name!r}"
        ) from None
    return "utf-8" if found == "utf-8-sig" else found


def suffix_of(path: str | Path, *, long: tuple[str, ...] = ()) -> str:
    """Return the suffix that names the format, in lower case: `.jsonl` of A.JSONL.gz, or "".

    long  suffixes that have a dot in them
    """
    path = Path(name_of(path))
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    found = (suffix for suffix in long if path.name.lower().endswith(suffix))
    return next(found, path.suffix.lower())


def check_compression(path: str | Path) -> None:
    """Raise DataError for a suffix of a compression that is not supported."""
    suffix = Path(path).suffix.lower()
    if is_known(suffix) and suffix not in COMPRESSED:
        raise DataError(
            f"{path}: expected plain text or {', '.join(COMPRESSED)}, got {suffix}; "
            "recompress the file"
        )


def name_of(path: str | Path) -> str:
    """Return the name of an input file, as it may be shown and stored."""
    return "<stdin>" if str(path) == STANDARD else without_secrets(str(path))


@contextlib.contextmanager
def _open_raw(path: str | Path) -> Iterator[io.BufferedReader]:
    """The bytes of a file as they are."""
    if str(path) == STANDARD:
        with _standard_input() as file:
            yield file
        return
    if not is_url(path):
        with open(path, "rb") as local:
            yield local
        return
    system, inside = file_system_of(str(path))
    with system.open(inside) as remote:
        yield remote


@contextlib.contextmanager
def _standard_input() -> Iterator[io.BufferedReader]:
    if sys.stdin is None:
        raise ConfigError("standard input is closed")
    if isinstance(sys.stdin.buffer, io.BufferedReader):
        # A descriptor of its own: Python aborts at its end if a thread still reads sys.stdin.
        with open(os.dup(sys.stdin.fileno()), "rb") as file:
            yield file
        return
    buffered = io.BufferedReader(cast(Any, sys.stdin.buffer))
    try:
        yield buffered
    finally:
        with contextlib.suppress(ValueError):  # it may have been closed meanwhile
            buffered.detach()


def has_byte_lines(codec: str) -> bool:
    """Whether the byte 10 is a line end and nothing else, as in all but UTF-16, UTF-32, EBCDIC."""
    return "a\n".encode(codec) == b"a\n"


def _lines_of(file: IO[bytes], codec: str, path: str | Path) -> Iterator[str]:
    """The lines of a file in any encoding; the file stays open."""
    text = io.TextIOWrapper(cast(io.BufferedReader, file), encoding=codec, newline="\n")
    try:
        for number, line in enumerate(iter(partial(text.readline, MAX_LINE), "")):
            if len(line) == MAX_LINE:
                raise _too_long(path, number + 1)
            yield (line if number else line.removeprefix("\ufeff")).rstrip("\r\n")
    finally:
        text.detach()


def _too_long(path: str | Path, number: int) -> DataError:
    return DataError(
        f"{name_of(path)}:{number}: expected a line of less than {MAX_LINE:,} bytes, got a longer "
        "one; split it"
    )


def limited(lines: Iterable[str], what: str) -> Iterator[str]:
    """Yield lines that are going to be held together; raises DataError if they are too long.

    what  they are, and how to mend it, for the message
    """
    n = 0
    for line in lines:
        if (n := n + len(line) + 1) > MAX_LINE:
            raise DataError(f"{what}, got more than {MAX_LINE:,} characters")
        yield line


def _wrong_encoding(
    path: str | Path,
    number: int,
    raw: bytes,
    error: UnicodeDecodeError,
    codec: str,
    option: str | None,
) -> DataError:
    """The error for bytes that are not text in the encoding."""
    if raw.startswith(b"PAR1"):
        return DataError(f"{name_of(path)}: expected text, got Parquet data")
    where = f"{name_of(path)}:{number}" if number else name_of(path)
    byte = error.object[error.start]
    guess = guess_encoding(raw) if codec == "utf-8" else "utf-8"
    fix = f"name its encoding, such as {option} {guess}, or " if option else ""
    return DataError(
        f"{where}: expected {codec.upper()} text, got byte 0x{byte:02x}; "
        f"{fix}convert the file to UTF-8"
    )


def guess_encoding(raw: bytes) -> str:
    """A likely encoding of a line that is not UTF-8."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # In Latin-1 these are control characters, in Windows files quotes and dashes.
    return "cp1252" if any(0x80 <= byte < 0xA0 for byte in raw) else "latin-1"


@contextlib.contextmanager
def _detached(binary: IO[bytes]) -> Iterator[TextIO]:
    """Write UTF-8 text to a binary file in any locale, and leave the binary file open."""
    text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
    try:
        yield text
    except BaseException:
        with contextlib.suppress(OSError, ValueError):  # the reader of a pipe may be gone
            text.detach()
        raise
    text.detach()  # flushes


def _is_device(path: str | Path) -> bool:
    """Whether something other than a file is there; raises DataError for a folder."""
    if os.path.isdir(path):
        raise DataError(f"{path}: cannot be written: {os.strerror(errno.EISDIR)}")
    return os.path.exists(path) and not os.path.isfile(path)


def file_digest(path: str | Path, *, digits: int = 16) -> str:
    """Compute the first digits of the SHA-256 of the bytes of a file, as it is; it may be a URL."""
    try:
        with _open_raw(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:digits]
    except OSError as error:
        raise DataError(unreadable(path, error)) from None
