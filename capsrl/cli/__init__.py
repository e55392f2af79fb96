"""The `capsrl` command: one module per subcommand, and the one place errors become exit codes."""

import sys
import warnings
from pathlib import Path
from typing import Annotated, TextIO

import typer

from capsrl import __version__
from capsrl.cli.convert import convert_command
from capsrl.cli.evaluate import evaluate_command
from capsrl.cli.label import label_command
from capsrl.cli.predict import predict_command
from capsrl.cli.score import score_command
from capsrl.cli.serve import serve_command
from capsrl.cli.stats import stats_command
from capsrl.cli.train import train_command
from capsrl.errors import CapsrlError

MODEL_PACKAGES = ("safetensors", "tokenizers", "torch")  # of the extra `model`

app = typer.Typer(
    help="Semantic role labelling by capsule networks: who did what to whom.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # paragraphs of docstrings are filled to the terminal's width
)
for name, command, panel in (
    ("label", label_command, "Label"),
    ("predict", predict_command, "Label"),
    ("serve", serve_command, "Label"),
    ("stats", stats_command, "Corpora"),
    ("convert", convert_command, "Corpora"),
    ("score", score_command, "Corpora"),
    ("train", train_command, "Models of your own"),
    ("evaluate", evaluate_command, "Models of your own"),
):
    app.command(name, rich_help_panel=panel)(command)


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
    """What may stand before a subcommand."""


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Our own warnings in one line, as errors are; others with the place they come from."""
    if category is UserWarning and Path(filename).is_relative_to(Path(__file__).parent.parent):
        sys.stderr.write(f"warning: {message}\n")
    else:
        sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))


def main() -> None:
    """Run the command line; the user's mistakes exit with 2 and one line, bugs keep a traceback."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            app()
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except ModuleNotFoundError as error:
        if error.name not in MODEL_PACKAGES:
            raise
        sys.stderr.write(f"error: this needs {error.name}: pip install 'capsrl[model]'\n")
        sys.exit(2)
    except BrokenPipeError:  # `capsrl ... | head`
        sys.stderr.close()
        sys.exit(141)
