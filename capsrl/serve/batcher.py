"""Items that come one by one, from many tasks -> lists of them, worked on by one thread."""

import asyncio
import math
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")


class QueueFull(Exception):
    """No place for another item; `retry_after` is a guess, in whole seconds, when there will be."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"expected a place in the queue, got none; try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(eq=False)
class _Place(Generic[Item, Answer]):
    """An item in the queue."""

    item: Item
    size: int
    since: float
    answer: "asyncio.Future[Answer]"


class Batcher(Generic[Item, Answer]):
    """Gathers what comes at the same time, so that it costs little more than one alone.

    work       gets the items of a batch in the order they came, gives an answer or an exception
               for each; runs in the one thread of the batcher
    max_items  of a batch
    max_size   of a batch: the sum of the sizes of its items, unless it is a single one
    max_queue  items waiting; those being worked on do not count
    wait       seconds an item waits for others while the thread has nothing to do

    All but the work happens in the event loop that `start` was called in: there are no locks.
    """

    def __init__(
        self,
        work: Callable[[Sequence[Item]], Sequence[Answer | Exception]],
        *,
        max_items: int,
        max_size: int,
        max_queue: int,
        wait: float,
    ) -> None:
        self._work = work
        self.max_items, self.max_size, self.max_queue = max_items, max_size, max_queue
        self.wait = wait
        self._queue: deque[_Place[Item, Answer]] = deque()
        self._size = 0  # of all that wait
        self._changed = asyncio.Event()
        self._closing = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="capsrl-labeler")
        self._task: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """How many items are in the queue."""
        return len(self._queue)

    @property
    def is_open(self) -> bool:
        """Whether an item would be taken now."""
        return self._task is not None and not self._closing and len(self._queue) < self.max_queue

    def start(self) -> None:
        """Begin to work; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        """Take no more items, finish those that wait, end the thread."""
        self._closing = True
        self._changed.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    async def submit(self, item: Item, size: int) -> Answer:
        """The answer to an item. Raises QueueFull, or what the work gave as its exception.

        When the task that waits here is cancelled, its place in the queue is free at once.
        """
        loop = asyncio.get_running_loop()
        if not self.is_open:
            # Those that wait came within the time since the first of them; so long will they last.
            age = loop.time() - self._queue[0].since if self._queue else 0.0
            raise QueueFull(max(1, math.ceil(age)))
        place = _Place[Item, Answer](item, size, loop.time(), loop.create_future())
        self._queue.append(place)
        self._size += size
        self._changed.set()
        try:
            return await place.answer
        except asyncio.CancelledError:
            if place in self._queue:
                self._queue.remove(place)
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
            items = [place.item for place in batch]
            try:
                answers = await loop.run_in_executor(self._thread, self._work, items)
            except Exception as error:
                answers = [error] * len(batch)
            for place, answer in zip(batch, answers, strict=True):
                if place.answer.done():
                    continue  # nobody waits for it any more
                if isinstance(answer, Exception):
                    place.answer.set_exception(answer)
                else:
                    place.answer.set_result(answer)

    async def _gather(self) -> None:
        """Wait until there is a batch worth working on, or the end."""
        loop = asyncio.get_running_loop()
        while not self._closing:
            self._changed.clear()
            patience = None
            if self._queue:
                patience = self._queue[0].since + self.wait - loop.time()
                full = len(self._queue) >= self.max_items or self._size >= self.max_size
                if full or patience <= 0:
                    return
            try:
                await asyncio.wait_for(self._changed.wait(), patience)
            except TimeoutError:
                return

    def _take(self) -> list[_Place[Item, Answer]]:
        batch: list[_Place[Item, Answer]] = []
        size = 0
        while self._queue and len(batch) < self.max_items:
            if batch and size + self._queue[0].size > self.max_size:
                break
            place = self._queue.popleft()
            size += place.size
            batch.append(place)
        self._size -= size
        return batch
