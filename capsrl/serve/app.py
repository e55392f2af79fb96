"""The routes of the service: /label, /health, /ready, /metrics, and the page at /."""

import asyncio
import hmac
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import ClientDisconnect

import capsrl
from capsrl.serve import openapi
from capsrl.serve.batcher import Batcher, QueueFull
from capsrl.serve.labeling import LabelResponse, label_requests
from capsrl.serve.limits import Limits
from capsrl.serve.observability import Metrics, RequestLog, log_fields
from capsrl.serve.page import add_page
from capsrl.serve.requests import BadRequest, LabelRequest, read_request, wait_for_disconnect

if TYPE_CHECKING:  # `capsrl serve --help` needs no torch
    from capsrl.labeler import Labeler

CLIENT_GONE = 499  # only seen in the log


def make_app(
    labeler: "Labeler", *, limits: Limits | None = None, token: str | None = None
) -> FastAPI:
    """The service as an ASGI application for a single process.

    token  bearer token that /label and /metrics require; None for no authentication
    """
    service = Service(labeler, limits or Limits())
    app = FastAPI(
        title="capsrl",
        version=capsrl.__version__,
        summary="Semantic role labeling: who did what to whom",
        lifespan=service.lifespan,
        docs_url=None,
        redoc_url=None,
    )
    _add_routes(app, service, token)
    document = openapi.make_document(app)
    app.openapi = lambda: document  # type: ignore[method-assign]  # FastAPI's way to extend it
    add_page(app, labeler)
    app.add_middleware(RequestLog, metrics=service.metrics)
    app.add_exception_handler(BadRequest, _on_bad_request)
    app.add_exception_handler(QueueFull, _on_queue_full)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    return app


def _add_routes(app: FastAPI, service: "Service", token: str | None) -> None:
    guarded: dict[str, Any] = {} if token is None else {"dependencies": [Depends(_guard(token))]}
    unauthorized = () if token is None else (401,)
    app.post(
        "/label",
        operation_id="label",
        response_model=None,
        responses={
            200: {
                "description": "The sentences of each text, with their propositions",
                "model": openapi.TextResult | openapi.TextsResult,
            },
            **openapi.error_responses(*unauthorized, 408, 413, 415, 422, 503),
        },
        openapi_extra=openapi.request_body(service.limits),
        **guarded,
    )(service.label)
    app.get("/health", operation_id="health", response_description="Alive")(service.health)
    app.get(
        "/ready",
        operation_id="ready",
        response_description="Ready to accept requests",
        responses=openapi.error_responses(503),
    )(service.ready)
    app.get(
        "/metrics",
        operation_id="metrics",
        response_class=PlainTextResponse,
        response_description="Metrics in the text format of Prometheus",
        responses=openapi.error_responses(*unauthorized),
        **guarded,
    )(service.show_metrics)


class Service:
    """A labeler behind a queue."""

    def __init__(self, labeler: "Labeler", limits: Limits) -> None:
        self.labeler = labeler
        self.limits = limits
        self._batcher: Batcher[LabelRequest, LabelResponse] = Batcher(
            self._label_batch,
            max_items=limits.batch,
            max_size=limits.batch_characters,
            max_queue=limits.queue,
            wait=limits.wait,
        )
        self.metrics = Metrics(lambda: self._batcher.waiting)

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Warm up and start the batcher; on shutdown, drain the queue."""
        # The first forward pass is slow: it allocates memory and selects kernels.
        await asyncio.to_thread(self.labeler.label, "The first sentence takes longest.")
        self._batcher.start()
        yield
        await self._batcher.close()

    async def label(self, request: Request) -> Response:
        """Find the predicates of texts, with their senses and arguments."""
        label_request = await read_request(request, self.limits)
        log_fields(request, texts=len(label_request.texts), characters=label_request.characters)
        response = await self._respond(request, label_request)
        if response is None:
            return Response(status_code=CLIENT_GONE)
        log_fields(request, sentences=response.sentences, propositions=response.propositions)
        return Response(response.body, media_type="application/json")

    async def health(self) -> openapi.Status:
        """Whether the process is alive."""
        return openapi.Status(status="ok")

    async def ready(self) -> openapi.Status:
        """Whether a request would be accepted now."""
        if not self._batcher.is_open:
            raise QueueFull(retry_after=1)
        return openapi.Status(status="ready")

    async def show_metrics(self) -> Response:
        """Counters and histograms for Prometheus."""
        return Response(self.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    async def _respond(self, request: Request, label_request: LabelRequest) -> LabelResponse | None:
        """The response to a request; None if its client disconnected before it was ready."""
        response = asyncio.create_task(
            self._batcher.submit(label_request, label_request.characters)
        )
        gone = asyncio.create_task(wait_for_disconnect(request))
        try:
            await asyncio.wait(
                {response, gone}, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if response.done():
                return response.result()
            if gone.done():
                return None
        finally:
            for task in (response, gone):
                task.cancel()  # takes the request out of the queue
            await asyncio.gather(response, gone, return_exceptions=True)
        raise HTTPException(
            503,
            f"server: expected a response within {self.limits.seconds:g} seconds, got none; "
            "the server is busy, or the text is too long for it",
            headers={"Retry-After": "5"},
        )

    def _label_batch(self, requests: Sequence[LabelRequest]) -> list[LabelResponse | Exception]:
        start = time.perf_counter()
        responses = label_requests(self.labeler, requests)
        self.metrics.batch_seconds.observe(time.perf_counter() - start)
        self.metrics.batch_requests.observe(len(requests))
        for response in responses:
            if isinstance(response, LabelResponse):
                self.metrics.count_response(response)
        return responses


def _guard(token: str) -> Callable[..., Awaitable[None]]:
    """The dependency that lets only requests with the token pass."""
    bearer = HTTPBearer(auto_error=False, scheme_name="token")

    async def check_token(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> None:
        # Compared in constant time: the time it takes must not reveal how much was right.
        if given is None or not hmac.compare_digest(given.credentials.encode(), token.encode()):
            raise HTTPException(
                401,
                "authorization: expected Bearer and the token of this server, got another or none",
                headers={"WWW-Authenticate": "Bearer"},
            )

    return check_token


async def _on_bad_request(request: Request, error: Exception) -> Response:
    return JSONResponse({"detail": str(error)}, 422)


async def _on_queue_full(request: Request, error: Exception) -> Response:
    assert isinstance(error, QueueFull)
    return JSONResponse({"detail": str(error)}, 503, {"Retry-After": str(error.retry_after)})


async def _on_disconnect(request: Request, error: Exception) -> Response:
    return Response(status_code=CLIENT_GONE)
