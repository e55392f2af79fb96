"""Measure the service under load, on loopback: `python benchmarks/serve.py [--seconds 20]`.

Servers of the shipped model, and clients in this process:
1. 16 clients, each sends a request when the last is answered: requests per second, time to the
   answer, processor time of the server per request. Requests are labeled in batches, or one at a
   time (`--batch 1`), or by another version of capsrl (`--old CHECKOUT`), in turns. Once with a
   short sentence per request, once with texts of up to three sentences.
2. Texts are sent at four times that rate, without waiting for responses. Every response must be
   200 or 503, every 200 must equal the answer of the library, and memory must not grow.
Exits with 1 if any of these checks fails. Another version has its own model, unless `--model` names
one for all servers; its answers are not checked.
"""

import argparse
import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median

import capsrl

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = 16
FACTOR = 4
MAX_CONNECTIONS = 300  # the server accepts 2048
TOLERANCE = 1e-3
_IDLE = 3.0  # seconds; the server closes idle connections after 5
_WARM = 20.0  # seconds of overload before memory is measured

Json = dict[str, object]
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def make_texts() -> tuple[list[str], list[str]]:
    """240 sentences of 4 to 15 words and 480 texts of up to 40 words, in random order."""
    who = ("Hiti", "The old court", "Nobody in Prague", "Her lawyer", "A company that sells tea")
    did = ("signed the contract", "refused to pay", "left early", "wants to buy a boat")
    when = ("yesterday", "in May 1999", "after the war ended", "without a word")
    where = ("", " in Geneva", " at home")
    more = ("", " The decision of the board surprised everyone.", " Why?", " It rained.")
    far = ("", " Critics said that the sale, announced on Monday, would harm those who had no say.")
    sentences = [f"{a} {b} {c}{d}." for a, b, c, d in product(who, did, when, where)]
    texts = [f"{a}{b}{c}" for a, b, c in product(sentences[::4], more, far)]
    chance = random.Random(1)
    return chance.sample(sentences, len(sentences)), chance.sample(texts, len(texts))


def same(ours: object, theirs: object) -> bool:
    """Whether two JSON values are equal, probabilities to within a tolerance."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= TOLERANCE
    return ours == theirs


@contextmanager
def server(*options: str, root: Path = ROOT) -> Iterator[tuple[int, int]]:
    """Run a server of the version in a checkout; yields its port and process id."""
    paths = [str(root)]
    if root == ROOT and "PYTHONPATH" in os.environ:
        paths.append(os.environ["PYTHONPATH"])
    process = subprocess.Popen(
        [sys.executable, "-m", "capsrl", "serve", "--port", "0", "--device", "cpu", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=root,  # `python -m` imports from there first
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    assert process.stdout is not None
    try:
        found = re.search(r":(\d+)/", process.stdout.readline())
        if found is None:
            sys.exit("the server did not start; try capsrl serve")
        yield int(found[1]), process.pid
    finally:
        process.terminate()
        process.wait()


class Client:
    """Posts texts over persistent connections and checks the responses."""

    def __init__(self, port: int, answers: dict[str, Json]) -> None:
        self._port = port
        self._answers = answers  # empty: they are not checked
        self._right: set[tuple[str, bytes]] = set()
        self._idle: deque[tuple[float, Connection]] = deque()
        self.outcomes: Counter[str] = Counter()
        self.seconds: list[float] = []

    async def ask(self, text: str) -> None:
        """Post one text and count the outcome."""
        start = time.perf_counter()
        try:
            async with self._connection() as (reader, writer):
                body = json.dumps({"text": text}).encode()
                head = (
                    "POST /label HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body)
                answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
                status = answer.split(" ", 2)[1]
                length = re.search(r"content-length: (\d+)", answer)
                content = await reader.readexactly(int(length[1]) if length else 0)
        except (OSError, asyncio.IncompleteReadError):
            self.outcomes["lost"] += 1
            return
        if status == "200":
            self.seconds.append(time.perf_counter() - start)
            if not self._is_right(text, content):
                status = "200 but wrong"
        elif status == "503" and "retry-after: " not in answer:
            status = "503 without retry-after"
        self.outcomes[status] += 1

    def _is_right(self, text: str, content: bytes) -> bool:
        if self._answers and (text, content) not in self._right:
            if not same(json.loads(content)["sentences"], self._answers[text]["sentences"]):
                return False
            self._right.add((text, content))
        return True

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[Connection]:
        connection = None
        while self._idle and connection is None:
            since, connection = self._idle.pop()
            if time.perf_counter() - since > _IDLE:
                connection[1].close()
                connection = None
        if connection is None:
            connection = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            yield connection
        except BaseException:
            connection[1].close()
            raise
        self._idle.append((time.perf_counter(), connection))

    async def close(self) -> None:
        """Close the connections."""
        for _, (_, writer) in self._idle:
            writer.close()


async def closed_loop(client: Client, texts: list[str], seconds: float) -> float:
    """Requests per second of clients that wait for each response before the next request."""
    start = time.perf_counter()

    async def one(number: int) -> None:
        while time.perf_counter() - start < seconds:
            await client.ask(texts[number % len(texts)])
            number += CLIENTS

    await asyncio.gather(*map(one, range(CLIENTS)))
    took = time.perf_counter() - start
    await client.close()
    return client.outcomes["200"] / took


async def open_loop(
    client: Client, texts: list[str], seconds: float, rate: float, watch: Callable[[], None]
) -> int:
    """Send requests at a fixed rate, without waiting for responses; returns their number."""
    start = looked = time.perf_counter()
    sent = 0
    tasks: set[asyncio.Task[None]] = set()
    while (now := time.perf_counter()) - start < seconds:
        if now - looked >= 0.5:
            looked = now
            watch()
        while sent < (now - start) * rate and len(tasks) < MAX_CONNECTIONS:
            task = asyncio.create_task(client.ask(texts[sent % len(texts)]))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
            sent += 1
        await asyncio.sleep(0.005)
    await asyncio.gather(*tasks)
    await client.close()
    return sent


def memory(process: int) -> float:
    """Resident memory of a process in megabytes."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1024


