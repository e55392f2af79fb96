"""Around every request: its line in the log, its place in the metrics, and the last resort."""

import secrets
import time
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from capsrl.serve.logs import LOGGER, describe
from capsrl.serve.metrics import Metrics

_PATHS = ("/label", "/health", "/ready", "/metrics", "/openapi.json", "/")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def note(request: Request, **numbers: int) -> None:
    """Add to the line that the request will have in the log."""
    request.scope["capsrl.notes"].update(numbers)


class Watch:
    """Middleware: logs and counts; what nobody caught becomes a 500 that tells nothing."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        name = secrets.token_hex(8)
        notes: dict[str, Any] = {}
        scope["capsrl.notes"] = notes
        status = 0

        async def send_watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = name
                headers["X-Content-Type-Options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        except Exception as error:
            LOGGER.error("failed", extra={"fields": {"id": name} | describe(error)})
            if not status:
                detail = f"the server made a mistake; its log tells which: {name}"
                await JSONResponse({"detail": detail}, 500)(scope, receive, send_watched)
        seconds = time.perf_counter() - start
        path = _known_path(scope["path"])
        self._metrics.requests.labels(path, status).inc()
        self._metrics.seconds.labels(path).observe(seconds)
        fields = {
            "id": name,
            "method": scope["method"] if scope["method"] in _METHODS else "other",
            "path": path,
            "status": status,
            "ms": round(seconds * 1000, 1),
        }
        LOGGER.info("request", extra={"fields": fields | notes})


def _known_path(path: str) -> str:
    """One of our paths: others are text that somebody sent, and there is no end of them."""
    if path.startswith("/static/"):
        return "/static"
    return path if path in _PATHS else "other"
