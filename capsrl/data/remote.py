"""The file systems of fsspec, with a time limit and with errors that name the URL.

Packages such as s3fs raise errors of many kinds: those of botocore for a silent server
or for missing credentials are not OSErrors, nor are those of other stores. And their own time
limits do not hold in all cases: s3fs waits forever if S3 stops answering on an open connection.
"""

import contextlib
import errno
import functools
import io
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from capsrl.errors import DataError

LIMIT = 600.0  # seconds of a call with all its repetitions; those of s3fs take 7 minutes
_BLOCK = 1 << 20  # bytes that are read ahead; s3fs alone would read 50 MB for the first line


class RemoteFiles:
    """A file system: it raises FileNotFoundError for a missing file, else DataError.

    system  of fsspec, whose methods these are
    url     for messages
    """

    def __init__(self, system: Any, url: str) -> None:  # noqa: ANN401
        self._system, self._url = system, url

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        found = getattr(self._system, name)
        return functools.partial(_call, self._url, found) if callable(found) else found

    def open(self, path: str) -> io.BufferedReader:
        """Open a file to read its bytes."""
        file = _call(self._url, self._system.open, path, "rb", block_size=_BLOCK)
        return io.BufferedReader(_RemoteFile(file, self._url), _BLOCK)

    def read_all(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The contents of files, read at the same time; those that are missing are left out."""
        found = _call(self._url, self._system.cat, paths, on_error="return")
        for content in found.values():
            if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                raise _translated(content, self._url) from content
        return {path: each for path, each in found.items() if isinstance(each, bytes)}


class _RemoteFile(io.RawIOBase):
    """A file of such a file system."""

    def __init__(self, file: Any, url: str) -> None:  # noqa: ANN401
        self._file, self._url = file, url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401
        data: bytes = _call(self._url, self._file.read, len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with _errors(self._url):
            return int(self._file.seek(offset, whence))

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _call(url: str, method: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
    """The result of a call that may hang, made in a thread that is abandoned after LIMIT."""
    results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            results.put((method(*arguments, **keywords), None))
        except BaseException as error:
            results.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    with _errors(url):
        try:
            result, error = results.get(timeout=LIMIT)
        except queue.Empty:
            raise TimeoutError from None
        if error is not None:
            raise error
    return result


@contextlib.contextmanager
def _errors(url: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise _translated(error, url) from error


def _translated(error: Exception, url: str) -> Exception:
    nothing = "no answer" if isinstance(error, TimeoutError) else type(error).__name__
    reason = getattr(error, "strerror", None) or str(error) or nothing
    if not isinstance(error, FileNotFoundError):
        return DataError(f"{url}: cannot be accessed: {reason}")
    is_path = str(error) in url
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT) if is_path else reason, url)
