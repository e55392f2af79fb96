"""The service as an ASGI application, and its routes."""

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from copy import copy
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.middleware.gzip import GZipMiddleware
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect

from capsrl import __version__
from capsrl.device import available_cores
from capsrl.labeler import Labeler
from capsrl.predict.card import Card, read_card
from capsrl.predict.folder import fingerprint
from capsrl.serve import openapi
from capsrl.serve.batcher import Batcher, QueueFull
from capsrl.serve.labeling import LabelResponse, label_requests
from capsrl.serve.observability import Metrics, RequestLog, log_fields
from capsrl.serve.openapi import refusals
from capsrl.serve.page import add_page
from capsrl.serve.requests import Format, LabelRequest, Limits, explain, read_request

_COMPRESSION = 1  # 0.04 ms for a sentence; level 9 takes twice as long and saves a tenth more
_FORMAT = Annotated[Format, Query(description="csv: a row per argument; conll09: per word.")]


def make_app(
    labeler: Labeler,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    cors: Collection[str] = (),
    card: Card | None = None,
) -> FastAPI:
    """The service as an ASGI application for a single process.

    token  bearer token that /label and /metrics require; None for no authentication
    cors   origins whose pages may use the service: https://example.org, or * for all
    card   what the page says of the model; None for the card in its folder
    """
    service = Service(labeler, limits or Limits())
    guarded: dict[str, Any] = {} if token is None else {"dependencies": [Depends(_guard(token))]}
    app = FastAPI(
        title="capsrl",
        version=__version__,
        summary="Semantic role labeling: who did what to whom",
        lifespan=service.lifespan,
        generate_unique_id_function=lambda route: route.name,  # of operations: label, health
        docs_url=None,
        redoc_url=None,
    )
    app.state.metrics, app.state.draining = service.metrics, False  # for the server
    _add_routes(app, service, guarded)
    openapi.add_schemas(app)
    add_page(app, service.answer, labeler, card or read_card(labeler.folder), guarded)
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Retry-After", "X-Model", "X-Request-ID"],
        )
    app.add_middleware(GZipMiddleware, compresslevel=_COMPRESSION)
    app.add_middleware(RequestLog, metrics=service.metrics)
    for kind in (RequestValidationError, 404, 405):
        app.add_exception_handler(kind, _explain_error)
    return app


def _add_routes(app: FastAPI, service: "Service", guarded: dict[str, Any]) -> None:
    unauthorized = (401,) if guarded else ()
    app.post(
        "/label",
        tags=["Labeling"],
        summary="Label one text or several",
        response_model=None,
        responses={200: openapi.LABELED, **refusals(*unauthorized, 408, 413, 415, 422, 503)},
        openapi_extra=openapi.request_body(service.limits),
        **guarded,
    )(service.label)

    async def health() -> openapi.Status:
        """Whether the process is alive, and which model it runs."""
        return openapi.Status(status="ok", model=service.model)

    async def ready() -> openapi.Status:
        """Whether a request would be accepted now."""
        if app.state.draining:
            raise HTTPException(503, "the server shuts down", {"Retry-After": "1"})
        if not service.batcher.is_open:
            raise QueueFull(seconds=1)
        return openapi.Status(status="ready", model=service.model)

    async def metrics() -> Response:
        """Counters and histograms for Prometheus."""
        return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})

    counters = {200: openapi.METRICS, **refusals(*unauthorized)}
    guarded = {"response_class": Response, "responses": counters, **guarded}
    for endpoint, summary, options in (
        (health, "Is it alive?", {}),
        (ready, "Does it accept requests now?", {"responses": refusals(503)}),
        (metrics, "Counters for Prometheus", guarded),
    ):
        path = f"/{endpoint.__name__}"
        app.get(path, tags=["Operation"], summary=summary, **options)(endpoint)
        app.head(path, include_in_schema=False, **options)(endpoint)


