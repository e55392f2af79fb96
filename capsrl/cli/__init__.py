"""The `capsrl` command: loads the subcommand that is asked for and turns errors into exit codes."""

import atexit
import difflib
import gc
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import FrameType
from typing import NoReturn

import click

from capsrl import __version__
from capsrl.errors import CapsrlError, ConfigError, install_hint
from capsrl.files.replacing import DISK_FULL, writing_errors

_LONGEST = 10_000  # characters of an error message
# Package that may be missing -> the extra that installs it.
EXTRAS = {
    **dict.fromkeys(("safetensors", "torch"), "model"),
    "duckdb": "search",
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
    "bulk": ("Label", "Label tables and folders of any size, on all cores or a Ray cluster."),
    "serve": ("Label", "Run a web service with a demo page."),
    "frames": ("Label", "Look up a word in PropBank's frames, or index a folder of them."),
    "search": ("Label", "Search labeled files by sense, role, head word or text."),
    "stats": ("Corpora", "Count the sentences, predicates, senses and roles of corpora."),
    "convert": ("Corpora", "Convert a corpus to another format."),
    "score": ("Corpora", "Score predicted propositions against gold ones."),
    "train": ("Your own models", "Train a model from a recipe."),
    "calibrate": ("Your own models", "Calibrate the probabilities of a model on a gold file."),
    "export": ("Your own models", "Export a model to ONNX, to run without torch."),
    "check": ("Your own models", "Look for damage in models, checkpoints and output of bulk."),
    "evaluate": ("Your own models", "Label a gold file with a model and score the result."),
}


class _Commands(click.Group):
    """The commands, each imported when it is invoked, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"capsrl.cli.{cmd_name}")
        found: click.Command = getattr(module, f"{cmd_name}_command")
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in _COMMANDS:
            raise ConfigError(_unknown("command", args[0], _COMMANDS))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for heading in dict.fromkeys(heading for heading, _ in _COMMANDS.values()):
            with formatter.section(heading):
                rows = [(name, help) for name, (its, help) in _COMMANDS.items() if its == heading]
                formatter.write_dl([(name.ljust(width), help) for name, help in rows])

    def invoke(self, ctx: click.Context) -> None:
        # click would print an empty line or exit with 1.
        try:
            super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
        except KeyboardInterrupt:
            sys.stderr.write("interrupted\n")
            sys.exit(130)
        except BrokenPipeError:  # `capsrl ... | head`
            sys.stderr.close()
            sys.exit(141)


app = click.version_option(__version__, message="capsrl %(version)s")(
    _Commands(help="Semantic role labeling with capsule networks: who did what to whom.")
)


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"unknown {what} {name}" + (f"; did you mean {close[0]}?" if close else "")


def _usage_message(error: click.UsageError) -> str:
    """A mistake that click has found, in one line, as those that we find."""
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        name, params = error.option_name, error.ctx.command.params
        if name == "-o" and error.ctx.command.name == "bulk":
            advice = "the output folder is the last argument: capsrl bulk IN... OUT"
            return f"unknown option {name}; {advice}"
        known = [flag for each in params for flag in (*each.opts, *each.secondary_opts)]
        # The nearest to one letter would be another letter, or any short name.
        return _unknown("option", name, known if name.startswith("--") else ())
    sentence = " ".join(error.format_message().split()).removesuffix(".")
    if isinstance(error, click.BadOptionUsage):
        return sentence.replace(f"Option '{error.option_name}'", f"{error.option_name}:")
    advice = f"; see {error.ctx.command_path} --help" if error.ctx is not None else ""
    return f"{sentence[0].lower()}{sentence[1:]}{advice}"


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
    atexit.register(_freeze)  # and at the end of the process, where Python searches again, 40
    sys.stderr = sys.stderr or open(os.devnull, "w")  # None if it is closed
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        # A disk may be full; files that a command writes have their own message.
        with warnings.catch_warnings(), writing_errors("<stdout>", only=DISK_FULL):
            warnings.showwarning = _show_warning
            # Commands return None; --help and --version their exit code.
            sys.exit(app.main(sys.argv[1:] or ["--help"], standalone_mode=False))
    except CapsrlError as error:
        if sys.stdout is not None:
            try:
                sys.stdout.flush()
            except OSError:
                sys.stdout = None  # Python would try it again, and print a traceback
        _fail(error)
    except click.UsageError as error:
        _fail(_usage_message(error))
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        _fail(f"this command needs {error.name}: {install_hint(EXTRAS[error.name])}")
    except _Terminated:
        before = signal.SIG_DFL
        signal.signal(signal.SIGTERM, before)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def _freeze() -> None:
    if "duckdb" not in sys.modules:  # it reports what is not freed
        gc.freeze()


def _fail(message: object) -> NoReturn:
    # A message may quote a file of any length, and control characters would reach the terminal.
    shown = (c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in str(message)[:_LONGEST])
    sys.stderr.write(f"error: {''.join(shown)}\n")
    sys.exit(2)
