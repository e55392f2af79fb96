"""Show a progress bar while a file is read, and do not wait for slow input."""

import contextlib
import io
import os
import queue
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import name_of, read_lines

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")
_AHEAD = 4096  # items that are read before they are needed
_EVERY = 0.1  # seconds between two updates of the bar, which take longer than reading a line


@contextlib.contextmanager
def watched_lines(
    path: str | Path, *, bar: bool = True, encoding: str | None = None
) -> Iterator[Iterator[str]]:
    """Read the lines of a file, with a bar on stderr if that is a terminal.

    The bar of a plain file shows how much is left; that of a compressed one or of standard input
    only that something happens. It disappears at the end.
    """
    source = read_lines(path, encoding=encoding, option="--encoding")
    if not bar or not sys.stderr.isatty():
        yield source
        return
    with _progress("lines") as progress:
        task = progress.add_task(name_of(path), total=_size(path), done=0)

        def lines() -> Iterator[str]:
            n_bytes = number = 0
            due = 0.0
            for number, line in enumerate(source, start=1):
                n_bytes += len(line.encode()) + 1
                if time.monotonic() >= due:
                    progress.update(task, completed=n_bytes, done=number)
                    due = time.monotonic() + _EVERY
                yield line
            progress.update(task, completed=n_bytes, done=number)

        yield lines()


def watched_texts(texts: Iterable[T], name: str, *, bar: bool = True) -> Iterator[T]:
    """Yield documents, with a bar on stderr that counts them if that is a terminal."""
    if not bar or not sys.stderr.isatty():
        yield from texts
        return
    with _progress("documents") as progress:
        task = progress.add_task(name_of(name), total=None, done=0)
        due = 0.0
        for number, text in enumerate(texts, start=1):
            if time.monotonic() >= due:
                progress.update(task, done=number)
                due = time.monotonic() + _EVERY
            yield text


def without_waiting(items: Iterable[T]) -> Iterator[T | None]:
    """Yield items that come from standard input, and None whenever the next is not there yet.

    A thread reads them ahead, so that the caller can finish its work on those that came instead of
    waiting for the next.
    """
    if not isinstance(sys.stdin.buffer, io.BufferedReader):  # not a pipe, so nothing is slow
        yield from items
        return
    ready: queue.Queue[T | BaseException | None] = queue.Queue(_AHEAD)  # None: the end

    def read() -> None:
        try:
            for item in items:
                ready.put(item)
            ready.put(None)
        except BaseException as error:  # raised again where the items are used
            ready.put(error)

    threading.Thread(target=read, daemon=True).start()
    while True:
        if ready.empty():
            yield None
        item = ready.get()
        if isinstance(item, BaseException):
            raise item
        if item is None:
            return
        yield item


def _progress(unit: str) -> "Progress":
    from rich.console import Console  # takes longer to import than a small file to read
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.fields[done]:,}} {unit}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )


def _size(path: str | Path) -> int | None:
    """The bytes of the text of a file, if they are known before it is read."""
    if os.path.isfile(path) and Path(path).suffix.lower() not in COMPRESSED:
        return os.path.getsize(path) or None
    return None