class Service:
    """A labeler behind a queue."""

    def __init__(self, labeler: Labeler, limits: Limits) -> None:
        self.limits, self._receiving = limits, asyncio.Semaphore(limits.receiving)
        folder = labeler.folder
        self.model = openapi.Model(
            name=folder.resolve().name if folder else "unsaved",
            version=__version__,
            fingerprint=fingerprint(folder) if folder else None,
        )
        concurrent = labeler.backend.concurrent is None  # one batch per thread
        self.labeler = copy(labeler)
        self.labeler.threads = 1 if concurrent else labeler.threads  # the batcher has several
        self.batcher: Batcher[LabelRequest, LabelResponse] = Batcher(
            self._label_batch,
            threads=(labeler.threads or available_cores()) if concurrent else 1,
            max_items=limits.batch or (8 if concurrent else 32),
            max_size=limits.batch_characters,
            max_queue=limits.queue,
        )
        self._model = json.dumps(self.model.model_dump())
        self.metrics = Metrics(lambda: self.batcher.waiting, self.model.model_dump())

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Warm up; on shutdown, drain the queue."""
        # The first forward pass is slow: it allocates memory and selects kernels.
        await asyncio.to_thread(self.labeler.label, "The first sentence takes longest.")
        yield
        await self.batcher.close()

    async def label(self, request: Request, format: _FORMAT = "json") -> Response:
        """Find the predicates of texts, with their senses and arguments."""
        response = await self.answer(request, format)
        media_type = openapi.MEDIA_TYPES[format]
        return Response(response.body, media_type=media_type, headers={"X-Model": self._model})

    async def answer(self, request: Request, format: Format = "json") -> LabelResponse:
        """Label the texts of a request, and log how much there was to do."""
        if self._receiving.locked():
            raise QueueFull(seconds=1)
        async with self._receiving:
            label_request = await read_request(request, self.limits, format)
        log_fields(request, texts=len(label_request.texts), characters=label_request.characters)
        response = await self._respond(request, label_request)
        found = sum(len(each.propositions) for each in response.sentences)
        log_fields(request, sentences=len(response.sentences), propositions=found)
        return response

    async def _respond(self, request: Request, label_request: LabelRequest) -> LabelResponse:
        """The response to a request; raises ClientDisconnect if its client does not wait for it."""
        submitted = self.batcher.submit(label_request, label_request.characters)
        response = asyncio.create_task(submitted)
        gone = asyncio.create_task(_wait_for_disconnect(request))
        seconds = self.limits.seconds
        try:
            await asyncio.wait({response, gone}, timeout=seconds, return_when="FIRST_COMPLETED")
            if response.done():
                return response.result()
            if gone.done():
                raise ClientDisconnect
        finally:
            response.cancel()  # takes the request out of the queue
            label_request.dropped.set()  # ends the work on it, if that has begun
            gone.cancel()
            if not response.done():
                await asyncio.gather(response, gone, return_exceptions=True)
        message = f"the server is too busy, or the text too long, to answer within {seconds:g} s"
        raise HTTPException(503, message, {"Retry-After": "5"})

    def _label_batch(self, requests: Sequence[LabelRequest]) -> list[LabelResponse | Exception]:
        with self.metrics.batch_seconds.time():
            responses = label_requests(self.labeler, requests, self._model)
        self.metrics.count_batch(responses)
        return responses


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass  # the body has been read


def _guard(token: str) -> Callable[..., Awaitable[None]]:
    """The dependency that lets only requests with the token pass."""
    bearer = HTTPBearer(auto_error=False, scheme_name="token")

    async def check_token(
        given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> None:
        # Compared in constant time: the time it takes must not reveal how much was right.
        if given is None or not hmac.compare_digest(given.credentials.encode(), token.encode()):
            message = "this server needs its token: send the header Authorization: Bearer TOKEN"
            raise HTTPException(401, message, {"WWW-Authenticate": "Bearer"})

    return check_token


async def _explain_error(request: Request, error: Exception) -> Response:
    """Explain a bad body, path or method, and name the right one."""
    if isinstance(error, RequestValidationError):
        return JSONResponse({"detail": explain(error.errors()[0])}, 422)
    assert isinstance(error, StarletteHTTPException)
    detail = "there is nothing at this path; POST texts to /label, and see /docs for other paths"
    if error.status_code == 405:
        methods = (error.headers or {}).get("Allow", "GET").replace(", ", " or ")
        detail = f"the method must be {methods} at this path; you sent {request.method[:20]}"
    return JSONResponse({"detail": detail}, error.status_code, error.headers)
