"""How much is too much: of a body, a text, a queue, a wait."""

import asyncio
from dataclasses import dataclass

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

MAX_ITERATIONS = 10  # the paper goes to 6; the size of a trace grows with them
MAX_PREDICATES = 1000
MAX_TEXTS = 100


@dataclass(frozen=True)
class Limits:
    """What one server takes.

    body              bytes of a request
    characters        of all texts of a request
    trace_characters  the same when a trace is asked for: its size is that of words x predicates
    seconds           from the first byte of a request to its answer
    queue             requests that may wait while others are being labelled
    batch             requests labelled together
    batch_characters  of their texts, unless a single request has more
    wait              seconds that the first request of a batch waits for company
    """

    body: int = 1 << 20
    characters: int = 20_000
    trace_characters: int = 4_000
    seconds: float = 30.0
    queue: int = 64
    batch: int = 32
    batch_characters: int = 10_000
    wait: float = 0.004


async def read_body(request: Request, limits: Limits) -> bytes:
    """The body of a request.

    Raises HTTPException: 413 as soon as the body is known to be too long, 408 when it takes too
    long to come; ClientDisconnect when it never comes.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limits.body:
        raise _too_long(limits)
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for part in request.stream():
                body += part
                if len(body) > limits.body:
                    raise _too_long(limits)
    except TimeoutError:
        raise HTTPException(
            408,
            f"body: expected all of it within {limits.seconds:g} seconds, got {len(body)} bytes",
        ) from None
    return bytes(body)


async def wait_for_departure(request: Request) -> None:
    """Return when the client has gone; the body must have been read."""
    try:
        while (await request.receive())["type"] != "http.disconnect":
            pass
    except ClientDisconnect:
        return


def check_length(texts: tuple[str, ...], *, trace: bool, limits: Limits) -> int:
    """The characters of the texts; raises HTTPException 413 for too many."""
    n = sum(map(len, texts))
    most = min(limits.characters, limits.trace_characters) if trace else limits.characters
    if n > most:
        what = "characters with a trace" if trace else "characters"
        raise HTTPException(
            413, f"text: expected at most {most:,} {what}, got {n:,}; send it in parts"
        )
    return n


def _too_long(limits: Limits) -> HTTPException:
    return HTTPException(
        413,
        f"body: expected at most {limits.body:,} bytes, got more; send the texts in parts",
        # The rest of the body will not be read, so the connection cannot be used again.
        headers={"Connection": "close"},
    )
