"""`capsrl convert IN OUT`: a corpus from one format to another."""

import sys
from typing import Annotated

import typer


def convert_command(
    source: Annotated[str, typer.Argument(metavar="IN", help="File to read; - is stdin.")],
    target: Annotated[str, typer.Argument(metavar="OUT", help="File to write; - is stdout.")],
    *,
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="conll09, conllu, conllup, jsonl, up1 or up2, where the suffix does not tell.",
        ),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="conll09, conllup or jsonl, where the suffix does not tell.",
        ),
    ] = None,
    merge: Annotated[
        str | None,
        typer.Option(
            metavar="CONLLU",
            help="The treebank with the words of a Universal PropBank 2.0 stand-off file.",
        ),
    ] = None,
) -> None:
    """Convert between CoNLL-2009, CoNLL-U (Plus), Universal PropBank and JSONL.

    Formats are told by suffix (.conll09 .conll .txt .conllu .conllup .jsonl .ndjson, each with
    .gz or .xz), or named. OUT appears when all is written: an error leaves the old file alone.
    """
    # Imported here for the other commands' sake: `capsrl --help` must not wait for the readers.
    from capsrl.cli.progress import watched_lines
    from capsrl.data.files import name_of
    from capsrl.data.formats import (
        input_format,
        output_format,
        parse_sentences,
        write_sentences,
    )

    format = input_format(source, from_format, merge=merge)
    to_format = output_format(target, to_format)  # before anything is read
    with watched_lines(source) as lines:
        sentences = parse_sentences(lines, format, source=name_of(source), merge=merge)
        n = write_sentences(sentences, target, to_format)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")
