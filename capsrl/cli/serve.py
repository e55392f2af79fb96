"""`capsrl serve`: run the web service and its demo page."""

import contextlib
import json
import logging
import math
import re
import socket
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import click
import uvicorn

import capsrl
from capsrl.cli.options import DEVICE, FRAME_FILES, MODEL, RUNTIME, command, option
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import read_lines
from capsrl.predict.card import read_card, read_examples
from capsrl.serve.app import make_app
from capsrl.serve.connections import ERRORS, Server
from capsrl.serve.observability import LOGGER, describe_error
from capsrl.serve.requests import Limits

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CONNECTIONS = 2048  # most open ones
_OTHER_FILES = 128  # of the process: the model, the log, the event loop


@command(
    {
        "Address": [
            option("--host ADDRESS", "0.0.0.0 listens on all interfaces.", default="127.0.0.1"),
            option("--port PORT", "0 takes any free one.", low=0, high=65535, default=8000),
            option(
                "--token TOKEN",
                "Require this bearer token. Better set CAPSRL_TOKEN: other users of the machine "
                "see command lines.",
                envvar="CAPSRL_TOKEN",
            ),
            option(
                "--cors ORIGIN",
                "Let pages of https://example.org use the service, or * for all; repeatable.",
                multiple=True,
            ),
        ],
        "Limits": [
            option("--max-characters N", "In a request; else status 413.", low=1, default=20_000),
            option(
                "--timeout SECONDS",
                "Of a request, with its time in the queue.",
                kind=float,
                low=0.1,
                high=86400,
                default=30.0,
            ),
            option("--queue N", "Waiting requests; else status 503.", low=1, default=64),
            option(
                "--drain SECONDS",
                "Still accept requests after SIGTERM, while /ready answers 503.",
                kind=float,
                low=0,
                high=3600,
                default=0.0,
            ),
            option("--batch N", "Requests labeled together (default: onnx 8, torch 32).", low=1),
        ],
        "Model": [
            MODEL,
            FRAME_FILES,
            DEVICE,
            option("--threads N", "CPU threads that label (default: one per core).", low=1),
            RUNTIME,
        ],
        "Page": [
            option("--title TEXT", "Of the page (default: that of the model card)."),
            option("--examples FILE", "A text per line: - **News** The council met. (UTF-8)"),
        ],
    }
)
def serve_command(
    *,
    host: str,
    port: int,
    model: str,
    frames: str | None,
    device: str | None,
    threads: int | None,
    runtime: str | None,
    token: str | None,
    max_characters: int,
    timeout: float,
    queue: int,
    drain: float,
    batch: int | None,
    cors: Sequence[str],
    title: str | None,
    examples: str | None,
) -> None:
    """Run a web service with a demo page.

    The service answers POST /label; the page is at /, a description for programmers at /docs.
    Ctrl-C or SIGTERM stops it: it accepts no more requests and answers those it has.
    """
    if sys.stdout is None:
        raise ConfigError("standard output is closed; send it elsewhere: > /dev/null")
    # Clients strip headers, so blanks at the ends never arrive.
    if token is not None and not (
        token == token.strip() != "" and token.isascii() and token.isprintable()
    ):
        raise ConfigError(
            "--token: only printable ASCII characters are allowed, without blanks at the ends"
        )
    for origin in cors:
        if origin != "*" and not re.fullmatch(r"https?://[^/\s]+", origin):
            raise ConfigError(f"--cors: expected * or an origin like https://a.org, got {origin}")
    limits = Limits(
        characters=max_characters,
        # A character takes up to 4 bytes as UTF-8, and 12 if escaped as \ud83d\ude00.
        body=max(Limits.body, 12 * max_characters),
        seconds=timeout,
        queue=queue,
        batch=batch,
    )
    texts = read_examples("\n".join(read_lines(examples))) if examples else ()
    if examples and not texts:
        raise DataError(f"{examples}: no examples; expected a text per line")
    with _listen(host, port) as listening:
        labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
        card = read_card(labeler.folder)
        card = replace(card, title=title or card.title, examples=texts or card.examples)
        config = uvicorn.Config(
            make_app(labeler, limits=limits, token=token, cors=cors, card=card),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=log_config(),
            access_log=False,  # uvicorn's contains the URL; ours does not
            server_header=False,
            timeout_graceful_shutdown=math.ceil(limits.seconds) + 5,
        )
        server = Server(config, connections=_most_connections(), drain=drain)
        name = f"[{host}]" if ":" in host else host
        port = listening.getsockname()[1]
        click.echo(f"serving on http://{name}:{port}/ (Ctrl-C stops it)")
        if host not in _LOOPBACK and token is None:
            sys.stderr.write("no --token: anyone who can reach this host can use the service\n")
        # uvicorn raises Ctrl-C again after it has shut down.
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def _most_connections() -> int:
    """The number of connections for which there are files, after a try to get enough of them."""
    wanted = _CONNECTIONS + _OTHER_FILES
    if resource is None:
        return _CONNECTIONS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < wanted:  # -1 is infinity
        soft = wanted if hard < 0 else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return max(1, min(wanted, soft) - _OTHER_FILES)


def _listen(host: str, port: int) -> socket.socket:
    """Open the socket, so that a wrong address is reported before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_CONNECTIONS)
    except OSError as error:
        raise ConfigError(
            f"--host {host} --port {port}: cannot listen: {error.strerror or error}; "
            "--port 0 takes a free one"
        ) from None


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
            line |= describe_error(record.exc_info[1])
        return json.dumps(line)


def log_config() -> dict[str, Any]:
    """For `logging.config.dictConfig`: our log and that of uvicorn, as JSON on stderr."""
    logger = {"handlers": ["stderr"], "level": "INFO", "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "loggers": {"uvicorn": logger, ERRORS.name: {"level": "ERROR"}, LOGGER.name: logger},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
    }
