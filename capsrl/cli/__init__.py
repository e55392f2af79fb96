"""The `capsrl` command: one module per subcommand, and the one place errors become exit codes."""

import sys

import typer

from capsrl.cli.convert import convert_command
from capsrl.cli.evaluate import evaluate_command
from capsrl.cli.label import label_command
from capsrl.cli.predict import predict_command
from capsrl.cli.score import score_command
from capsrl.cli.stats import stats_command
from capsrl.cli.train import train_command
from capsrl.errors import CapsrlError

app = typer.Typer(
    help="Semantic role labelling by capsule networks: who did what to whom.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("convert")(convert_command)
app.command("evaluate")(evaluate_command)
app.command("label")(label_command)
app.command("predict")(predict_command)
app.command("score")(score_command)
app.command("stats")(stats_command)
app.command("train")(train_command)


def main() -> None:
    """Run the command line; the user's mistakes exit with 2 and one line, bugs keep a traceback."""
    try:
        app()
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except BrokenPipeError:  # `capsrl ... | head`
        sys.stderr.close()
        sys.exit(141)
