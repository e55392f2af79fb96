"""Which shard a worker gets next.

A worker gets shards that follow each other, so that it reads its input from front to back: a
compressed file cannot be read from the middle. One that has none left takes half of those of
another.
"""

import heapq
from collections.abc import Hashable, Iterable, Iterator

Run = tuple[int, int]  # the shards from the first up to, without, the second


class Queue:
    """The shards that are still to be labeled; holds runs of them, not each one.

    todo  ascending numbers of shards
    """

    def __init__(self, todo: Iterable[int]) -> None:
        # The longest first; ties by number, so that the order is always the same.
        self._free = [(first - stop, first, stop) for first, stop in _runs(todo)]
        self._size = -sum(size for size, *_ in self._free)
        heapq.heapify(self._free)
        self._owned: dict[Hashable, Run] = {}

    def __len__(self) -> int:
        return self._size

    def take(self, worker: Hashable) -> int | None:
        """The next shard for a worker; None if there is none left."""
        run = self._owned.pop(worker, None) or self._take_run()
        if run is None:
            return None
        first, stop = run
        if first + 1 < stop:
            self._owned[worker] = (first + 1, stop)
        self._size -= 1
        return first

    def release(self, worker: Hashable) -> None:
        """Give back the shards of a worker that has died."""
        if run := self._owned.pop(worker, None):
            self._free_run(*run)

    def _take_run(self) -> Run | None:
        if self._free:
            _, first, stop = heapq.heappop(self._free)
            return first, stop
        if not self._owned:
            return None
        owner, (first, stop) = max(self._owned.items(), key=lambda each: each[1][1] - each[1][0])
        middle = (first + stop) // 2
        if middle > first:
            self._owned[owner] = (first, middle)
        else:
            del self._owned[owner]
        return middle, stop

    def _free_run(self, first: int, stop: int) -> None:
        heapq.heappush(self._free, (first - stop, first, stop))


def _runs(numbers: Iterable[int]) -> Iterator[Run]:
    """The runs of consecutive numbers."""
    first = stop = None
    for number in numbers:
        if number != stop:
            if first is not None and stop is not None:
                yield first, stop
            first = number
        stop = number + 1
    if first is not None and stop is not None:
        yield first, stop
