"""`python -m reproduce run PLAN` and `python -m reproduce report RUNS OUT.html`."""

import sys

import typer

from capsrl.errors import CapsrlError
from reproduce.report_command import report_command
from reproduce.run_command import run_command

app = typer.Typer(
    help="The experiments of the paper: runs, then a report of tables, figures and claims.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("run")(run_command)
app.command("report")(report_command)

if __name__ == "__main__":
    try:
        app()
    except CapsrlError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
