"""Work done ahead of time: a thread makes the next items while the current one is used."""

import queue
import threading
from collections.abc import Generator, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def prefetch(items: Iterable[Item], *, depth: int = 8) -> Generator[Item, None, None]:
    """The same items in the same order, up to `depth` of them made ahead by a thread.

    An error in making an item is raised here in its turn. Leaving the loop early stops the thread.
    """
    ready: queue.Queue[Item | _End] = queue.Queue(depth)
    leaving = threading.Event()

    def put(item: Item | _End) -> None:
        while not leaving.is_set():
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
                if leaving.is_set():
                    return
        except BaseException as caught:
            error = caught  # handed over, not swallowed
        put(_End(error))

    thread = threading.Thread(target=work, name="prefetch", daemon=True)
    thread.start()
    try:
        while not isinstance(item := ready.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        leaving.set()
        thread.join()


class _End:
    def __init__(self, error: BaseException | None) -> None:
        self.error = error
