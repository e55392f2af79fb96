"""Ctrl-C as a wish, granted between two steps, where the state of a run is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """The run was asked to stop, and did; the message says how to go on."""


class Wish:
    """Whether somebody asked for the end."""

    def __init__(self) -> None:
        self.stop = False


@contextmanager
def listening() -> Iterator[Wish]:
    """Catch the first Ctrl-C or SIGTERM as a wish; a second one acts at once, as usual."""
    wish = Wish()
    if threading.current_thread() is not threading.main_thread():
        yield wish  # only the main thread may have handlers
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def catch(number: int, frame: FrameType | None) -> None:
        wish.stop = True
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, catch)
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
