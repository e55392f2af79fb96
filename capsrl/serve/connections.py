"""The HTTP server: uvicorn, with limits for clients that keep it waiting, and time to drain.

uvicorn itself waits without end for headers to arrive and for responses to be read.
"""

import asyncio
import json
import logging
import signal
import socket
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from capsrl.serve.observability import Metrics, log_request

PATIENCE = 10.0  # seconds
# uvicorn warns of bad requests and WebSockets there, so that anybody could fill the log.
ERRORS = logging.getLogger("uvicorn.error.connection")


class _Connection(H11Protocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.logger = ERRORS
        self._metrics: Metrics = self.config.app.state.metrics  # type: ignore[union-attr]

    def waits(self) -> tuple[object, ...] | None:
        """For what the server waits, equal as long as nothing comes of it; None if it works."""
        if self.cycle and not self.cycle.response_complete and not self.flow.write_paused:
            return None
        left = self.transport.get_write_buffer_size()  # decreases while the client reads
        return self.cycle, left, self.transport.is_closing()

    def close(self, reason: str) -> None:
        """Close the connection; if that waits for the client as well, abort it the next time."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        self._metrics.closed.labels(reason).inc()
        if self.conn.trailing_data[0] and self.conn.their_state is h11.IDLE:
            self._refuse(408, "the headers of the request did not arrive in time")
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(400, "the request must be HTTP/1.1; it is malformed")
        self.transport.close()

    def _refuse(self, status: int, detail: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return  # a response has begun
        body = json.dumps({"detail": detail}).encode()
        fields = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        headers = list((fields | {"Connection": "close"}).items())
        response = h11.Response(status_code=status, headers=headers, reason=STATUS_PHRASES[status])
        for event in (response, h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        log_request(self._metrics, "other", 0.0, {"method": "other", "status": status})


class Server(uvicorn.Server):
    """A server for the application of `make_app`.

    connections  most open ones: beyond that those are closed that have kept it waiting longest;
                 an honest client sends its request at once
    drain        seconds after SIGTERM in which it still accepts requests. /ready answers 503 then,
                 and responses close their connections, so that clients move to other servers
    """

    def __init__(self, config: uvicorn.Config, *, connections: int, drain: float) -> None:
        super().__init__(config)
        self._most, self._drain = connections, drain
        self._state: Any = config.app.state  # type: ignore[union-attr]  # app is no name
        self._waiting: dict[_Connection, tuple[object, float]] = {}  # for what, since when
        config.load()
        config.http_protocol_class = _Connection

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ctrl-C does not drain, and ends it."""
        self._drain = self._drain if sig == signal.SIGTERM else 0.0
        super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Called ten times a second."""
        self._close_waiting(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    def _close_waiting(self, now: float) -> None:
        connections: set[Any] = self.server_state.connections
        before, self._waiting = self._waiting, {}
        for each in connections:
            if state := each.waits():
                was, since = before.get(each, (None, now))
                self._waiting[each] = state, since if was == state else now
        surplus = len(connections) - self._most
        longest = sorted(self._waiting.items(), key=lambda item: item[1][1])
        for n, (each, (_, since)) in enumerate(longest):
            if n < surplus or now - since >= PATIENCE:
                each.close("full" if n < surplus else "slow")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, accept no more connections, answer the requests that were accepted."""
        self._state.draining = True
        time = asyncio.get_running_loop().time
        start = time()
        while time() < start + self._drain:
            await asyncio.sleep(0.1)
            await self.on_tick(0)
        await super().shutdown(sockets)
