"""Lines of text in and out: plain, .gz and .xz files, standard input and output.

Reading holds one line at a time. Writing goes to a temporary name beside the target, renamed
when all went well, so a crash or an error never leaves half a file or loses the old one.
"""

import contextlib
import gzip
import io
import lzma
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TextIO

from capsrl.errors import DataError

STANDARD = "-"  # the name of standard input and output on the command line


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file without their ends; `-` is standard input.

    Lines end at a newline (a carriage return before it is dropped, a byte-order mark too), and
    nowhere else: words may hold any other Unicode separator.
    Raises DataError naming the file, and the line where there is one.
    """
    number = 0
    try:
        with _open_binary(path) as file:
            for number, raw in enumerate(file, start=1):
                if number == 1 and raw.startswith(b"\xef\xbb\xbf"):
                    raw = raw[3:]
                yield raw.rstrip(b"\r\n").decode("utf-8")
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"{name_of(path)}:{number}: expected UTF-8 text, got byte 0x{byte:02x}; "
            "convert the file to UTF-8"
        ) from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise DataError(
            f"{name_of(path)}:{number + 1}: expected more compressed text, "
            f"got {str(error).lower() or type(error).__name__}; the file is damaged or cut short"
        ) from None
    except OSError as error:
        raise DataError(f"{name_of(path)}: cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def open_writer(path: str | Path) -> Iterator[TextIO]:
    """Open a text file for writing that appears under its name only when the block succeeds."""
    if str(path) == STANDARD:
        yield sys.stdout
        sys.stdout.flush()
        return
    path = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files only their owner can read
        with (
            os.fdopen(handle, "wb") as raw,
            _compressed(raw, path.suffix) as binary,
            io.TextIOWrapper(binary, encoding="utf-8", newline="\n") as text,
        ):
            yield text
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def name_of(path: str | Path) -> str:
    """The name by which messages speak of a file."""
    return "<stdin>" if str(path) == STANDARD else str(path)


def _open_binary(path: str | Path) -> IO[bytes]:
    if str(path) == STANDARD:
        return io.BufferedReader(sys.stdin.buffer.raw)  # type: ignore[attr-defined]
    path = Path(path)
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".xz":
        return io.BufferedReader(lzma.open(path, "rb"), 1 << 16)  # type: ignore[type-var]
    return open(path, "rb")


def _compressed(raw: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        # No name and no time in the header: the same text gives the same bytes.
        return gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    if suffix == ".xz":
        return lzma.open(raw, "wb")
    return raw


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
