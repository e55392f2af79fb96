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
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError, DataError, install_hint

LIMIT = 600.0  # seconds of a call with all its repetitions; those of s3fs take 7 minutes
_AT_ONCE = 16  # calls that are made at the same time
_BLOCK = 1 << 20  # bytes that are read ahead; s3fs alone would read 50 MB for the first line

_Results = queue.SimpleQueue[tuple[Any, BaseException | None]]


def is_url(path: str | Path) -> bool:
    """Whether a path is a URL, which fsspec opens, and not the name of a local file."""
    return "://" in str(path)


def file_system_of(url: str) -> "tuple[RemoteFiles, str]":
    """The file system of fsspec that a URL belongs to, and the path of the URL in it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        raise ConfigError(f"{url}: URLs need fsspec: {install_hint('tables')}") from None
    try:
        system, path = fsspec.core.url_to_fs(url)
    # Each file system raises its own: ImportError, OSError, TypeError for missing options.
    # Not `from error`, whose message may have the password of the URL.
    except Exception as error:
        raise ConfigError(f"{url}: expected a URL that fsspec can open, got: {error}") from None
    return RemoteFiles(system, url), path


class RemoteFiles:
    """A file system: it raises FileNotFoundError for a missing file, else DataError.

    system  of fsspec, whose methods these are
    url     for messages
    """

    def __init__(self, system: Any, url: str) -> None:  # noqa: ANN401
        self._system, self._url = system, url

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name.startswith("_"):  # also _system itself, which a copy does not have at first
            raise AttributeError(name)
        found = getattr(self._system, name)
        return functools.partial(_call, self._url, found) if callable(found) else found

    def open(self, path: str) -> io.BufferedReader:
        """Open a file to read its bytes."""
        file = _call(self._url, self._system.open, path, "rb", block_size=_BLOCK)
        return io.BufferedReader(_RemoteFile(file, self._url), _BLOCK)

    def read_all(self, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield the paths and contents of files, those of them that are there.

        The characters * ? [ stand for themselves; `cat` would expand them.
        """
        for path, results in _start_each(self._system.cat_file, paths):
            with contextlib.suppress(FileNotFoundError):
                yield path, _wait(self._url, results)

    def find_all(self, folder: str, prefixes: Iterable[str]) -> Iterator[dict[str, Any]]:
        """Yield name and size of the files of an object store whose names have a prefix."""

        def find(prefix: str) -> Iterable[dict[str, Any]]:
            found: dict[str, dict[str, Any]] = self._system.find(folder, prefix=prefix, detail=True)
            return found.values()

        for _, results in _start_each(find, prefixes):
            yield from _wait(self._url, results)


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
    """The result of a call that may hang."""
    return _wait(url, _start_call(method, *arguments, **keywords))


def _start_call(method: Callable[..., Any], *arguments: Any, **keywords: Any) -> _Results:  # noqa: ANN401
    """Call a method in a thread for which the end of the program does not wait."""
    results: _Results = queue.SimpleQueue()

    def run() -> None:
        try:
            results.put((method(*arguments, **keywords), None))
        except BaseException as error:
            results.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    return results


def _start_each(
    method: Callable[[str], Any], arguments: Iterable[str]
) -> Iterator[tuple[str, _Results]]:
    """Yield each argument and its call, of which _AT_ONCE are made at the same time."""
    rest = iter(arguments)
    started = deque((each, _start_call(method, each)) for each in islice(rest, _AT_ONCE))
    while started:
        yield started.popleft()
        started.extend((each, _start_call(method, each)) for each in islice(rest, 1))


def _wait(url: str, results: _Results) -> Any:  # noqa: ANN401
    """The result of a call; its thread is abandoned after LIMIT."""
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
    reason = " ".join(str(getattr(error, "strerror", None) or error).split()) or nothing
    if not isinstance(error, FileNotFoundError):
        return DataError(f"{url}: cannot be accessed: {reason}")
    is_path = str(error) in url
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT) if is_path else reason, url)
