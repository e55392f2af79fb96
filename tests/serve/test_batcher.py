"""The batcher, with a function that doubles numbers as its work."""

import asyncio
import math
import threading

import pytest

from capsrl.serve.batcher import Batcher, QueueFull
from tests.helpers.serving import until


class Doubler:
    """Doubles numbers, records its batches, and blocks while `go` is not set."""

    def __init__(self):
        self.batches = []
        self.go = threading.Event()
        self.go.set()

    def __call__(self, numbers):
        self.batches.append(list(numbers))
        assert self.go.wait(120)
        if 666 in numbers:
            raise RuntimeError("the work failed")
        return [ValueError(f"{n} is odd") if n % 2 else 2 * n for n in numbers]


def run(scenario, **options):
    """Run an async function of (work, batcher); returns the batches."""
    work = Doubler()

    async def main():
        limits = {"threads": 1, "max_items": 8, "max_size": 100, "max_queue": 50}
        batcher = Batcher(work, **(limits | options))
        try:
            await scenario(work, batcher)
        finally:
            work.go.set()
            await batcher.close()

    asyncio.run(main())
    return work.batches


async def behind(work, batcher, submitted):
    """The results of items that wait together while the thread is busy with 0."""
    work.go.clear()
    first = asyncio.create_task(batcher.submit(0, 1))
    await until(lambda: work.batches)
    others = [asyncio.create_task(each) for each in submitted]
    await until(lambda: batcher.waiting == len(others))
    work.go.set()
    assert await first == 0
    return await asyncio.gather(*others, return_exceptions=True)


def test_items_gather_while_a_batch_is_worked_on():
    async def scenario(work, batcher):
        items = [batcher.submit(n, 1) for n in (2, 4, 6)]
        assert await behind(work, batcher, items) == [4, 8, 12]

    assert run(scenario) == [[0], [2, 4, 6]]


def test_batches_are_limited_in_items_and_size():
    async def scenario(work, batcher):
        sizes = [1, 1, 1, 6, 5, 30, 1]
        await behind(work, batcher, [batcher.submit(2 * i, size) for i, size in enumerate(sizes)])

    batches = run(scenario, max_items=3, max_size=10)
    assert batches == [[0], [0, 2, 4], [6], [8], [10], [12]]


def test_threads_work_at_the_same_time():
    async def scenario(work, batcher):
        work.go.clear()
        tasks = [asyncio.create_task(batcher.submit(n, 1)) for n in (2, 4, 6, 8)]
        await until(lambda: len(work.batches) == 2 and batcher.waiting == 2)
        work.go.set()
        assert await asyncio.gather(*tasks) == [4, 8, 12, 16]

    first, second, *rest = run(scenario, threads=2)
    assert sorted([first, second]) == [[2], [4]]
    assert sorted(sum(rest, [])) == [6, 8]


def test_full_queue():
    async def scenario(work, batcher):
        loop = asyncio.get_running_loop()
        work.go.clear()
        first = asyncio.create_task(batcher.submit(2, 1))
        await until(lambda: work.batches)
        start = loop.time()
        others = [asyncio.create_task(batcher.submit(n, 1)) for n in (4, 6)]
        await until(lambda: batcher.waiting == 2)
        assert not batcher.is_open
        # The estimate is the age of the queue: a second, and more when the machine was busy.
        for least, seconds in ((1, 0), (2, 1.1)):
            await asyncio.sleep(seconds)
            with pytest.raises(QueueFull) as refused:
                await batcher.submit(8, 1)
            told = int(refused.value.headers["Retry-After"])
            assert least <= told <= math.ceil(loop.time() - start)
            assert refused.value.detail == f"the server is busy; try again in {told} s"
        work.go.set()
        assert await asyncio.gather(first, *others) == [4, 8, 12]
        assert await batcher.submit(8, 1) == 16

    run(scenario, max_queue=2)


def test_cancelled_items_leave_the_queue():
    async def scenario(work, batcher):
        work.go.clear()
        first = asyncio.create_task(batcher.submit(2, 60))
        await until(lambda: work.batches)
        second = asyncio.create_task(batcher.submit(4, 60))
        await until(lambda: batcher.waiting == 1)
        second.cancel()
        await until(lambda: batcher.waiting == 0)
        third = asyncio.create_task(batcher.submit(6, 50))
        fourth = asyncio.create_task(batcher.submit(8, 50))
        await until(lambda: batcher.waiting == 2)
        first.cancel()  # too late: it is being worked on
        work.go.set()
        assert await asyncio.gather(third, fourth) == [12, 16]

    assert run(scenario) == [[2], [6, 8]]


def test_one_item_may_fail():
    async def scenario(work, batcher):
        answers = await behind(work, batcher, [batcher.submit(n, 1) for n in (2, 3, 4)])
        assert [answers[0], answers[2]] == [4, 8]
        assert isinstance(answers[1], ValueError)
        assert str(answers[1]) == "3 is odd"

    assert run(scenario) == [[0], [2, 3, 4]]


def test_the_thread_survives_an_exception():
    async def scenario(work, batcher):
        answers = await behind(work, batcher, [batcher.submit(n, 1) for n in (2, 666)])
        assert [str(answer) for answer in answers] == ["the work failed"] * 2
        assert await batcher.submit(4, 1) == 8

    run(scenario)


def test_close_drains_the_queue():
    async def scenario(work, batcher):
        work.go.clear()
        tasks = [asyncio.create_task(batcher.submit(n, 1)) for n in (2, 4, 6)]
        await until(lambda: work.batches)
        end = asyncio.create_task(batcher.close())
        await asyncio.sleep(0)
        with pytest.raises(QueueFull):
            await batcher.submit(8, 1)
        work.go.set()
        assert await asyncio.gather(*tasks) == [4, 8, 12]
        await end

    assert run(scenario, max_items=1) == [[2], [4], [6]]
