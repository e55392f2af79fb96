"""The log and the metrics of the service, and the middleware that writes to both.

The log has one JSON object per line. Nothing that a user sends is logged: no text, no query, no
message of an exception, which may quote the text; only its type and traceback.
"""

import json
import logging
import secrets
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from capsrl.serve.labeling import LabelResponse

LOGGER = logging.getLogger("capsrl.serve")
_FIELDS = "capsrl.log_fields"  # key of an ASGI scope
_PATHS = ("/label", "/health", "/ready", "/metrics", "/openapi.json", "/docs", "/")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)


class JsonFormatter(logging.Formatter):
    """One line per record: time, level, event, and the `fields` that were given as extra."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[1] is not None:
            line |= _describe_error(record.exc_info[1])
        return json.dumps(line)


def log_config() -> dict[str, Any]:
    """For `logging.config.dictConfig`: our log and that of uvicorn, as JSON on stderr."""
    logger = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {"uvicorn": logger, LOGGER.name: logger},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }


def _describe_error(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "traceback": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


class Metrics:
    """The Prometheus metrics of one server, in a registry of its own."""

    def __init__(self, waiting: Callable[[], int], model: Mapping[str, str | None]) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)  # memory, processor time, open files
        PlatformCollector(registry=registry)

        counter = partial(Counter, registry=registry)
        histogram = partial(Histogram, registry=registry)
        self.requests = counter("capsrl_requests", "Requests answered", ["path", "status"])
        self.seconds = histogram(
            "capsrl_request_seconds", "Seconds from request to response", ["path"], buckets=_SECONDS
        )
        self._batch_requests = histogram(
            "capsrl_batch_requests", "Requests per batch", buckets=_REQUESTS
        )
        self._batch_seconds = histogram(
            "capsrl_batch_seconds", "Seconds spent labeling a batch", buckets=_SECONDS
        )
        self._sentences = counter("capsrl_sentences", "Sentences labeled")
        self._words = counter("capsrl_words", "Words labeled")
        self._propositions = counter("capsrl_propositions", "Propositions found")
        labels = {name: value or "" for name, value in model.items()}
        Info("capsrl_model", "The model", registry=registry).info(labels)
        queue = Gauge("capsrl_queue_requests", "Requests waiting in the queue", registry=registry)
        queue.set_function(waiting)

    def count_batch(self, responses: Sequence[LabelResponse | Exception], seconds: float) -> None:
        """Add a batch and what its responses have."""
        self._batch_seconds.observe(seconds)
        self._batch_requests.observe(len(responses))
        for response in responses:
            if isinstance(response, LabelResponse):
                self._sentences.inc(response.sentences)
                self._words.inc(response.words)
                self._propositions.inc(response.propositions)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


def log_fields(request: Request, **numbers: int) -> None:
    """Add fields to the log line of a request."""
    request.scope[_FIELDS].update(numbers)


class RequestLog:
    """Middleware: logs and counts requests; unhandled exceptions become an opaque 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        request_id = secrets.token_hex(8)
        added: dict[str, Any] = {}
        scope[_FIELDS] = added
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:
            LOGGER.error("failed", extra={"fields": {"id": request_id} | _describe_error(error)})
            if not status:
                detail = f"internal error; request id {request_id}"
                await JSONResponse({"detail": detail}, 500)(scope, receive, send_with_headers)
        seconds = time.perf_counter() - start
        path = _known_path(scope["path"])
        self._metrics.requests.labels(path, status).inc()
        self._metrics.seconds.labels(path).observe(seconds)
        fields = {
            "id": request_id,
            "method": scope["method"] if scope["method"] in _METHODS else "other",
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        LOGGER.info("request", extra={"fields": fields | added})


def _known_path(path: str) -> str:
    """One of our paths: any other is text that a user sent, and would make a metric of its own."""
    for folder in ("/static", "/docs-files"):
        if path.startswith(f"{folder}/"):
            return folder
    return path if path in _PATHS else "other"
