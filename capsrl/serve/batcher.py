"""Collect items that arrive one by one into batches, which one thread works on."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class QueueFull(Exception):
    """The queue takes no more items; `retry_after` estimates when it will, in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"queue: expected a free place, got none; try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(eq=False)
class _Ticket(Generic[Item, Result]):
    """An item in the queue, and the future of its result."""

    item: Item
    size: int
    since: float
    result: "asyncio.Future[Result]"


class Batcher(Generic[Item, Result]):
    """A queue whose items are worked on in batches, which cost little more than a single item.

    work       takes the items of a batch in order of arrival and returns a result or an exception
               for each; runs in the thread of the batcher
    max_items  number of items of a batch
    max_size   total size of the items of a batch, unless it has a single item
    max_queue  number of waiting items, not counting those being worked on
    wait       maximum batching delay in seconds: how long an idle thread waits for more items

    Everything but the work happens in the event loop that called `start`, so there are no locks.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Result | Exception]],
        *,
        max_items: int,
        max_size: int,
        max_queue: int,
        wait: float,
    ) -> None:
        self._work = work
        self.max_items, self.max_size, self.max_queue = max_items, max_size, max_queue
        self.wait = wait
        self._queue: deque[_Ticket[Item, Result]] = deque()
        self._size = 0  # total size of the waiting items
        self._changed = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="capsrl-labeler")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """The number of items in the queue."""
        return len(self._queue)

    @property
    def is_open(self) -> bool:
        """Whether an item would be accepted now."""
        return self._task is not None and not self._closing and len(self._queue) < self.max_queue

    def start(self) -> None:
        """Start working; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Accept no more items, finish those in the queue, end the thread."""
        self._closing = True
        self._changed.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

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
        self._size += size
        self._changed.set()
        try:
            return await ticket.result
        except asyncio.CancelledError:
            if ticket in self._queue:
                self._queue.remove(ticket)
                self._size -= size
            raise

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._gather()
            batch = self._take()
            if not batch:
                if self._closing:
                    return
                continue
            items = [ticket.item for ticket in batch]
            try:
                results = await loop.run_in_executor(self._thread, self._work, items)
            except Exception as error:
                results = [error] * len(batch)
            for ticket, result in zip(batch, results, strict=True):
                if ticket.result.done():
                    continue  # its task was cancelled
                if isinstance(result, Exception):
                    ticket.result.set_exception(result)
                else:
                    ticket.result.set_result(result)

    async def _gather(self) -> None:
        """Wait until a batch is full or its first item has waited long enough, or until closed."""
        loop = asyncio.get_running_loop()
        while not self._closing:
            self._changed.clear()
            remaining = None
            if self._queue:
                remaining = self._queue[0].since + self.wait - loop.time()
                full = len(self._queue) >= self.max_items or self._size >= self.max_size
                if full or remaining <= 0:
                    return
            try:
                await asyncio.wait_for(self._changed.wait(), remaining)
            except TimeoutError:
                return

    def _take(self) -> list[_Ticket[Item, Result]]:
        batch: list[_Ticket[Item, Result]] = []
        size = 0
        while self._queue and len(batch) < self.max_items:
            if batch and size + self._queue[0].size > self.max_size:
                break
            ticket = self._queue.popleft()
            size += ticket.size
            batch.append(ticket)
        self._size -= size
        return batch
