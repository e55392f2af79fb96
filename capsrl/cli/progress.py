"""Show progress bars on standard error, and do not wait for slow input."""

import contextlib
import io
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import name_of, read_lines

if TYPE_CHECKING:
    from rich.progress import Progress

Thing = TypeVar("Thing")
Reporter = Callable[[Mapping[str, Any]], None]
_READ_AHEAD = 4096  # items that are read before they are needed
_UPDATE_EVERY = 0.1  # seconds between two updates of the bar, which take longer than reading a line
_LINE_EVERY = 10.0  # seconds between two lines about a bulk run where there is no terminal


@contextlib.contextmanager
def watched_lines(
    path: str | Path, *, bar: bool = True, encoding: str | None = None
) -> Iterator[Iterator[str]]:
    """Read the lines of a file, with a bar on stderr if that is a terminal.

    The bar of a plain file shows how much is left; that of a compressed one or of standard input
    only that something happens. It disappears at the end.
    """
    lines = read_lines(path, encoding=encoding, option="--encoding")
    if not bar or not sys.stderr.isatty():
        yield lines
        return
    watched = _watch(
        lines, name_of(path), "lines", _size(path), lambda line: len(line.encode()) + 1
    )
    with contextlib.closing(watched):
        yield watched


def watched_texts(texts: Iterable[Thing], name: str, *, bar: bool = True) -> Iterable[Thing]:
    """The documents, with a bar on stderr that counts them if that is a terminal."""
    if not bar or not sys.stderr.isatty():
        return texts
    return _watch(texts, name_of(name), "documents")


def _watch(
    items: Iterable[Thing],
    name: str,
    unit: str,
    total: int | None = None,
    size: Callable[[Thing], int] = lambda item: 1,
) -> Generator[Thing, None, None]:
    with _bars() as bars:
        task = bars.add_task(name, total=total, note="")
        done, number, due = 0, 0, 0.0
        for number, item in enumerate(items, start=1):
            done += size(item)
            if time.monotonic() >= due:
                bars.update(task, completed=done, note=f"{number:,} {unit}")
                due = time.monotonic() + _UPDATE_EVERY
            yield item
        bars.update(task, completed=done, note=f"{number:,} {unit}")


@contextlib.contextmanager
def bulk_progress() -> Iterator[Reporter]:
    """Make the `report` of a bulk run: a bar on a terminal, else a line every ten seconds."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    with _bars() as bars:
        task = bars.add_task("shards", total=None, note="starting")

        def report(status: Mapping[str, Any]) -> None:
            done = status["done"] + len(status["set_aside"])
            bars.update(task, total=status["shards"], completed=done, note=_bulk_line(status))

        yield report


class _Lines:
    """Writes a line to standard error every few seconds."""

    def __init__(self) -> None:
        self._due = 0.0

    def __call__(self, status: Mapping[str, Any]) -> None:
        if time.monotonic() >= self._due and status["state"] == "running":
            self._due = time.monotonic() + _LINE_EVERY
            _write_line(_bulk_line(status))


def _bulk_line(status: Mapping[str, Any]) -> str:
    left = status["seconds_left"]
    parts = [
        f"{status['done']:,} of {status['shards']:,} shards",
        plural(status["sentences"], "sentence"),
        f"{status['sentences_per_second']:,.0f}/s",
        plural(status["workers"], "worker"),
        f"{timedelta(seconds=left)} left" if left is not None else "time left unknown",
        *problems(status),
    ]
    return ", ".join(parts)


def problems(status: Mapping[str, Any]) -> Iterator[str]:
    """How many failures a bulk run had, and how many shards it has set aside, if any."""
    if status["failures"]:
        yield plural(status["failures"], "failure")
    if status["set_aside"]:
        yield f"{len(status['set_aside']):,} set aside"


def plural(number: int, noun: str) -> str:
    """A number and a noun: `1 shard`, `2,000 shards`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@contextlib.contextmanager
def training_progress(n_epochs: int) -> Iterator[Reporter]:
    """Make the `report` of a training run: bars on a terminal; a line per epoch and warning."""
    if not sys.stderr.isatty():
        yield lambda record: _write_record(record, _write_line)
        return
    with _bars(transient=False) as bars:
        epochs = bars.add_task("epochs", total=n_epochs, note="")
        batches = bars.add_task("batches", total=None, note="")

        def report(record: Mapping[str, Any]) -> None:
            if record["kind"] == "step":
                note = f"loss {record['loss']:.3f}, {record['words_per_second']:,} words/s"
                done, total = record["batch"], record["batches"]
                bars.update(batches, completed=done, total=total, note=note)
                bars.update(epochs, completed=record["epoch"] - 1 + done / total)
            elif record["kind"] == "epoch":
                note = f"{record['epoch']} of {n_epochs}"
                bars.update(epochs, completed=record["epoch"], note=note)
            _write_record(
                record, lambda line: bars.console.print(line, markup=False, soft_wrap=True)
            )

        yield report


def _write_record(record: Mapping[str, Any], write: Callable[[str], None]) -> None:
    if record["kind"] == "epoch":
        write(epoch_line(record))
    elif record["kind"] == "warning":
        write(f"warning: {record['message']}")


def epoch_line(record: Mapping[str, Any]) -> str:
    """Format the record of an epoch as one line."""
    best = "  best" if record["best"] else ""
    return (
        f"epoch {record['epoch']:3}  loss {record['loss']:7.4f}  dev F1 {record['dev_f1']:6.2f}  "
        f"arguments {record['dev_argument_f1']:6.2f}  EM {record['dev_em']:6.2f}  "
        f"{record['seconds']:8.1f} s{best}"
    )


def _write_line(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _bars(*, transient: bool = True) -> "Progress":
    # These take longer to import than a small file to read.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=transient,
    )


def _size(path: str | Path) -> int | None:
    """The bytes of the text of a file, if they are known before it is read."""
    if os.path.isfile(path) and Path(path).suffix.lower() not in COMPRESSED:
        return os.path.getsize(path) or None
    return None


def without_waiting(items: Iterable[Thing]) -> Iterator[Thing | None]:
    """Yield items that come from standard input, and None whenever the next is not there yet.

    A thread reads them ahead, so that the caller can finish its work on those that came instead of
    waiting for the next.
    """
    if not isinstance(sys.stdin.buffer, io.BufferedReader):  # not a pipe, so nothing is slow
        yield from items
        return
    ready: queue.Queue[Thing | BaseException | None] = queue.Queue(_READ_AHEAD)  # None: the end

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
