"""Clients that keep the server waiting, that send garbage, and the end of the server."""

import contextlib
import json
import logging
import socket
import threading
import time

import httpx
import pytest
import uvicorn

from capsrl.serve import connections
from capsrl.serve.app import make_app
from capsrl.serve.connections import ERRORS, Server
from tests.helpers.serving import JSON, running
from tests.helpers.waiting import wait_until

SLOW = b"GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: "
HANDSHAKE = (
    b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


@pytest.fixture
def serve(tiny, monkeypatch):
    """A function that runs a server in a thread until the end of the test."""
    with contextlib.ExitStack() as stack:

        def start(*, patience=10.0, connections_=1000, drain=0.0):
            monkeypatch.setattr(connections, "PATIENCE", patience)
            app = make_app(tiny)
            config = uvicorn.Config(app, log_config=None, lifespan="on", access_log=False)
            server = Server(config, connections=connections_, drain=drain)
            listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            server.port, server.metrics = listening.getsockname()[1], app.state.metrics
            server.url = f"http://127.0.0.1:{server.port}"
            server.thread = threading.Thread(target=server.run, args=[[listening]])
            server.thread.start()
            stack.callback(server.thread.join, 120)
            stack.callback(setattr, server, "should_exit", True)
            wait_until(lambda: server.started)
            return server

        yield start


@contextlib.contextmanager
def connected(server, sent=b""):
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent)
        yield connection


def read_all(connection):
    answer = b""
    with contextlib.suppress(ConnectionResetError):
        while part := connection.recv(65536):
            answer += part
    return answer


def label(server):
    return httpx.post(f"{server.url}/label", json={"text": "dogs bark"}, timeout=60)


def test_silent_and_slow_connections_are_closed(serve):
    server = serve(patience=0.5)
    with connected(server) as silent, connected(server, SLOW) as slow:
        start = time.monotonic()
        assert read_all(silent) == b""
        head, _, body = read_all(slow).partition(b"\r\n\r\n")
        assert time.monotonic() - start > 0.3
        assert head.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        assert json.loads(body) == {"detail": "the headers of the request did not arrive in time"}
    text = server.metrics.text()
    assert b'capsrl_connections_closed_total{reason="slow"} 2.0' in text
    assert b'capsrl_requests_total{path="other",status="408"} 1.0' in text


def test_trickling_headers_are_no_progress(serve):
    server = serve(patience=0.5)
    with connected(server, SLOW) as slow:
        slow.settimeout(0.05)
        for _ in range(200):
            slow.sendall(b"a")
            with contextlib.suppress(TimeoutError):
                assert slow.recv(100).startswith(b"HTTP/1.1 408")
                break
        else:
            pytest.fail("the connection was not closed")


def test_connections_in_use_stay_open(serve):
    server = serve(patience=0.6)
    with httpx.Client(base_url=server.url, timeout=60) as client:
        for _ in range(6):
            assert client.post("/label", json={"text": "dogs bark"}).status_code == 200
            time.sleep(0.25)
    assert b"connections_closed_total{" not in server.metrics.text()


def test_a_client_that_never_reads(serve):
    server = serve(patience=0.5)
    request = b"GET /docs-files/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n"
    with connected(server, request * 20):
        wait_until(lambda: server.server_state.connections)
        wait_until(lambda: not server.server_state.connections)


def test_many_connections_keep_nobody_out(serve):
    server = serve(connections_=20)
    with contextlib.ExitStack() as stack:
        for n in range(100):
            stack.enter_context(connected(server, SLOW if n % 3 == 0 else b""))
            if n % 10 == 0:
                assert label(server).status_code == 200
                assert httpx.get(f"{server.url}/ready", timeout=60).status_code == 200
        wait_until(lambda: len(server.server_state.connections) <= 20)
    assert b'capsrl_connections_closed_total{reason="full"}' in server.metrics.text()


def test_garbage_is_refused_in_json(serve):
    server = serve()
    with connected(server, b"\x16\x03\x01\x02secret\r\n\r\n") as connection:
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\n")
    assert json.loads(body) == {"detail": "the request is not valid HTTP/1.1"}
    assert b'capsrl_requests_total{path="other",status="400"} 1.0' in server.metrics.text()


def test_garbage_after_the_response(serve, caplog):
    server = serve()
    head = b"POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(server, head) as connection:
        assert connection.recv(65536).startswith(b"HTTP/1.1 404")
        connection.sendall(b"no length\r\n")
        assert b"HTTP/1.1" not in read_all(connection)
    wait_until(lambda: not server.server_state.connections)
    assert [each.message for each in caplog.records if each.levelno >= logging.ERROR] == []


def test_strangers_cannot_choose_lines_of_the_log(tiny_model, tmp_path):
    with running(tmp_path, "--model", tiny_model) as server:
        before = len(server.log.read_text().splitlines())

        def logged():
            """All that was logged since, but for the question whether the server is ready."""
            lines = map(json.loads, server.log.read_text().splitlines()[before:])
            return [each for each in lines if each.get("path") != "/ready"]

        for sent in (b"secret\r\n\r\n", HANDSHAKE):
            with connected(server, sent) as connection:
                assert read_all(connection)
        wait_until(lambda: len(logged()) >= 2)
        lines = logged()
    assert [(each["event"], each["path"], each["status"]) for each in lines] == [
        ("request", "other", 400),
        ("request", "other", 404),
    ]
    assert "secret" not in server.log.read_text()
    assert ERRORS.name.startswith("uvicorn.error")  # whose handlers write what is left


def test_requests_are_answered_while_the_server_drains(serve):
    server = serve(drain=1.5)
    with httpx.Client(base_url=server.url, timeout=60) as client:
        assert "connection" not in client.get("/ready").headers
        server.should_exit = True
        wait_until(lambda: client.get("/ready").status_code == 503)
        response = client.get("/ready")
        assert response.json() == {"detail": "the server shuts down"}
        assert (response.headers["retry-after"], response.headers["connection"]) == ("1", "close")
        assert client.get("/health").status_code == 200
        assert label(server).status_code == 200
    server.thread.join(120)
    with pytest.raises(httpx.ConnectError):
        label(server)


def test_a_second_signal_ends_the_draining(serve):
    server = serve(drain=600.0)
    server.should_exit = True
    wait_until(lambda: httpx.get(f"{server.url}/ready", timeout=60).status_code == 503)
    server.force_exit = True
    server.thread.join(120)
    assert not server.thread.is_alive()


def test_bodies_that_arrive_slowly_do_not_block_probes(tiny_model, tmp_path):
    """As many slow bodies as the server receives at a time: /label is refused, in JSON."""
    head = b"POST /label HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    with running(tmp_path, "--model", tiny_model) as server, contextlib.ExitStack() as stack:
        for _ in range(512):
            stack.enter_context(connected(server, head + b"Content-Length: 1000\r\n\r\n{"))
        refused = httpx.post(f"{server.url}label", content=b"{}", headers=JSON, timeout=60)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert refused.json() == {"detail": "the server is busy; try again in 1 s"}
        for path in ("health", "ready"):
            assert httpx.get(server.url + path, timeout=60).status_code == 200
        counted = httpx.get(f"{server.url}metrics", timeout=60).text
        assert 'capsrl_requests_total{path="/label",status="503"} 1.0' in counted
