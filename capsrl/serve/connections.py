"""uvicorn with limits for clients that keep it waiting, and with time to drain.

uvicorn itself waits without end for headers to arrive and for responses to be read.
"""

import asyncio
import json
import logging
import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from capsrl.serve.observability import log_request

PATIENCE = 10.0  # seconds
# uvicorn warns of bad requests and WebSockets there, so that anybody could fill the log.
ERRORS = logging.getLogger("uvicorn.error.connection")


class _Connection(H11Protocol):
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.logger, self._state = ERRORS, self.config.app.state  # type: ignore[union-attr]

    def waits(self) -> tuple[object, ...] | None:
        """Describe what the server waits for, with its progress; None if it does not wait."""
        if self.cycle and not self.cycle.response_complete and not self.flow.write_paused:
            return None
        unread = self.transport.get_write_buffer_size()
        return self.cycle, unread, self.transport.is_closing()

    def expire(self, reason: str) -> None:
        """Close the connection; the second time, since the client does not read, abort it."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        self._state.metrics.closed.labels(reason).inc()
        if self.conn.trailing_data[0] and self.conn.their_state is h11.IDLE:
            self._refuse("408 Request Timeout", "the headers of the request did not arrive in time")
        self.transport.close()

    def send_400_response(self, msg: str) -> None:
        self._refuse("400 Bad Request", "the request is not valid HTTP/1.1")
        self.transport.close()

    def _refuse(self, status: str, detail: str) -> None:
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return  # a response has begun
        body = json.dumps({"detail": detail})
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        self.transport.write(f"{head}\r\nConnection: close\r\n\r\n{body}".encode())
        known = {"method": "other", "status": int(status[:3])}
        log_request(self._state.metrics, "other", 0.0, known)


class Server(uvicorn.Server):
    """A server for the application of `make_app`.

    connections  most open ones: beyond them those are closed that have kept it waiting longest,
                 since honest clients send their requests at once
    drain        seconds in which it still accepts requests after a signal. /ready answers 503, and
                 responses close their connections, so that clients move to other servers
    """

    def __init__(self, config: uvicorn.Config, *, connections: int, drain: float) -> None:
        super().__init__(config)
        self._most, self._drain = connections, drain
        self._waiting: dict[_Connection, tuple[object, float]] = {}  # for what, and since when
        config.load()
        config.http_protocol_class = _Connection

    async def on_tick(self, counter: int) -> bool:
        """Close connections, ten times a second."""
        connections: set[Any] = self.server_state.connections
        now, before, self._waiting = asyncio.get_running_loop().time(), self._waiting, {}
        for each in connections:
            if state := each.waits():
                known, since = before.get(each, (None, now))
                self._waiting[each] = state, since if known == state else now
        longest = sorted(self._waiting.items(), key=lambda item: item[1][1])
        for rank, (each, (_, since)) in enumerate(longest, 1 + self._most - len(connections)):
            if rank <= 0 or now - since >= PATIENCE:
                each.expire("full" if rank <= 0 else "slow")
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Drain, accept no more connections, answer the requests that were accepted."""
        self.config.app.state.draining = True  # type: ignore[union-attr]
        time = asyncio.get_running_loop().time
        end = time() + self._drain
        while time() < end and not self.force_exit:  # by a second Ctrl-C
            await asyncio.sleep(0.1)
            await self.on_tick(0)
        await super().shutdown(sockets)
