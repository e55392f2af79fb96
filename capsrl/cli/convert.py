"""`capsrl convert IN OUT`: a corpus from one format to another, or from published folders."""

import sys
from typing import Annotated

import typer

from capsrl.cli.convert_corpus import CORPORA, SUFFIX, convert_corpus
from capsrl.errors import ConfigError


def convert_command(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="File to read; - is stdin. Or a corpus: ewt, up.")
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="File to write; - is stdout. A folder for a corpus."),
    ],
    *,
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="text, conll09, conllu, conllup, jsonl or up1, if the suffix is another.",
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
    ud: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Of ewt and up: the treebank's UD release.")
    ] = None,
    propbank: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Of ewt: a checkout of propbank-release.")
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Of up: Universal Propositions 2.0 of the treebank."),
    ] = None,
    suffix: Annotated[
        str | None,
        typer.Option(metavar="SUFFIX", help=f"Of ewt and up: how files end; if not {SUFFIX}."),
    ] = None,
) -> None:
    """Convert between CoNLL-2009, CoNLL-U (Plus), Universal PropBank and JSONL.

    Formats are told by suffix (.txt .conll09 .conll .conllu .conllup .jsonl .ndjson, each with
    .gz or .xz), or named. OUT appears when all is written: an error leaves the old file alone.

    convert ewt --ud FOLDER --propbank FOLDER OUT makes the English Web Treebank with PropBank,
    convert up --ud FOLDER --up FOLDER OUT a language of Universal Propositions 2.0: one file per
    split in the folder OUT.
    """
    of_files = {"--to": to_format, "--merge": merge}
    of_corpora = {"--ud": ud, "--propbank": propbank, "--up": up, "--suffix": suffix}
    if source in CORPORA and from_format is None:
        _refuse(source, of_files, "with a file")
        folders = {"ud": ud, "propbank": propbank, "up": up}
        convert_corpus(source, target, folders, suffix=suffix or SUFFIX)
        return
    _refuse(source, of_corpora, f"with {' or '.join(CORPORA)}")
    # Imported here for the other commands' sake: `capsrl --help` must not wait for the readers.
    from capsrl.cli.progress import watched_lines
    from capsrl.data.files import name_of
    from capsrl.data.formats import WRITABLE, format_of, parse_sentences, write_sentences

    format = format_of(source, from_format, option="--from")
    to_format = format_of(target, to_format, formats=WRITABLE, option="--to")
    with watched_lines(source) as lines:
        sentences = parse_sentences(lines, format, source=name_of(source), merge=merge)
        n = write_sentences(sentences, target, to_format)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")


def _refuse(source: str, options: dict[str, str | None], unless: str) -> None:
    for option, value in options.items():
        if value is not None:
            raise ConfigError(f"{source}: expected {option} only {unless}, got {option} {value}")
