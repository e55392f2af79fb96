"""Prepare the next items of an iterable in a thread while the current one is used."""

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def prefetch(items: Iterable[Item], *, depth: int = 8) -> Generator[Item, None, None]:
    """Yield the same items in the same order; a thread prepares up to `depth` of them ahead.

    An exception raised by `items` is raised here after the items before it. Closing the generator
    early stops the thread.
    """
    ready: queue.Queue[Item | _End] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: Item | _End) -> None:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
                return
            except queue.Full:
                continue

    def work() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                put(item)
                if stopped.is_set():
                    return
        except BaseException as caught:
            error = caught  # raised in the consumer's thread
        put(_End(error))

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        thread.join()


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
