"""The routes of the service: /label, /health, /ready, /metrics, and the page at /."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.requests import ClientDisconnect

from capsrl.labeler import Labeler
from capsrl.serve.batcher import Batcher, QueueFull
from capsrl.serve.limits import Limits, check_length, read_body, wait_for_departure
from capsrl.serve.metrics import CONTENT_TYPE, Metrics
from capsrl.serve.openapi import add_routes, describe_routes
from capsrl.serve.request_log import Watch, note
from capsrl.serve.requests import Answer, BadOrder, Order, label_orders
from capsrl.serve.schemas import parse_order

STATIC = Path(__file__).parent / "static"
CLIENT_GONE = 499  # nobody reads it but the log
# The page needs nothing from elsewhere, and nobody else should put it into a frame.
_PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; "
    "style-src 'self' 'unsafe-inline'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
}


def make_app(
    labeler: Labeler, *, limits: Limits | None = None, token: str | None = None
) -> FastAPI:
    """The service as an ASGI application, to be run by one process.

    token  that requests to /label and /metrics must bear; None lets everybody in
    """
    service = Service(labeler, limits or Limits(), token)
    app = FastAPI(lifespan=service.lifespan, openapi_url=None, docs_url=None, redoc_url=None)
    add_routes(app, service.label, service.health, service.ready, service.show_metrics)
    document = describe_routes(app, service.limits, with_token=token is not None)
    app.add_api_route("/openapi.json", lambda: JSONResponse(document), include_in_schema=False)
    app.add_api_route("/", _page, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(Watch, metrics=service.metrics)
    app.add_exception_handler(BadOrder, _refuse)
    app.add_exception_handler(QueueFull, _send_away)
    app.add_exception_handler(ClientDisconnect, _say_nothing)
    return app


class Service:
    """A labeler behind a queue."""

    def __init__(self, labeler: Labeler, limits: Limits, token: str | None) -> None:
        self.labeler = labeler
        self.limits = limits
        self._token = token
        self._batcher: Batcher[Order, Answer] = Batcher(
            self._work,
            max_items=limits.batch,
            max_size=limits.batch_characters,
            max_queue=limits.queue,
            wait=limits.wait,
        )
        self.metrics = Metrics(lambda: self._batcher.waiting)

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Open for business; at the end, answer those that are in the queue."""
        # The first run of a network is slow: memory is laid out, kernels are chosen.
        await asyncio.to_thread(self.labeler.label, "The first sentence takes longest.")
        self._batcher.start()
        yield
        await self._batcher.close()

    async def label(self, request: Request) -> Response:
        """Find out who did what to whom."""
        self._check_token(request)
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # A page of another site may post forms and plain text here without being asked.
            raise HTTPException(
                415, f"content-type: expected application/json, got {kind[:40] or 'none'}"
            )
        order = parse_order(await read_body(request, self.limits))
        characters = check_length(order.texts, trace=order.options.trace, limits=self.limits)
        note(request, texts=len(order.texts), characters=characters)
        answer = await self._answer(request, order, characters)
        if answer is None:
            return Response(status_code=CLIENT_GONE)
        note(request, sentences=answer.sentences, propositions=answer.propositions)
        return Response(answer.body, media_type="application/json")

    async def health(self) -> Response:
        """Whether the process is alive."""
        return JSONResponse({"status": "ok"})

    async def ready(self) -> Response:
        """Whether a request would be taken now."""
        if not self._batcher.is_open:
            raise QueueFull(retry_after=1)
        return JSONResponse({"status": "ready"})

    async def show_metrics(self, request: Request) -> Response:
        """What happened so far, for Prometheus."""
        self._check_token(request)
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def _answer(self, request: Request, order: Order, size: int) -> Answer | None:
        """The answer to an order, None if the client went away before it was there."""
        answer = asyncio.create_task(self._batcher.submit(order, size))
        gone = asyncio.create_task(wait_for_departure(request))
        try:
            await asyncio.wait(
                {answer, gone}, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if answer.done():
                return answer.result()
            if gone.done():
                return None
        finally:
            for task in (answer, gone):
                task.cancel()  # of the answer: frees its place in the queue
            await asyncio.gather(answer, gone, return_exceptions=True)
        raise HTTPException(
            503,
            f"expected an answer within {self.limits.seconds:g} seconds, got none; "
            "the server is busy, or the text is too long for it",
            headers={"Retry-After": "5"},
        )

    def _work(self, orders: Sequence[Order]) -> list[Answer | Exception]:
        start = time.perf_counter()
        answers = label_orders(self.labeler, orders)
        self.metrics.batch_seconds.observe(time.perf_counter() - start)
        self.metrics.batch_requests.observe(len(orders))
        for answer in answers:
            if isinstance(answer, Answer):
                self.metrics.count_answer(answer)
        return answers

    def _check_token(self, request: Request) -> None:
        if self._token is None:
            return
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        # Compared in constant time: how long it takes must not tell how much was right.
        if scheme.lower() != "bearer" or not hmac.compare_digest(
            given.strip().encode(), self._token.encode()
        ):
            raise HTTPException(
                401,
                "authorization: expected Bearer and the token of this server, got none or another",
                headers={"WWW-Authenticate": "Bearer"},
            )


async def _page() -> Response:
    return FileResponse(STATIC / "index.html", headers=_PAGE_HEADERS)


async def _refuse(request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 422)


async def _send_away(request: Request, error: Exception) -> Response:
    assert isinstance(error, QueueFull)
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": str(error.retry_after)})


async def _say_nothing(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_GONE)
