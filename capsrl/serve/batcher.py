"""Collect items that arrive one by one into batches, which a few threads work on."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from fastapi import HTTPException

Item = TypeVar("Item")
Result = TypeVar("Result")
_Work = Callable[[Sequence[Item]], Sequence[Result | Exception]]


class QueueFull(HTTPException):
    """The queue takes no more items; `seconds` estimates when it will."""

    def __init__(self, seconds: int) -> None:
        message = f"the server is busy; try again in {seconds} s"
        super().__init__(503, message, {"Retry-After": str(seconds)})


@dataclass(eq=False)
class _Ticket(Generic[Item, Result]):
    """An item in the queue, and the future of its result."""

    item: Item
    size: int
    since: float
    result: "asyncio.Future[Result]"


class Batcher(Generic[Item, Result]):
    """A queue whose items are worked on in batches, which cost less than their items one by one.

    work       takes the items of a batch in order of arrival and returns a result or an exception
               for each; runs in a thread of the batcher
    threads    number of batches that are worked on at the same time
    max_items  number of items of a batch
    max_size   total size of the items of a batch, unless it has a single item
    max_queue  number of waiting items, not counting those being worked on

    A free thread never waits: it takes what the queue has. Batches form while all threads are busy.
    Everything but the work happens in the event loop, so there are no locks.
    """

    def __init__(
        self, work: _Work[Item, Result], threads: int, max_items: int, max_size: int, max_queue: int
    ) -> None:
        self._work = work
        self.max_items, self.max_size, self.max_queue = max_items, max_size, max_queue
        self._queue: deque[_Ticket[Item, Result]] = deque()
        self._free = self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="capsrl-labeler")
        self._closing = False

    @property
    def waiting(self) -> int:
        """The number of items in the queue."""
        return len(self._queue)

    @property
    def is_open(self) -> bool:
        """Whether an item would be accepted now."""
        return not self._closing and len(self._queue) < self.max_queue

    async def close(self) -> None:
        """Accept no more items, finish those in the queue, end the threads."""
        self._closing = True
        while self._free < self._threads:  # while any item waits, all threads are busy
            await asyncio.sleep(0.01)
        self._pool.shutdown()

    async def submit(self, item: Item, size: int) -> Result:
        """The result of an item; raises QueueFull, or the exception the work returned for it.

        When the waiting task is cancelled, the item leaves the queue at once.
        """
        loop = asyncio.get_running_loop()
        if not self.is_open:
            # Estimate: the queue took this long to fill, so expect about as long to drain.
            age = loop.time() - self._queue[0].since if self._queue else 0.0
            raise QueueFull(max(1, math.ceil(age)))
        ticket = _Ticket[Item, Result](item, size, loop.time(), loop.create_future())
        self._queue.append(ticket)
        self._start_batches(loop)
        try:
            return await ticket.result
        except asyncio.CancelledError:
            if ticket in self._queue:
                self._queue.remove(ticket)
            raise

    def _start_batches(self, loop: asyncio.AbstractEventLoop) -> None:
        while self._free and self._queue:
            batch = self._take()
            self._free -= 1
            working = loop.run_in_executor(self._pool, self._work, [each.item for each in batch])
            working.add_done_callback(partial(self._finish, batch))

    def _take(self) -> list[_Ticket[Item, Result]]:
        batch = [self._queue.popleft()]
        size = batch[0].size
        while self._queue and len(batch) < self.max_items:
            size += self._queue[0].size
            if size > self.max_size:
                break
            batch.append(self._queue.popleft())
        return batch

    def _finish(
        self, batch: list[_Ticket[Item, Result]], work: asyncio.Future[Sequence[Result | Exception]]
    ) -> None:
        """Hand out the results of a batch and start the next."""
        error = work.exception()
        results = [error] * len(batch) if isinstance(error, Exception) else work.result()
        for ticket, result in zip(batch, results, strict=True):
            if ticket.result.done():
                continue  # its task was cancelled
            if isinstance(result, Exception):
                ticket.result.set_exception(result)
            else:
                ticket.result.set_result(result)
        self._free += 1
        self._start_batches(work.get_loop())
