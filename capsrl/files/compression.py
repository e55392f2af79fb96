"""Compress and decompress files: .gz, .xz, .bz2 and .zst.

What a file is compressed with is found in its first bytes, so that a wrong name or a pipe without
a name does not matter. Python brings all of them but .zst, which needs the package zstandard.
"""

import bz2
import contextlib
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from types import ModuleType
from typing import IO, Any, cast

from capsrl.errors import ConfigError, DataError, install_hint

COMPRESSED = (".gz", ".xz", ".bz2", ".zst")
AND_COMPRESSED = "and .gz, .xz, .bz2 or .zst"  # after the suffixes in messages
# How compressed files begin; the last two are refused with a clear message.
_MAGIC = {
    ".gz": b"\x1f\x8b",
    ".xz": b"\xfd7zXZ\x00",
    ".bz2": b"BZh",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".lz4": b"\x04\x22\x4d\x18",
    ".zip": b"PK\x03\x04",
}
_BUFFER = 1 << 16  # a buffer yields lines many times faster than the decompressors themselves


def compression_of(data: bytes) -> str | None:
    """Return the suffix of a compressed file that begins with these bytes."""
    return next((suffix for suffix, magic in _MAGIC.items() if data.startswith(magic)), None)


def is_known(suffix: str) -> bool:
    """Whether a suffix is that of a compression, supported or not."""
    return suffix in _MAGIC


def decompress(file: io.BufferedReader, name: str) -> IO[bytes]:
    """The content of a file, decompressed if its first bytes say that it is compressed.

    name  of the file, for the DataError raised for a compression that is not supported
    """
    found = compression_of(file.peek(8)[:8])
    if found is None:
        return file
    if found not in COMPRESSED:
        raise DataError(
            f"{name}: expected plain text or {', '.join(COMPRESSED)}, got {found} data; "
            "decompress the file first"
        )
    return io.BufferedReader(cast(io.RawIOBase, _reader(file, found)), _BUFFER)


def _reader(file: IO[bytes], suffix: str) -> object:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if suffix == ".xz":
        return lzma.LZMAFile(file, "rb")
    if suffix == ".bz2":
        return bz2.BZ2File(file, "rb")
    return _ZstandardReader(file)


class _ZstandardReader(io.RawIOBase):
    """The content of a .zst file of one or more frames.

    Raises EOFError for a file that is cut short, which the reader of the package takes for whole.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._new = _zstandard().ZstdDecompressor().decompressobj
        self._frame = self._new()
        self._started = False  # whether the frame has been given any data
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._started = self._new(), False
            data = data or self._file.read1(_BUFFER)  # type: ignore[attr-defined]
            if not data:
                if self._started:
                    raise EOFError("the end of the file inside a frame")
                return 0
            self._ready = self._frame.decompress(data)
            self._started = True
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n


@contextlib.contextmanager
def compress(raw: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    """Write to `raw` what is written to the result, compressed if the suffix is one of COMPRESSED.

    The same content gives the same bytes.
    """
    if suffix == ".gz":
        # No name and no time in the header.
        with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
            yield cast(IO[bytes], packed)
    elif suffix == ".xz":
        with lzma.open(raw, "wb") as packed_xz:
            yield cast(IO[bytes], packed_xz)
    elif suffix == ".bz2":
        with bz2.open(raw, "wb") as packed_bz2:
            yield cast(IO[bytes], packed_bz2)
    elif suffix == ".zst":
        with _zstandard().ZstdCompressor().stream_writer(raw, closefd=False) as packed_zst:
            yield packed_zst
    else:
        yield raw


def damages() -> tuple[type[BaseException], ...]:
    """The errors of decompressors for data that is damaged or cut short."""
    known = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
    # The package is imported by then if it has raised anything.
    return (*known, sys.modules["zstandard"].ZstdError) if "zstandard" in sys.modules else known


def _zstandard() -> ModuleType:
    try:
        import zstandard
    except ModuleNotFoundError:
        raise ConfigError(f".zst files need zstandard: {install_hint('tables')}") from None
    return zstandard
