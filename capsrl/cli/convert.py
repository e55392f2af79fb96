"""`capsrl convert IN OUT`: convert a corpus to another format."""

import sys

from capsrl.cli.inputs import check_text, refuse_same
from capsrl.cli.options import ENCODING, argument, command, format_option, option
from capsrl.cli.progress import watched_lines
from capsrl.files.opening import name_of
from capsrl.formats.formats import (
    EXPORTS,
    READABLE,
    TEXT,
    WRITABLE,
    format_of,
    parse_sentences,
    write_sentences,
)


@command(
    {
        "Arguments": [
            argument("source", "IN", "File to read; - is stdin."),
            argument("target", "OUT", "File to write; - is stdout."),
        ],
        "Options": [
            format_option("--from", READABLE),
            ENCODING,
            format_option("--to", (*WRITABLE, *EXPORTS)),
            option("--merge CONLLU", "CoNLL-U file with the words of IN (stand-off UP 2.0)."),
            option("--spans FILE", "Phrases of the arguments of IN: a file *.spans.tsv."),
        ],
    }
)
def convert_command(
    source: str,
    target: str,
    *,
    from_format: str | None,
    encoding: str | None,
    to_format: str | None,
    merge: str | None,
    spans: str | None,
) -> None:
    """Convert a corpus to another format.

    Formats are known by suffix (.txt .conll09 .conll .conllu .conllup .jsonl .ndjson), also of
    compressed files (.gz .xz .bz2 .zst), or named. OUT is replaced when all has been written.
    """
    read_as = format_of(source, from_format, option="--from")
    written_as = format_of(target, to_format, formats=(*WRITABLE, *EXPORTS), option="--to")
    # A file may be read and written anew in its own format, which loses nothing.
    for path in (source if read_as != written_as else None, merge, spans):
        if path is not None:
            refuse_same(path, target, "OUT")
    with watched_lines(source, encoding=encoding) as lines:
        if read_as == TEXT and from_format is None:
            lines = check_text(lines, name_of(source))
        sentences = parse_sentences(
            lines, read_as, source=name_of(source), merge=merge, spans=spans
        )
        n = write_sentences(sentences, target, written_as)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")
