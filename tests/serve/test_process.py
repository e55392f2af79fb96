"""The server as users run it: a process, reached over loopback."""

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import httpx
import pytest

from capsrl.labeler import Labeler
from tests.helpers.serving import expected, running, same
from tests.helpers.waiting import wait_until


@pytest.fixture(scope="module")
def server(tiny_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    with running(folder, "--model", tiny_model, CAPSRL_TOKEN="right") as server:
        yield server
        # Ctrl-C stops it without a traceback.
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(120) == 0
        assert "Traceback" not in server.log.read_text()


def test_serve(server, tiny_model):
    assert server.url.startswith("http://127.0.0.1:")
    labeler = Labeler.load(tiny_model)
    headers = {"Authorization": "Bearer right"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
        response = client.post("/label", json={"text": "dogs bark. naïve 猫 sees him"})
        assert same(response.json()["sentences"], expected(labeler, "dogs bark. naïve 猫 sees him"))
        assert "server" not in response.headers
        assert "capsrl_sentences_total 2.0" in client.get("/metrics").text
        assert client.get("/").status_code == 200
        client.headers.clear()
        assert client.post("/label", json={"text": "x"}).status_code == 401


def test_title_and_examples(tiny_model, tmp_path):
    (tmp_path / "ours.txt").write_text("- **Kitchen** dogs bark\nhe sees him\n")
    options = ("--title", "Ours & theirs", "--examples", tmp_path / "ours.txt")
    with running(tmp_path, "--model", tiny_model, *options) as server:
        page = httpx.get(server.url, timeout=120).text
    assert "<h1>Ours &amp; theirs</h1>" in page and "<small>Kitchen</small> dogs bark" in page
    assert page.count("he sees him") == 1 and "Nora" not in page


def test_every_client_can_read_the_413(server):
    """Python's urllib sends the whole body before it reads the response."""
    request = urllib.request.Request(
        f"{server.url}label",
        data=b" " * (3 << 20),
        headers={"Content-Type": "application/json", "Authorization": "Bearer right"},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=120)
    assert refused.value.code == 413
    assert "at most 1,048,576 bytes" in json.load(refused.value)["detail"]


def test_schemathesis(server, tmp_path):
    """All its checks, on valid and invalid requests generated from the OpenAPI document."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from schemathesis.cli import schemathesis; schemathesis()",
            "run",
            f"{server.url}openapi.json",
            "--header=Authorization: Bearer right",
            "--checks=all",
            "--max-examples=15",
            "--request-timeout=60",
            "--suppress-health-check=too_slow",
            "--seed=1",
            "--no-color",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "No issues found" in done.stdout
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    statuses = [line["status"] for line in lines if line.get("path") == "/label"]
    assert statuses.count(200) > 10
    assert statuses.count(422) > 20
    assert 500 not in statuses


def accepts_connections(server):
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=120).close()
    except ConnectionRefusedError:
        return False
    return True


def test_sigterm_drains(tiny_model, tmp_path):
    """Half a request has arrived at the signal; it is answered, and no other is accepted."""
    body = json.dumps({"text": "dogs bark"}).encode()
    head = (
        "POST /label HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    with running(tmp_path, "--model", tiny_model) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as connection:
            connection.sendall(head.encode() + body[:5])
            # When this is answered, the above has been read.
            assert httpx.get(f"{server.url}health", timeout=120).status_code == 200
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: not accepts_connections(server))
            assert server.process.poll() is None
            connection.sendall(body[5:])
            answer = b""
            while part := connection.recv(65536):
                answer += part
        assert answer.startswith(b"HTTP/1.1 200 OK")
        sentences = json.loads(answer.partition(b"\r\n\r\n")[2])["sentences"]
        assert same(sentences, expected(Labeler.load(tiny_model), "dogs bark"))
        assert server.process.wait(120) == -signal.SIGTERM
        assert "Application shutdown complete" in server.log.read_text()
