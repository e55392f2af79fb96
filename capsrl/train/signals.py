"""Defer Ctrl-C and SIGTERM to the next step boundary, where the state of a run is consistent."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupted(KeyboardInterrupt):
    """The run was stopped by a signal; the message says how to resume it."""


class StopRequest:
    """Set when a signal asked the run to stop."""

    def __init__(self) -> None:
        self.is_set = False


@contextmanager
def defer_signals() -> Iterator[StopRequest]:
    """Turn the first Ctrl-C or SIGTERM into a request; the second one acts immediately."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread may install handlers
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def handle(number: int, frame: FrameType | None) -> None:
        request.is_set = True
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, handle)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
