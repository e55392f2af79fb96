"""Lines of a file -> the same lines, with a bar on the terminal while they are read."""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from capsrl.data.files import STANDARD, name_of, read_lines

_EVERY = 2000  # lines between two looks at the clock: the bar costs next to nothing


@contextlib.contextmanager
def watched_lines(path: str | Path, *, every: int = _EVERY) -> Iterator[Iterator[str]]:
    """Lines of a file, and a bar on stderr that vanishes at the end, if stderr is a terminal.

    The bar knows how much is left of a plain file; of a compressed one or of standard input it
    can only show that work goes on.

    every  lines between two looks at the clock; fewer where there is much work on each
    """
    if not sys.stderr.isatty():
        yield read_lines(path)
        return
    # Rich takes a while to import, which a pipeline of small files would feel.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

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
            for number, line in enumerate(read_lines(path), start=1):
                n_bytes += len(line.encode()) + 1
                if number % every == 0:
                    progress.update(task, completed=n_bytes, lines=number)
                yield line
            progress.update(task, completed=n_bytes, lines=number)

        yield lines()


def _size(path: str | Path) -> int | None:
    if str(path) == STANDARD or Path(path).suffix in (".gz", ".xz"):
        return None
    try:
        return os.path.getsize(path) or None
    except OSError:  # read_lines will say what is wrong
        return None
