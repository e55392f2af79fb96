"""`capsrl serve`: run the web service and its demo page."""

import contextlib
import math
import re
import socket
from typing import Annotated

import typer
import uvicorn

import capsrl
from capsrl.cli.options import Device, Frames, Model, Runtime, option
from capsrl.cli.serve_log import log_config
from capsrl.errors import ConfigError
from capsrl.serve.app import make_app
from capsrl.serve.limits import Limits

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CONNECTIONS = 512  # open connections; a process may usually have 1024 open files


def serve_command(
    *,
    host: Annotated[
        str, option("ADDRESS", "Address to listen on; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[int, option("PORT", "Port; 0 for any free one.", min=0, max=65535)] = 8000,
    model: Model = "en",
    frames: Frames = None,
    device: Device = None,
    threads: Annotated[
        int | None, option("N", "CPU threads that label. Default: one per core.", min=1)
    ] = None,
    runtime: Runtime = None,
    token: Annotated[
        str | None,
        option(
            "TOKEN",
            "Require this bearer token. Set it in the environment: other users of the machine can "
            "see command lines.",
            envvar="CAPSRL_TOKEN",
            show_envvar=True,
        ),
    ] = None,
    max_characters: Annotated[
        int, option("N", "Maximum characters of the texts of a request; else status 413.", min=1)
    ] = 20_000,
    timeout: Annotated[
        float,
        option("SECONDS", "Maximum time per request, in the queue too.", min=0.1, max=86400),
    ] = 30.0,
    queue: Annotated[int, option("N", "Maximum waiting requests; else status 503.", min=1)] = 64,
    batch: Annotated[
        int | None,
        option("N", "Maximum requests labeled together. Default: 8 with onnx, else 32.", min=1),
    ] = None,
    cors: Annotated[
        list[str] | None,
        option(
            "ORIGIN",
            "Let pages of this origin use the service: https://example.org, or * for all. May be "
            "repeated.",
        ),
    ] = None,
) -> None:
    """Run a web service with a demo page.

    The service answers POST /label; the page is at /, a description for programmers at /docs.
    Ctrl-C or SIGTERM stops it: it accepts no more requests and answers those it has.
    """
    # Clients strip headers, so blanks at the ends never arrive.
    if token is not None and not (
        token == token.strip() != "" and token.isascii() and token.isprintable()
    ):
        raise ConfigError(
            "--token: expected printable ASCII characters without blanks at the ends, got others"
        )
    for origin in cors or ():
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
    with _listen(host, port) as listening:
        labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
        config = uvicorn.Config(
            make_app(labeler, limits=limits, token=token, cors=cors or ()),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=log_config(),
            access_log=False,  # uvicorn's contains the URL; ours does not
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=math.ceil(limits.seconds) + 5,
        )
        name = f"[{host}]" if ":" in host else host
        typer.echo(f"capsrl serves http://{name}:{listening.getsockname()[1]}/ (Ctrl-C to end)")
        if host not in _LOOPBACK and token is None:
            typer.echo(
                "note: everybody who can reach this machine can use the service; see --token",
                err=True,
            )
        # uvicorn raises Ctrl-C again after it has shut down.
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Open the socket, so that a wrong address is reported before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_CONNECTIONS)
    except OSError as error:
        raise ConfigError(
            f"--host {host} --port {port}: expected an address to listen on, got "
            f"{error.strerror or error}; --port 0 takes a free one"
        ) from None
