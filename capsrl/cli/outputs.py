"""Labelled sentences -> what `capsrl label` prints or writes, in each of its formats."""

import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

from capsrl.data.files import suffix_of
from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.show.formatting import Descriptions

FORMATS = ("table", "json", "jsonl", "conll09", "conllu", "html", "svg")
TRACED = ("table", "json", "jsonl", "html")  # have a place for traces
DESCRIBED = ("table", "html")  # have a place for what roles mean
_SUFFIXES = {
    ".txt": "table",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".conll09": "conll09",
    ".conll": "conll09",
    ".conllu": "conllu",
    ".conllup": "conllu",
    ".html": "html",
    ".htm": "html",
    ".svg": "svg",
}


def output_format(format: str | None, output: str | None, *, table: bool) -> str:
    """The format named, or by the suffix of the file; else a table if one is wanted, else JSONL."""
    if format is not None:
        if format not in FORMATS:
            raise ConfigError(f"--format: expected one of {', '.join(FORMATS)}, got {format}")
        return format
    if output is None:
        return "table" if table or sys.stdout.isatty() else "jsonl"
    suffix = suffix_of(output)
    if suffix not in _SUFFIXES:
        raise ConfigError(
            f"{output}: expected a suffix of {' '.join(_SUFFIXES)} (and .gz or .xz), "
            f"got {suffix or 'none'}; or name the format: --format {'|'.join(FORMATS)}"
        )
    return _SUFFIXES[suffix]


def write_labelled(
    sentences: Iterable[Sentence],
    file: TextIO,
    format: str,
    *,
    title: str,
    descriptions: Descriptions | None,
    trace: bool,
) -> None:
    """Write sentences as they come, but for SVG, which is one picture of them all.

    title         of an HTML page
    descriptions  what roles mean, for the formats of DESCRIBED
    trace         show how roles moved in tables; the others show what the sentences have
    """
    if format == "table":
        from capsrl.show.table import make_console, table_parts

        console = make_console(file)
        for part in table_parts(sentences, descriptions=descriptions, trace=trace):
            console.print(part)
        return
    if format == "html":
        from capsrl.show import html_parts

        parts = html_parts(sentences, title=title, descriptions=descriptions)
    else:
        parts = _parts(sentences, format)
    for text in parts:
        file.write(text)


def _parts(sentences: Iterable[Sentence], format: str) -> Iterator[str]:
    from capsrl.data.conll09 import format_conll09
    from capsrl.data.conllu import HEADER, format_conllup
    from capsrl.data.jsonl import format_jsonl
    from capsrl.show import svg_sheet

    if format == "json":
        yield from _array(map(format_jsonl, sentences))
    elif format == "jsonl":
        yield from map(format_jsonl, sentences)
    elif format == "conll09":
        yield from map(format_conll09, sentences)
    elif format == "conllu":
        yield HEADER
        yield from map(format_conllup, sentences)
    else:
        yield svg_sheet(sentences) + "\n"


def _array(lines: Iterable[str]) -> Iterator[str]:
    """A JSON array with one element to a line; always an array, so that jq's `.[]` always works."""
    before = "["
    for line in lines:
        yield f"{before}\n{line.removesuffix(chr(10))}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"
