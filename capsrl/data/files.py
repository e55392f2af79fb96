"""Lines of text in and out: plain, .gz and .xz files, standard input and output.

Reading holds one line at a time. Writing goes to a temporary name beside the target, renamed
when all went well, so a crash or an error never leaves half a file or loses the old one.
"""

import contextlib
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TextIO, cast

from capsrl.errors import DataError

STANDARD = "-"  # the name of standard input and output on the command line
_MAGIC = {".gz": b"\x1f\x8b", ".xz": b"\xfd7zXZ\x00"}
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def read_lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file without their ends; `-` is standard input.

    Lines end at a newline (carriage returns before it are dropped, a byte-order mark too), and
    nowhere else: words may hold any other Unicode separator.
    Raises DataError naming the file, and the line where there is one. A damaged compressed file
    may have given out some of the lines before the damage by then.
    """
    number = 0
    try:
        with _open_binary(path) as file:
            for number, raw in enumerate(file, start=1):
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")
                yield raw.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise DataError(
            f"{name_of(path)}:{number}: expected UTF-8 text, got byte 0x{byte:02x}; "
            "convert the file to UTF-8"
        ) from None
    except (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        if not _is_compressed(path):
            suffix = Path(path).suffix
            raise DataError(
                f"{name_of(path)}: expected text compressed as {suffix} says, got other bytes; "
                f"take {suffix} off the name of a file that is not compressed"
            ) from None
        raise DataError(
            f"{name_of(path)}: expected more compressed text after line {number}, "
            f"got {str(error) or type(error).__name__}; the file is damaged or cut short"
        ) from None
    except OSError as error:
        raise DataError(f"{name_of(path)}: cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def open_writer(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file that appears under its name only when the block succeeds.

    `-` is standard output; it and devices and pipes are written as the text comes. A link stays
    a link and an existing file keeps its permissions.
    Raises DataError when the file cannot be made, the disk is full, or the text is not Unicode.
    """
    with _writing_errors(path):
        if str(path) == STANDARD:
            sys.stdout.flush()
            with _detached(sys.stdout.buffer) as text:
                yield text
            return
        target = Path(os.path.realpath(path))
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise DataError(f"{path}: cannot be written: {os.strerror(errno.EISDIR)}")
            # Renaming over /dev/null or a pipe would put a plain file in its place.
            with open(target, "wb") as device, _text(device, target.suffix) as text:
                yield text
            return
        with _replacing(target, path, mode) as raw, _text(raw, target.suffix) as text:
            yield text


def suffix_of(path: str | Path) -> str:
    """What a file's name says of its content, in lower case: `.jsonl` of A.JSONL.gz; "" of none."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] in ([".gz"], [".xz"]):
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def name_of(path: str | Path) -> str:
    """The name by which messages speak of a file to be read."""
    return "<stdin>" if str(path) == STANDARD else str(path)


def _open_binary(path: str | Path) -> contextlib.AbstractContextManager[IO[bytes]]:
    if str(path) == STANDARD:
        return contextlib.nullcontext(sys.stdin.buffer)
    path = Path(path)
    # The buffer gives out lines many times faster than the two decompressors themselves.
    if path.suffix == ".gz":
        return io.BufferedReader(cast(io.RawIOBase, gzip.open(path, "rb")), 1 << 16)
    if path.suffix == ".xz":
        return io.BufferedReader(cast(io.RawIOBase, lzma.open(path, "rb")), 1 << 16)
    return open(path, "rb")


def _is_compressed(path: str | Path) -> bool:
    """Whether the first bytes are those of what the suffix promises."""
    with open(path, "rb") as file:
        return file.read(6).startswith(_MAGIC[Path(path).suffix])


@contextlib.contextmanager
def _writing_errors(path: str | Path) -> Iterator[None]:
    name = "<stdout>" if str(path) == STANDARD else str(path)
    try:
        yield
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name}: expected Unicode text, got the lone surrogate "
            f"U+{ord(error.object[error.start]):04X}, which UTF-8 cannot hold"
        ) from None
    except OSError as error:
        # The caller's own block runs in here too: only a full disk is surely ours.
        if error.errno not in _FULL:
            raise
        raise DataError(f"{name}: cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def _replacing(target: Path, path: str | Path, mode: int | None) -> Iterator[IO[bytes]]:
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as raw:
            # mkstemp makes files only their owner can read.
            os.chmod(temporary, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
            yield raw
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


@contextlib.contextmanager
def _text(raw: IO[bytes], suffix: str) -> Iterator[TextIO]:
    if suffix == ".gz":
        # No name and no time in the header: the same text gives the same bytes.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            with _detached(cast(IO[bytes], packed)) as text:
                yield text
    elif suffix == ".xz":
        with lzma.open(raw, "wb") as packed_xz, _detached(cast(IO[bytes], packed_xz)) as text:
            yield text
    else:
        with _detached(raw) as text:
            yield text


@contextlib.contextmanager
def _detached(binary: IO[bytes]) -> Iterator[TextIO]:
    """Text over bytes, whatever the locale says, leaving the bytes open at the end."""
    text = io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
    yield text
    text.detach()  # flushes; after an error there is nothing worth flushing


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except OSError:
        return None  # making the file will say what is wrong, if anything is


def _umask() -> int:
    value = os.umask(0)
    os.umask(value)
    return value
