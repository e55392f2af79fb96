"""Write labeled sentences in every format of `capsrl label`."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from capsrl.cli.inputs import Source
from capsrl.data.files import STANDARD, suffix_of
from capsrl.data.formats import EXPORTS, TEXT, WRITABLE, format_of, format_sentences
from capsrl.data.jsonl import format_jsonl
from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.show import html_parts, svg_sheet
from capsrl.show.table import make_console, table_parts

FORMATS = ("table", "json", *WRITABLE, *EXPORTS, "html", "svg")
TRACED = ("table", "json", "jsonl", "html")  # the formats that show traces
EXPLAINED = ("table", "json", "jsonl", "conllup", "html")  # the formats that say what roles mean


def output_format(named: str | None, output: str, sources: Sequence[Source]) -> str:
    """Return the format to write: the one named, or that of the suffix of `output`.

    On standard output it is a table for a terminal and for text given as arguments, else the
    format of the files if all have the same and it can be written.
    """
    if named is None and output == STANDARD:
        if sys.stdout.isatty() or all(source.text is not None for source in sources):
            return "table"
        formats = {source.format for source in sources}
        if formats == {TEXT} or len(formats) > 1:
            return "jsonl"
        [found] = formats
        return found if found in WRITABLE else "conllup"
    if named is None and suffix_of(output) == ".txt":
        return "table"
    return format_of(output, named, formats=FORMATS, option="--to")


def check_format(format: str, *, trace: bool, frames: bool) -> None:
    """Raise ConfigError if the format does not support an option that was given."""
    for option, wanted, able in (("--trace", trace, TRACED), ("--frames", frames, EXPLAINED)):
        if wanted and format not in able:
            raise ConfigError(
                f"{option}: expected a format that shows it ({', '.join(able)}), got {format}; "
                f"choose one: --to {able[0]}"
            )


def write_labeled(
    sentences: Iterable[Sentence],
    file: TextIO,
    format: str,
    *,
    title: str,
    trace: bool,
    flush: bool,
) -> None:
    """Write sentences one at a time, except for SVG, which is one picture of all.

    title  title of an HTML page
    trace  show in tables how role probabilities changed over the iterations
    flush  flush after every sentence, for a reader at the other end of a pipe
    """
    if format == "table":
        console = make_console(file)
        for part in table_parts(sentences, trace=trace):
            console.print(part)
            if flush:
                file.flush()
        return
    if format == "html":
        parts = html_parts(sentences, title=title)
    elif format == "svg":
        parts = iter([svg_sheet(sentences) + "\n"])
    elif format == "json":
        parts = _json_array(map(format_jsonl, sentences))
    else:
        parts = format_sentences(sentences, format)
    for text in parts:
        file.write(text)
        if flush:
            file.flush()


def _json_array(lines: Iterable[str]) -> Iterator[str]:
    """A JSON array with one sentence per line; an array even if there is only one sentence."""
    before = "["
    for line in lines:
        yield f"{before}\n{line.removesuffix(chr(10))}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"
