"""The log and the metrics of the service, and the middleware that writes to both.

Of what a user sends only a plain X-Request-ID is logged: no text, no query, no message of an error,
which may quote the text; only its type and traceback. `capsrl.cli.serve` writes the log as JSON.
"""

import logging
import re
import secrets
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import prometheus_client as prometheus
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from capsrl.serve.labeling import LabelResponse

CLIENT_GONE = 499  # only seen in the log
LOGGER = logging.getLogger("capsrl.serve")
_FIELDS = "capsrl.log_fields"  # key of an ASGI scope
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)


def describe_error(error: BaseException) -> dict[str, Any]:
    """The type and the traceback of an exception, for the log."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return {"error": type(error).__name__, "traceback": places}


class Metrics:
    """The Prometheus metrics of one server, in a registry of its own."""

    def __init__(self, waiting: Callable[[], int], model: Mapping[str, str | None]) -> None:
        self._registry = registry = prometheus.CollectorRegistry()
        prometheus.ProcessCollector(registry=registry)  # memory, processor time, open files
        count = partial(prometheus.Counter, registry=registry)
        time = partial(prometheus.Histogram, registry=registry, buckets=_SECONDS)
        self.requests = count("capsrl_requests", "Requests answered", ["path", "status"])
        self.seconds = time("capsrl_request_seconds", "Seconds to the response", ["path"])
        self.closed = count("capsrl_connections_closed", "Those of slow clients", ["reason"])
        self._batches = time("capsrl_batch_requests", "Requests per batch", buckets=_REQUESTS)
        self.batch_seconds = time("capsrl_batch_seconds", "Seconds spent labeling a batch")
        self._sentences = count("capsrl_sentences", "Sentences labeled")
        self._words = count("capsrl_words", "Words labeled")
        self._propositions = count("capsrl_propositions", "Propositions found")
        info = prometheus.Info("capsrl_model", "The model", registry=registry)
        info.info({name: value or "" for name, value in model.items()})
        queue = prometheus.Gauge("capsrl_queue_requests", "Requests waiting", registry=registry)
        queue.set_function(waiting)

    def count_batch(self, responses: Sequence[LabelResponse | Exception]) -> None:
        """Add a batch and what its responses have."""
        self._batches.observe(len(responses))
        for response in responses:
            for sentence in response.sentences if isinstance(response, LabelResponse) else ():
                self._sentences.inc()
                self._words.inc(len(sentence))
                self._propositions.inc(len(sentence.propositions))

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return prometheus.generate_latest(self._registry)


def log_fields(request: Request, **numbers: int) -> None:
    """Add fields to the log line of a request."""
    request.scope[_FIELDS].update(numbers)


def log_request(metrics: Metrics, path: str, seconds: float, fields: dict[str, Any]) -> None:
    """Count and log a request that was answered."""
    metrics.requests.labels(path, fields["status"]).inc()
    metrics.seconds.labels(path).observe(seconds)
    known = {"path": path, "ms": round(seconds * 1000, 1)} | fields
    LOGGER.info("request", extra={"fields": known})


class RequestLog:
    """Middleware: logs and counts requests; unhandled exceptions become an opaque 500."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        given = Headers(scope=scope).get("X-Request-ID", "")  # of a proxy, to find it in both logs
        id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        fields = scope[_FIELDS] = {"id": id, "status": 0}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                fields["status"] = message["status"]
                own = {"X-Request-ID": fields["id"], "X-Content-Type-Options": "nosniff"}
                if getattr(scope["app"].state, "draining", False):
                    own["Connection"] = "close"
                MutableHeaders(scope=message).update(own)
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            await Response(status_code=CLIENT_GONE)(scope, receive, send_with_headers)
        except Exception as error:
            LOGGER.error("failed", extra={"fields": {"id": fields["id"]} | describe_error(error)})
            if not fields["status"]:
                detail = f"internal error; request id {fields['id']}"
                await JSONResponse({"detail": detail}, 500)(scope, receive, send_with_headers)
        # That of a route: any other is text that a user sent, and would make a metric of its own.
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        log_request(self._metrics, path, time.perf_counter() - start, {"method": method} | fields)
