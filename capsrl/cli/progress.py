"""Show a progress bar while a file is read."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from capsrl.data.compression import COMPRESSED
from capsrl.data.files import name_of, read_lines

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
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[lines]:,} lines"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task(name_of(path), total=_size(path), lines=0)

        def lines() -> Iterator[str]:
            n_bytes = number = 0
            due = 0.0
            for number, line in enumerate(source, start=1):
                n_bytes += len(line.encode()) + 1
                if time.monotonic() >= due:
                    progress.update(task, completed=n_bytes, lines=number)
                    due = time.monotonic() + _EVERY
                yield line
            progress.update(task, completed=n_bytes, lines=number)

        yield lines()


def _size(path: str | Path) -> int | None:
    """The bytes of the text of a file, if they are known before it is read."""
    if os.path.isfile(path) and Path(path).suffix.lower() not in COMPRESSED:
        return os.path.getsize(path) or None
    return None
