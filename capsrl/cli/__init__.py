"""The `capsrl` command: loads the subcommand that is asked for and turns errors into exit codes."""

import atexit
import gc
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from capsrl import __version__
from capsrl.errors import CapsrlError, install_hint

# Package that may be missing -> the extra that installs it.
EXTRAS = {
    **dict.fromkeys(("safetensors", "torch"), "model"),
    "onnx": "export",
    "ray": "bulk",
    **dict.fromkeys(("fastapi", "fastapi_offline", "markdown_it", "prometheus_client"), "serve"),
    **dict.fromkeys(("pydantic", "uvicorn", "uvloop"), "serve"),
}

# Subcommand -> (section of `capsrl --help`, what it does). The function NAME_command of the module
# capsrl.cli.NAME is imported only when NAME runs, so that no command waits for the imports of the
# others.
_COMMANDS = {
    "label": ("Label", "Find who did what to whom in text, files and folders."),
    "bulk": ("Label", "Label tables and folders of any size, on all cores or on a Ray cluster."),
    "serve": ("Label", "Run a web service with a demo page."),
    "frames": ("Label", "Make an index of PropBank frame files, which say what roles mean."),
    "stats": ("Corpora", "Count the sentences, predicates, senses and roles of corpora."),
    "convert": ("Corpora", "Convert a corpus to another format."),
    "score": ("Corpora", "Score predicted propositions against gold ones."),
    "train": ("Your own models", "Train a model from a recipe."),
    "calibrate": ("Your own models", "Make the probabilities of a model mean what they say."),
    "export": ("Your own models", "Write the graphs with which a model labels without torch."),
    "evaluate": ("Your own models", "Label a gold file with a model and score the result."),
}


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        return _without_bool(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        # In a column of its own, --no-x leaves too little of 80 columns for the names of others.
        for parameter in self.params:
            parameter.opts = [*parameter.opts, *parameter.secondary_opts]
            parameter.secondary_opts = []
        super().format_help(ctx, formatter)


class _LazyGroup(TyperGroup):
    """A group whose commands are imported when they are invoked, not when they are listed."""

    def get_params(self, ctx: Any) -> Any:  # noqa: ANN401
        return _without_bool(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        name, _, rest = super().resolve_command(ctx, args)
        assert name is not None
        module = importlib.import_module(f"capsrl.cli.{name}")
        single = typer.Typer(add_completion=False, rich_markup_mode="markdown")
        single.command(name, cls=_Command)(getattr(module, f"{name}_command"))
        return name, typer.main.get_command(single), rest

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
            sys.exit(130)


def _without_bool(parameters: Iterable[Any]) -> list[Any]:
    """The same parameters, without `<bool>` after flags in the help."""
    found = list(parameters)
    for parameter in found:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return found


app = typer.Typer(
    help="Semantic role labeling with capsule networks: who did what to whom.",
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # paragraphs of docstrings are filled to the terminal's width
)


def _placeholder() -> None:
    """Stands for a command in the list of commands; `resolve_command` replaces it."""


for _name, (_panel, _help) in _COMMANDS.items():
    app.command(_name, help=_help, rich_help_panel=_panel)(_placeholder)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"capsrl {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Options that come before the subcommand."""


class _Terminated(BaseException):
    """SIGTERM was received."""


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise _Terminated


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    *others: object,
    **more: object,
) -> None:
    """Print our own warnings in one line, as errors are; others with the place they come from."""
    text = f"warning: {message}\n"
    if category is not UserWarning or not Path(filename).is_relative_to(Path(__file__).parents[1]):
        text = warnings.formatwarning(message, category, filename, lineno)
    sys.stderr.write(text)


def main() -> None:
    """Run the command line.

    A mistake of the user exits with 2 and one line, Ctrl-C with 130; a bug keeps its traceback.
    SIGTERM ends the process as usual, but only after temporary files have been removed.
    """
    gc.set_threshold(100_000)  # to search what is imported and loaded for cycles takes 50 ms
    atexit.register(gc.freeze)  # and at the end of the process, where Python searches again, 40
    sys.stderr = sys.stderr or open(os.devnull, "w")  # None if it is closed
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except CapsrlError as error:
        _fail(error)
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        _fail(f"this command needs {error.name}: {install_hint(EXTRAS[error.name])}")
    except BrokenPipeError:  # `capsrl ... | head`
        sys.stderr.close()
        sys.exit(141)
    except _Terminated:
        before = signal.SIG_DFL
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def _fail(message: object) -> NoReturn:
    sys.stderr.write(f"error: {message}\n")
    sys.exit(2)
