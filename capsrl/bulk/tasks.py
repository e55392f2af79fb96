"""The tasks of workers: new shards, and those that have failed.

A worker gets shards that follow each other, so that it reads its input from front to back: a
compressed file cannot be read from the middle. One that has none left takes half of those of
another.

A shard that fails twice is split: parts of it are labeled, without output, until the rows that fail
on their own are known. Then the whole shard is labeled again, with error records in place of those
rows. Its output therefore depends on the rows only, not on how often and where workers were killed
for other reasons.
"""

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

ATTEMPTS = 2  # how often a shard, or a single row, may fail
MAX_BAD_ROWS = 16  # with more than that it is not the rows that are wrong

Run = tuple[int, int]  # the shards from the first up to, without, the second


@dataclass(frozen=True, slots=True)
class Task:
    """Labeling a shard, or trying some of its rows.

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
    """The failures of a shard.

    n_rows  of the shard
    reason  of the last failure
    """

    shard: int
    n_rows: int
    reason: str = ""
    _bad: dict[int, str] = field(default_factory=dict)  # rows, and why
    _trials: list[Task] = field(default_factory=list)  # those that are left, the next one last
    _counts: Counter[Task] = field(default_factory=Counter)  # how often a trial has failed
    _n_whole: int = 0  # how often the shard has failed as a whole, since it was split
    _is_split: bool = False

    @property
    def is_hopeless(self) -> bool:
        """Whether the shard must be set aside."""
        if len(self._bad) > MAX_BAD_ROWS:
            return True
        return self._is_split and not self._trials and self._n_whole >= ATTEMPTS

    def next_task(self) -> Task:
        """The next task for the shard; there is always one at a time."""
        if self._trials:
            return self._trials[-1]
        return Task(self.shard, tuple(sorted(self._bad.items())))

    def succeeded(self, task: Task) -> None:
        """The rows of a trial are good."""
        self._trials.remove(task)

    def failed(self, task: Task, reason: str) -> None:
        """A worker died of a task, or raised an error."""
        self.reason = reason
        if task.first is None or task.stop is None:
            self._n_whole += 1
            if self._n_whole >= ATTEMPTS and not self._is_split:
                self._is_split, self._n_whole = True, 0
                self._trials = self._halves(0, self.n_rows)
            return
        self._counts[task] += 1
        if task.stop - task.first > 1:
            self._trials.remove(task)
            self._trials += self._halves(task.first, task.stop)
        elif self._counts[task] >= ATTEMPTS:
            self._trials.remove(task)
            self._bad[task.first] = reason

    def _halves(self, first: int, stop: int) -> list[Task]:
        """Trials of both halves of some rows; one row is not divided."""
        middle = (first + stop) // 2
        ranges = [(middle, stop), (first, middle)] if middle > first else [(first, stop)]
        return [Task(self.shard, first=start, stop=end) for start, end in ranges]


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
