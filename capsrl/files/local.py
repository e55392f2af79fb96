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
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, TextIO, cast

from capsrl.errors import ConfigError, DataError, install_hint
from capsrl.files.compression import (
    COMPRESSED,
    compress,
    compression_of,
    damages,
    decompress,
    is_known,
)
from capsrl.files.remote import RemoteFiles

STANDARD = "-"  # the name of standard input and output on the command line
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def read_lines(
    path: str | Path, *, encoding: str | None = None, option: str | None = None
) -> Iterator[str]:
    """Yield the lines of a file without their line ends; `-` is standard input.

    Lines end only at a newline: words may contain any other Unicode separator. Carriage returns
    before it and a byte-order mark are dropped.

    encoding  any text encoding that Python knows, such as latin-1; UTF-8 by default
    option    the command-line option that names the encoding, for messages
    Raises ConfigError for an unknown encoding, DataError naming the file, and the line if there is
    one. Some lines before the damage in a damaged compressed file may have been yielded by then.
    """
    codec = find_encoding(encoding or "utf-8", option or "encoding")
    number = 0
    raw = b""
    try:
        with open_binary(path) as file:
            if not has_byte_lines(codec):
                yield from _decoded_lines(file, codec)
                return
            for number, raw in enumerate(file, start=1):
                if number == 1 and codec == "utf-8":
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                yield raw.rstrip(b"\r\n").decode(codec)
    except UnicodeDecodeError as error:
        raise _wrong_encoding(path, number, raw, error, codec, option) from None
    except damages() as error:
        raise DataError(
            f"{name_of(path)}: expected more compressed text after line {number}, "
            f"got {str(error) or type(error).__name__}; the file is damaged or cut short"
        ) from None
    except OSError as error:
        raise DataError(f"{name_of(path)}: cannot be read: {error.strerror or error}") from None


@contextlib.contextmanager
def open_binary(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file to read its bytes, decompressed; `-` is standard input, which stays open.

    The path may be a URL (s3://bucket/file), which fsspec opens. A compressed file is recognized
    by its content; one that has the suffix of a compression must be compressed with it.
    """
    with _open_raw(path) as file:
        suffix = Path(path).suffix.lower()
        found = compression_of(file.peek(8)[:8]) if suffix in COMPRESSED else suffix
        if suffix != found:
            raise DataError(
                f"{name_of(path)}: expected {suffix} data, got something else; "
                f"remove {suffix} from the name if the file is not compressed"
            )
        content = decompress(file, name_of(path))
        yield content


def is_url(path: str | Path) -> bool:
    """Whether a path is a URL, which fsspec opens, and not the name of a local file."""
    return "://" in str(path)


def file_system_of(url: str) -> tuple[RemoteFiles, str]:
    """The file system of fsspec that a URL belongs to, and the path of the URL in it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        raise ConfigError(f"{url}: URLs need fsspec: {install_hint('tables')}") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:  # a package or a protocol that is not there
        raise ConfigError(f"{url}: expected a URL that fsspec can open, got: {error}") from None
    return RemoteFiles(system, url), path


@contextlib.contextmanager
def open_writer(path: str | Path) -> Iterator[TextIO]:
    """Open a UTF-8 text file for an atomic write: it appears only when the block succeeds.

    `-` is standard output; it, devices and pipes are written directly. A link stays a link, and an
    existing file keeps its permissions. The suffix tells whether the file is compressed.
    Raises DataError if the file cannot be created, the disk is full, or the text is not Unicode.
    """
    check_compression(path)
    suffix = "" if str(path) == STANDARD else Path(os.path.realpath(path)).suffix.lower()
    with (
        open_binary_writer(path) as raw,
        compress(raw, suffix) as packed,
        _detached(packed) as text,
    ):
        yield text


@contextlib.contextmanager
def open_binary_writer(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file for an atomic write of bytes, as `open_writer` does for text."""
    if is_url(path):
        raise ConfigError(f"{path}: expected the name of a local file to write, got a URL")
    with _writing_errors(path):
        if str(path) == STANDARD:
            if sys.stdout is None:
                raise ConfigError("-: expected standard output, got a closed one; name a file")
            sys.stdout.flush()
            yield sys.stdout.buffer
            return
        target = Path(os.path.realpath(path))
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise DataError(f"{path}: cannot be written: {os.strerror(errno.EISDIR)}")
            # Renaming over /dev/null or a pipe would replace it by a plain file.
            with open(target, "wb") as device:
                yield device
            return
        with _replacing(target, path, mode) as raw:
            yield raw


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


def suffix_of(path: str | Path) -> str:
    """Return the suffix that names the format, in lower case: `.jsonl` of A.JSONL.gz, or ""."""
    path = Path(path)
    if path.suffix.lower() in COMPRESSED:
        path = path.with_suffix("")
    return path.suffix.lower()


def check_compression(path: str | Path) -> None:
    """Raise DataError for a suffix of a compression that is not supported."""
    suffix = Path(path).suffix.lower()
    if is_known(suffix) and suffix not in COMPRESSED:
        raise DataError(
            f"{path}: expected plain text or {', '.join(COMPRESSED)}, got {suffix}; "
            "recompress the file"
        )


def name_of(path: str | Path) -> str:
    """Return the name of an input file in messages."""
    return "<stdin>" if str(path) == STANDARD else str(path)


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
        raise ConfigError("-: expected standard input, got a closed one")
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


def _decoded_lines(file: IO[bytes], codec: str) -> Iterator[str]:
    """The lines of a file in any encoding; the file stays open."""
    text = io.TextIOWrapper(cast(io.BufferedReader, file), encoding=codec, newline="\n")
    try:
        for number, line in enumerate(text):
            yield (line if number else line.removeprefix("\ufeff")).rstrip("\r\n")
    finally:
        text.detach()


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
        # The caller's own block runs in here too: only a full disk is surely about this file.
        if error.errno not in _FULL:
            raise
        raise DataError(f"{name}: cannot be written: {error.strerror}") from None


@contextlib.contextmanager
def _replacing(target: Path, path: str | Path, mode: int | None) -> Iterator[IO[bytes]]:
    # The name is chosen before the file exists, so that a signal at any moment removes the file.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with _new_file(temporary, path) as raw:
            if mode is not None:
                os.chmod(temporary, stat.S_IMODE(mode))
            yield raw
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _new_file(temporary: Path, path: str | Path) -> IO[bytes]:
    try:
        return open(temporary, "xb")
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None


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


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode
    except OSError:
        return None  # creating the file will tell what is wrong, if anything is


def file_digest(path: str) -> str:
    """Compute a short digest of the content of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
