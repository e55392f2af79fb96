"""What workers do next: new shards, and those that have failed.

A worker gets shards that follow each other, so that it reads its input from front to back: a
compressed file cannot be read from the middle. One that has none left takes half of those of
another.

A shard that fails twice is split: parts of it are labeled, without output, until the rows that fail
on their own are known. Then the whole shard is labeled again, with error records in place of those
rows. Its output therefore depends on the rows only, not on how often and where workers were killed
for other reasons.
"""

import heapq
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

ATTEMPTS = 2  # how often a shard, or a single row, may fail
MAX_BAD_ROWS = 16  # with more than that it is not the rows that are wrong

Run = tuple[int, int]  # the shards from the first up to, without, the second


@dataclass(frozen=True, slots=True)
class Task:
    """What a worker does with a shard.

    bad_rows    numbers of rows in the shard that become error records, and why
    first, stop the rows to try, without output; None to label the shard and write it
    """

    shard: int
    bad_rows: tuple[tuple[int, str], ...] = ()
    first: int | None = None
    stop: int | None = None

    @property
    def is_trial(self) -> bool:
        """Whether it only finds out if some rows can be labeled."""
        return self.first is not None


@dataclass
class Failures:
    """What is known of a shard that has failed.

    n_rows  of the shard
    reason  of the last failure
    """

    shard: int
    n_rows: int
    reason: str = ""
    _bad: dict[int, str] = field(default_factory=dict)
    _untried: list[tuple[int, int]] = field(default_factory=list)
    _counts: dict[tuple[int, int] | None, int] = field(default_factory=dict)
    _split: bool = False

    @property
    def is_hopeless(self) -> bool:
        """Whether the shard must be set aside."""
        if len(self._bad) > MAX_BAD_ROWS:
            return True
        return self._split and not self._untried and self._counts.get(None, 0) >= ATTEMPTS

    def next_task(self) -> Task:
        """What to do next with the shard; it is always one thing at a time."""
        if self._untried:
            first, stop = self._untried[-1]
            return Task(self.shard, first=first, stop=stop)
        return Task(self.shard, tuple(sorted(self._bad.items())))

    def succeeded(self, task: Task) -> None:
        """The rows of a trial are good."""
        self._untried.remove(_range(task))

    def failed(self, task: Task, reason: str) -> None:
        """A worker died of a task, or raised an error."""
        self.reason = reason
        if not task.is_trial:
            self._fail_whole()
            return
        first, stop = tried = _range(task)
        count = self._counts[tried] = self._counts.get(tried, 0) + 1
        if stop - first > 1:
            self._untried.remove(tried)
            middle = (first + stop) // 2
            self._untried += [(middle, stop), (first, middle)]
        elif count >= ATTEMPTS:
            self._untried.remove(tried)
            self._bad[first] = reason

    def _fail_whole(self) -> None:
        count = self._counts[None] = self._counts.get(None, 0) + 1
        if count >= ATTEMPTS and not self._split:
            self._split = True
            self._counts[None] = 0
            self._untried = [(0, self.n_rows)] if self.n_rows == 1 else _halves(self.n_rows)


def _range(task: Task) -> tuple[int, int]:
    assert task.first is not None and task.stop is not None
    return task.first, task.stop


def _halves(n_rows: int) -> list[tuple[int, int]]:
    """Both halves of a shard, the one to try first at the end."""
    return [(n_rows // 2, n_rows), (0, n_rows // 2)]


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
