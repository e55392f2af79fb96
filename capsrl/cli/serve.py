"""`capsrl serve`: the labeler as a web service, with a page."""

import contextlib
import math
import socket
from typing import Annotated

import typer

import capsrl
from capsrl.cli.predict import Device
from capsrl.errors import ConfigError

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_CONNECTIONS = 512  # each takes a file; 1024 is what a process usually may have


def serve_command(
    *,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for one that is free.")] = 8000,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="Folder of a model, or the name of one that ships.")
    ] = "en",
    device: Device = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="CAPSRL_TOKEN",
            show_envvar=True,
            help="Serve only those who bear it (Authorization: Bearer ...). Other users of this "
            "machine can see options, but not the environment.",
        ),
    ] = None,
    max_characters: Annotated[
        int, typer.Option(min=1, help="Of the texts of a request; more is answered 413.")
    ] = 20_000,
    timeout: Annotated[
        float, typer.Option(min=0.1, metavar="SECONDS", help="For a request, waiting included.")
    ] = 30.0,
    queue: Annotated[
        int, typer.Option(min=1, help="Requests that may wait; more are answered 503.")
    ] = 64,
    batch: Annotated[int, typer.Option(min=1, help="Requests labelled together at most.")] = 32,
) -> None:
    """Serve POST /label, and at / a page on which propositions can be seen to settle.

    Ctrl-C or SIGTERM: no more requests are taken, those at hand are answered, then it ends.
    """
    try:
        import uvicorn

        from capsrl.serve.app import make_app
        from capsrl.serve.limits import Limits
        from capsrl.serve.observability import log_config
    except ModuleNotFoundError as error:
        raise ConfigError(f"serving needs {error.name}: pip install 'capsrl[serve]'") from None
    if token is not None and not (token.isascii() and token.isprintable() and token.strip()):
        raise ConfigError("--token: expected printable ASCII characters, got others or none")
    limits = Limits(
        characters=max_characters,
        # In UTF-8 a character takes up to 4 bytes; as \ud83d\ude00 it takes 12.
        body=max(Limits.body, 12 * max_characters),
        seconds=timeout,
        queue=queue,
        batch=batch,
    )
    with _listen(host, port) as listening:
        labeler = capsrl.load(model, device=device)
        config = uvicorn.Config(
            make_app(labeler, limits=limits, token=token),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=log_config(),
            access_log=False,  # it would hold what is asked for; ours does not
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_graceful_shutdown=math.ceil(limits.seconds) + 5,
        )
        name = f"[{host}]" if ":" in host else host
        typer.echo(f"capsrl serves http://{name}:{listening.getsockname()[1]}/ (Ctrl-C to end)")
        if host not in _LOOPBACK and token is None:
            typer.echo("note: whoever reaches this machine can use it; see --token", err=True)
        # Ctrl-C has been heeded by then; uvicorn raises it again for those above.
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """A socket at the address, so that a wrong one is known before the model is loaded."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_CONNECTIONS)
    except OSError as error:
        raise ConfigError(
            f"--host {host} --port {port}: expected an address to listen at, got "
            f"{error.strerror or error}; --port 0 takes a free one"
        ) from None
