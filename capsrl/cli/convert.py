"""`capsrl convert IN OUT`: convert a corpus to another format."""

import sys
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from capsrl.cli.inputs import check_text, refuse_same
from capsrl.cli.options import Encoding, From, option
from capsrl.cli.progress import watched_lines
from capsrl.files.opening import name_of
from capsrl.formats.formats import (
    EXPORTS,
    TEXT,
    WRITABLE,
    find_lost,
    format_of,
    parse_sentences,
    write_sentences,
)
from capsrl.sentence import Sentence


def convert_command(
    source: Annotated[
        str,
        typer.Argument(metavar="IN", help="File to read; - is stdin."),
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="OUT", help="File to write; - is stdout."),
    ],
    *,
    from_format: From = None,
    encoding: Encoding = None,
    to_format: Annotated[
        str | None,
        option(
            "FORMAT",
            f"Format of the output: {', '.join((*WRITABLE, *EXPORTS))}. "
            "Default: by the suffix of OUT.",
            "--to",
        ),
    ] = None,
    merge: Annotated[
        str | None,
        option("CONLLU", "Treebank with the words of a Universal PropBank 2.0 stand-off file."),
    ] = None,
    phrases: Annotated[
        str | None, option("FILE", "Phrases of the arguments of IN: a file *.spans.tsv.")
    ] = None,
) -> None:
    """Convert a corpus to another format.

    Formats are known by suffix (.txt .conll09 .conll .conllu .conllup .jsonl .ndjson, also
    compressed: .gz .xz .bz2 .zst), or named. OUT is replaced only when everything has been written.
    """
    read_as = format_of(source, from_format, option="--from")
    written_as = format_of(target, to_format, formats=(*WRITABLE, *EXPORTS), option="--to")
    # A file may be read and written anew in its own format, which loses nothing.
    for path in (source if read_as != written_as else None, merge, phrases):
        if path is not None:
            refuse_same(path, target, "OUT")
    with watched_lines(source, encoding=encoding) as lines:
        if read_as == TEXT and from_format is None:
            lines = check_text(lines, name_of(source))
        sentences = parse_sentences(
            lines, read_as, source=name_of(source), merge=merge, phrases=phrases
        )
        lost: dict[str, None] = {}
        n = write_sentences(_watch_lost(sentences, written_as, lost), target, written_as)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")
    if lost:
        sys.stderr.write(f"note: {written_as} has no {', '.join(lost)}; --to jsonl keeps them\n")


def _watch_lost(
    sentences: Iterable[Sentence], format: str, lost: dict[str, None]
) -> Iterator[Sentence]:
    for sentence in sentences:
        lost.update(dict.fromkeys(find_lost(sentence, format)))
        yield sentence
