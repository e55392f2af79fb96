"""`capsrl convert IN OUT`: convert a corpus to another format."""

import sys
from collections.abc import Iterable, Iterator

from capsrl.cli.inputs import check_text, refuse_same
from capsrl.cli.options import ENCODING, argument, command, format_option, option
from capsrl.cli.progress import watched_lines
from capsrl.files.opening import name_of
from capsrl.formats.formats import (
    EXPORTS,
    READABLE,
    TEXT,
    WRITABLE,
    find_lost,
    format_of,
    parse_sentences,
    write_sentences,
)
from capsrl.sentence import Sentence


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
            option("--phrases FILE", "Phrases of the arguments of IN: a file *.spans.tsv."),
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
    phrases: str | None,
) -> None:
    """Convert a corpus to another format.

    Formats are known by suffix (.txt .conll09 .conll .conllu .conllup .jsonl .ndjson), also of
    compressed files (.gz .xz .bz2 .zst), or named. OUT is replaced when all has been written.
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
