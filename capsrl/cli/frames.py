"""`capsrl frames FOLDER`: make an index of PropBank frame files."""

import sys
from typing import Annotated

import typer

from capsrl.cli.options import option
from capsrl.frames.user import user_index
from capsrl.frames.xml import read_frames


def frames_command(
    folder: Annotated[
        str,
        typer.Argument(metavar="FOLDER", help="PropBank frame files (*.xml).", show_default=False),
    ],
    *,
    output: Annotated[
        str | None,
        option(
            "FILE",
            "File to write. Default: in your data folder, for all models.",
            "--output",
            "-o",
        ),
    ] = None,
    facts: Annotated[
        bool, typer.Option("--facts", help="Leave out definitions and descriptions of roles.")
    ] = False,
    source: Annotated[
        str | None,
        option("TEXT", "Where the files come from, and their license; written into the index."),
    ] = None,
) -> None:
    """Make an index of PropBank frame files.

    With the index in your data folder, all that capsrl labels from then on says what senses and
    roles mean in PropBank's words: "seller" and "thing sold" instead of Agent and Theme. The
    English files are the folder `frames` of https://github.com/propbank/propbank-frames.
    """
    index = read_frames(folder, comments=[f"source: {source or folder}"])
    file = user_index() if output is None else output
    index.save(file, facts=facts)
    counts = {"sense": len(index), "role": sum(len(roleset.roles) for roleset in index)}
    parts = [f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items()]
    sys.stderr.write(f"{file}: {', '.join(parts)}\n")
