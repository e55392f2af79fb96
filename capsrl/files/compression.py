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
from collections.abc import Callable, Iterator
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
_PIECE = 1 << 9  # bytes to decompress at a time: 16 MB at most, as four of .zst may make 128 kB


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


def _reader(file: io.BufferedReader, suffix: str) -> object:
    if suffix == ".gz":
        return gzip.GzipFile(fileobj=file, mode="rb")
    if suffix == ".zst":
        return _StreamsReader(file, _zstandard().ZstdDecompressor().decompressobj)
    if suffix == ".bz2":
        return _StreamsReader(file, bz2.BZ2Decompressor)
    return _StreamsReader(file, lzma.LZMADecompressor, padding=b"\0")


class _StreamsReader(io.RawIOBase):
    """The content of a compressed file of one or more streams, as `cat` joins them.

    Raises one of `damages()` for a file that is cut short or has other data after a stream. The
    readers of the packages take such a file for whole: they stop there.

    new      makes an object that decompresses one stream
    padding  a byte that may stand any number of times after a stream
    """

    def __init__(
        self, file: io.BufferedReader, new: Callable[[], Any], *, padding: bytes = b""
    ) -> None:
        self._file, self._new, self._padding = file, new, padding
        self._begin()

    def _begin(self) -> None:
        self._stream = self._new()
        self._started = False  # whether the stream has been given any data
        self._ready = memoryview(b"")
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go forward, or back to the start and then forward."""
        if whence == io.SEEK_END:
            while self.read(_BUFFER):
                pass
        target = offset if whence == io.SEEK_SET else self._position + offset
        if target < self._position:
            self._file.seek(0)
            self._begin()
        while self._position < target and self.read(min(_BUFFER, target - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        while not self._ready:
            limit = (_BUFFER,) if hasattr(self._stream, "needs_input") else ()  # not of .zst
            wants_data = self._stream.eof or not limit or self._stream.needs_input
            data = self._next_data() if wants_data else b""
            if wants_data and not data:
                if self._started:
                    raise EOFError("the end of the file inside a stream")
                return 0
            self._started = True
            try:
                self._ready = memoryview(self._stream.decompress(data, *limit))
            except OSError as error:  # of bz2; an OSError would be one of the disk
                raise EOFError(str(error)) from None
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        self._position += n
        return n

    def _next_data(self) -> bytes:
        """The next bytes for the stream, or for a new one; none at the end of the file."""
        data = b""
        if self._stream.eof:
            data = self._stream.unused_data.lstrip(self._padding)
            self._stream, self._started = self._new(), False
        while not data and (data := self._file.read1(_PIECE)) and not self._started:
            data = data.lstrip(self._padding)
        return data


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
        compressor = _zstandard().ZstdCompressor(write_checksum=True)
        with compressor.stream_writer(raw, closefd=False) as packed_zst:
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
