"""Start services: in this process without a network, and in another process over loopback."""

import asyncio
import dataclasses
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx

from capsrl.labeler import Labeler
from capsrl.serve.app import make_app

ROOT = Path(__file__).resolve().parents[2]
JSON = {"Content-Type": "application/json"}


@asynccontextmanager
async def client_of(labeler, **options):
    """A client of a new service in this process."""
    app = make_app(labeler, **options)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://capsrl", timeout=60
        ) as client:
            client.app = app
            yield client


def post(labeler, body, *, headers=None, **options):
    """The response to one request to /label; `body` is sent as JSON unless it is bytes."""

    async def run():
        async with client_of(labeler, **options) as client:
            if isinstance(body, bytes):
                return await client.post("/label", content=body, headers=JSON | (headers or {}))
            return await client.post("/label", json=body, headers=headers)

    return asyncio.run(run())


class Held(Labeler):
    """A labeler that blocks until `go` is set, except for the first call: the warm-up."""

    def __init__(self, labeler):
        super().__init__(labeler.network, labeler.config)
        self.go = threading.Event()
        self.busy = threading.Event()
        self._warm = False

    def label_sentences(self, sentences, **options):
        sentences = list(sentences)
        if sentences and self._warm:
            self.busy.set()
            assert self.go.wait(120)
        self._warm = self._warm or bool(sentences)
        return super().label_sentences(sentences, **options)


async def until(condition):
    """Let other tasks run until a condition holds."""
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.005)


def same(ours, theirs, tolerance=1e-4):
    """Whether two JSON values are equal, numbers to within a tolerance.

    The size of a batch changes the order of additions, and so the last digits.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(
            same(value, theirs[key], tolerance) for key, value in ours.items()
        )
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(
            same(a, b, tolerance) for a, b in zip(ours, theirs, strict=True)
        )
    if isinstance(ours, float) and isinstance(theirs, float):
        return abs(ours - theirs) <= tolerance
    return ours == theirs


def expected(labeler, text, **options):
    """What the library answers for a text."""
    return [sentence.standalone().to_dict() for sentence in labeler.label(text, **options)]


@dataclasses.dataclass
class Running:
    """A server in another process."""

    url: str
    process: subprocess.Popen
    log: Path

    @property
    def port(self):
        return int(self.url.rstrip("/").rpartition(":")[2])


@contextmanager
def running(folder, *options, **environment):
    """`capsrl serve` at a free port; its log is written to a file in `folder`."""
    log = Path(folder) / "serve.log"
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    with open(log, "w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "capsrl", "serve", "--port", "0", *map(str, options)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | environment,
        )
    with process:
        try:
            line = process.stdout.readline()
            found = re.search(r"http://\S+", line)
            assert found, line + log.read_text()
            httpx.get(found[0] + "ready", timeout=120)  # waits until connections are accepted
            yield Running(found[0], process, log)
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
