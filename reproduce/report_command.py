"""`python -m reproduce report RUNS OUT.html`: tables and figures of finished runs."""

from pathlib import Path
from typing import Annotated

import typer


def report_command(
    runs: Annotated[Path, typer.Argument(metavar="RUNS", help="Folder of finished runs (*.json).")],
    out: Annotated[
        Path, typer.Argument(metavar="OUT.html", help="The page; OUT.md and figures/ go beside it.")
    ],
) -> None:
    """Make the paper's tables, figures and claims from finished runs, as HTML and Markdown.

    `python -m reproduce run` makes the runs. What RUNS/notes.md says is put before the claims. The
    page is self-contained; the same runs give the same bytes.
    """
    # Here, since `capsrl --help` must not wait for it.
    from reproduce.page import check_name, write_report
    from reproduce.results import read_notes, read_results

    check_name(out)
    page, markdown, *figures = write_report(read_results(runs), out, read_notes(runs))
    typer.echo(f"wrote {page}")
    typer.echo(f"wrote {markdown}")
    typer.echo(f"wrote {len(figures)} figures to {out.parent / 'figures'}")