def processor_seconds(process: int) -> float:
    """Processor time that a process has used, by all its threads."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """What one server did in all its turns."""

    rates: list[float] = field(default_factory=list)  # requests/s of each turn
    seconds: list[float] = field(default_factory=list)  # to each answer
    processor: float = 0.0  # seconds
    outcomes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        each = self.processor / max(1, self.outcomes["200"]) * 1000
        spread = f"{min(self.rates):.0f} to {max(self.rates):.0f}"
        shown = f"{median(self.rates):6.1f} requests/s ({spread}), "
        shown += f"median {median(self.seconds) * 1000:.0f} ms"
        return f"{shown}, {each:.2f} ms of processor time each, {dict(self.outcomes)}"


def measure_throughput(
    name: str, texts: list[str], answers: dict[str, Json], options: argparse.Namespace
) -> float:
    """Measurement 1; returns the rate in batches."""
    model = ["--model", options.model]
    kinds: dict[str, tuple[Path, list[str], dict[str, Json]]] = {
        "in batches": (ROOT, model, answers),
        "one at a time": (ROOT, [*model, "--batch", "1"], answers),
    }
    if options.old is not None:
        kinds["old"] = (options.old.resolve(), model, {})
    measured = {kind: Measured() for kind in kinds}
    with ExitStack() as stack:
        servers = {
            kind: stack.enter_context(server(*arguments, root=root))
            for kind, (root, arguments, _) in kinds.items()
        }
        for turn in range(options.turns + 1):
            order = list(servers.items())  # back and forth: the load of the machine changes
            for kind, (port, process) in order[:: -1 if turn % 2 else 1]:
                client = Client(port, kinds[kind][2])
                before = processor_seconds(process)
                seconds = options.short if turn else 3  # the first turn warms up
                rate = asyncio.run(closed_loop(client, texts, seconds))
                if turn:
                    measured[kind].rates.append(rate)
                    measured[kind].seconds += client.seconds
                    measured[kind].processor += processor_seconds(process) - before
                    measured[kind].outcomes += client.outcomes
    print(f"{CLIENTS} clients, {name}")
    for kind, result in measured.items():
        print(f"    {kind:13} {result}")
    return median(measured["in batches"].rates)


def measure_overload(
    texts: list[str], answers: dict[str, Json], model: str, seconds: float, rate: float
) -> bool:
    """Measurement 3; returns whether all checks passed."""
    with server("--model", model) as (port, process):
        # Full batches are faster than those of 16 clients, so the capacity is measured again;
        # after that the server has allocated the memory that full batches need.
        warm = Client(port, answers)
        asyncio.run(open_loop(warm, texts, _WARM, FACTOR * rate, lambda: None))
        rate = FACTOR * max(rate, warm.outcomes["200"] / _WARM)
        held: list[float] = []
        client = Client(port, answers)

        def watch() -> None:
            held.append(memory(process))

        sent = asyncio.run(open_loop(client, texts, seconds, rate, watch))
    outcomes = client.outcomes
    n = max(1, len(held) // 4)
    quarters = [median(held[i : i + n]) for i in range(0, 4 * n, n)]
    ordered = sorted(client.seconds)
    print(f"{sent} requests in {seconds:g} s, {sent / seconds:.0f}/s of {rate:.0f}/s intended")
    print(f"    {dict(outcomes)}, {outcomes['200'] / seconds:.1f} answers/s")
    print(
        f"    answers after {ordered[len(ordered) // 2]:.2f} s (median), "
        f"{ordered[int(len(ordered) * 0.99)]:.2f} s (99 %)"
    )
    shown = ", ".join(f"{size:.0f}" for size in quarters)
    print(f"    memory in each quarter of the time: {shown} MB")
    answered = outcomes["200"] + outcomes["503"]
    return answered == sent and outcomes["503"] > 0 and quarters[-1] < quarters[0] * 1.05


def main() -> None:
    """Measure, print, and exit with 1 if a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=20, help="seconds of overload")
    parser.add_argument("--short", type=float, default=4, help="seconds of each other turn")
    parser.add_argument("--turns", type=int, default=3, help="turns of each server")
    parser.add_argument("--old", type=Path, help="checkout of another version to compare with")
    parser.add_argument("--model", default="en", help="model of all servers")
    options = parser.parse_args()
    sentences, texts = make_texts()
    labeled = capsrl.load(options.model).label_many([*sentences, *texts])
    answers: dict[str, Json] = {
        text: {"sentences": [sentence.standalone().to_dict() for sentence in result]}
        for text, result in zip([*sentences, *texts], labeled, strict=True)
    }
    measure_throughput("a sentence each", sentences, answers, options)
    rate = measure_throughput("a text each", texts, answers, options)
    good = measure_overload(texts, answers, options.model, options.seconds, rate)
    print("all checks passed" if good else "a check FAILED")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
