"""The file systems of fsspec, with errors that name the URL.

Packages such as s3fs raise errors of many kinds: a server that does not answer or credentials that
are not there are no OSError in botocore, nor in the packages of other stores.
"""

import contextlib
import errno
import functools
import io
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from capsrl.errors import DataError

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
        return _guarded(found, self._url) if callable(found) else found

    def open(self, path: str) -> io.BufferedReader:
        """Open a file to read its bytes."""
        with _errors(self._url):
            file = self._system.open(path, "rb", block_size=_BLOCK)
        return io.BufferedReader(_RemoteFile(file, self._url))

    def read_all(self, paths: Sequence[str]) -> dict[str, bytes]:
        """The contents of files, read at the same time; those that are missing are left out."""
        with _errors(self._url):
            found = self._system.cat(paths, on_error="return")
            for content in found.values():
                if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                    raise content
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
        with _errors(self._url):
            return int(self._file.readinto(buffer))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        with _errors(self._url):
            return int(self._file.seek(offset, whence))

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def _guarded(method: Callable[..., Any], url: str) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
        with _errors(url):
            return method(*arguments, **keywords)

    return call


@contextlib.contextmanager
def _errors(url: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        reason = error.strerror or str(error)
        if reason in url:  # the path alone
            reason = os.strerror(errno.ENOENT)
        raise FileNotFoundError(errno.ENOENT, reason, url) from error
    except Exception as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(f"{url}: cannot be accessed: {reason}") from error
