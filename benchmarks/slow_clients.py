"""Measure the service among clients that keep it waiting: `python -m benchmarks.slow_clients`.

1,000 connections send nothing, 150 send their headers and 150 their bodies byte by byte; each is
opened again when the server closes it. Meanwhile honest clients, each request with a connection of
its own, ask /label, /health and /ready. Every answer must be 200, and memory must not grow.
Exits with 1 if any of these checks fails.
"""

import argparse
import asyncio
import json
import resource
import sys
import time
from collections import Counter
from statistics import median

from benchmarks.serve import memory, server

SILENT, SLOW = 1000, 150
INTERVAL = 0.2  # seconds between two requests of an honest client
_BODY = json.dumps({"text": "Hiti signed the contract in Geneva."}).encode()
_JSON = b"Host: x\r\nContent-Type: application/json\r\n"
_LABEL = b"POST /label HTTP/1.1\r\n" + _JSON + b"Content-Length: %d\r\n" % len(_BODY)
HONEST = {
    "/label": _LABEL + b"Connection: close\r\n\r\n" + _BODY,
    "/health": b"GET /health HTTP/1.0\r\n\r\n",
    "/ready": b"GET /ready HTTP/1.0\r\n\r\n",
}
KINDS = {  # what is sent at once, and how many connections do so
    "silent": (b"", SILENT),
    "slow headers": (b"GET /health HTTP/1.1\r\nX-Slow: ", SLOW),
    "slow bodies": (_LABEL.replace(b"%d" % len(_BODY), b"100000") + b"\r\n", SLOW),
}


async def hold(port: int, kind: str, closed: Counter[str]) -> None:
    """Hold a connection open, again and again."""
    while True:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(KINDS[kind][0])
            end = asyncio.create_task(reader.read())
            while not end.done():
                await asyncio.wait({end}, timeout=1.0)
                if kind != "silent":
                    writer.write(b" ")
            writer.close()
            answer = end.result().split(b" ", 2)
            closed[f"{kind}: {answer[1].decode() if len(answer) > 1 else 'closed'}"] += 1
        except OSError:
            closed[f"{kind}: reset"] += 1


async def ask(port: int, path: str, outcomes: Counter[str], seconds: list[float]) -> None:
    """Send one honest request."""
    start = time.perf_counter()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HONEST[path])
        answer = await asyncio.wait_for(reader.read(), 60)
        writer.close()
        outcome = answer.split(b" ", 2)[1].decode() if answer else "nothing"
    except (OSError, TimeoutError) as error:
        outcome = type(error).__name__
    outcomes[f"{path} {outcome}"] += 1
    seconds.append(time.perf_counter() - start)


async def measure(port: int, process: int, duration: float) -> bool:
    """Run all clients; returns whether all checks passed."""
    closed: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    seconds: list[float] = []
    for path in HONEST:
        await ask(port, path, Counter(), [])  # waits until the server is ready
    holding = [
        asyncio.create_task(hold(port, kind, closed))
        for kind, (_, n) in KINDS.items()
        for _ in range(n)
    ]
    held: list[float] = []
    end = time.perf_counter() + duration
    asked: list[asyncio.Task[None]] = []
    while time.perf_counter() < end:
        asked += [asyncio.create_task(ask(port, path, outcomes, seconds)) for path in HONEST]
        held.append(memory(process))
        await asyncio.sleep(INTERVAL)
    await asyncio.gather(*asked)
    for task in holding:
        task.cancel()
    await asyncio.gather(*holding, return_exceptions=True)
    ordered, n = sorted(seconds), max(1, len(held) // 4)
    quarters = [median(held[i : i + n]) for i in range(0, 4 * n, n)]
    print(f"honest requests in {duration:g} s: {dict(outcomes)}")
    print(f"    median {ordered[len(ordered) // 2] * 1000:.0f} ms, slowest {ordered[-1]:.2f} s")
    print(f"connections that the server ended: {dict(sorted(closed.items()))}")
    shown = ", ".join(f"{size:.0f}" for size in quarters)
    print(f"memory in each quarter of the time: {shown} MB")
    right = all(name.endswith(" 200") for name in outcomes)
    return right and quarters[-1] < quarters[1] * 1.05


def main() -> None:
    """Measure, print, and exit with 1 if a check fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with server() as (port, process):  # with the usual number of open files
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
        good = asyncio.run(measure(port, process, options.seconds))
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    print("all checks passed" if good else "a check FAILED")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
