"""Write labeled sentences in every format of `capsrl label`."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from capsrl.cli.inputs import Source
from capsrl.errors import ConfigError
from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import STANDARD, open_binary_writer, open_writer
from capsrl.formats.formats import EXPORTS, SUFFIXES, WRITABLE, format_of, format_sentences
from capsrl.formats.jsonl import format_object
from capsrl.formats.phrase_file import SUFFIX as SPANS
from capsrl.sentence import Sentence
from capsrl.show import html_parts
from capsrl.show.drawing import svg_sheet
from capsrl.show.table import make_console, table_parts
from capsrl.tables.cells import Cells
from capsrl.tables.columns import NOTHING, ROWS, Passed, arrow_schema, columns_of
from capsrl.tables.labeled import Labeled, json_lines, labeled_rows
from capsrl.tables.writing import TABLES, csv_parts, write_parquet

FORMATS = ("table", "json", *WRITABLE, *TABLES, *EXPORTS, "html", "svg")
TRACED = ("table", "json", "jsonl", "html")  # the formats that show traces
# The formats that say what roles mean.
EXPLAINED = ("table", "json", "jsonl", *TABLES, "conllup", "html")
WITH_ERRORS = ("json", "jsonl", *TABLES)  # the formats that have a place for errors and columns
_ONLY_PHRASES = ("spans",)  # the formats of nothing but phrases
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".txt": "table"}


@dataclass(frozen=True, slots=True)
class Output:
    """Where and how to write.

    path    the name of a file, or - for standard output
    format  one of FORMATS
    rows    what a row of a table or a line of JSON is: an argument or a sentence
    passed  the columns of the documents that tables have, and JSON if they were chosen
    title   of an HTML page
    trace   show in tables for reading how role probabilities changed over the iterations
    flush   flush after every sentence, for a reader at the other end of a pipe
    """

    path: str
    format: str
    rows: str = "argument"
    passed: Passed = NOTHING
    title: str = "Propositions"
    trace: bool = False
    flush: bool = False


def output_format(named: str | None, output: str, sources: Sequence[Source]) -> str:
    """Return the format to write: the one named, or that of the suffix of `output`.

    On standard output it is a table for a terminal and for text given as arguments, else the
    format of the files if all have the same and it can be written.
    """
    if output == STANDARD and sys.stdout is None:
        raise ConfigError("standard output is closed; name a file: -o FILE")
    if named is None and output == STANDARD:
        if sys.stdout.isatty() or all(source.text is not None for source in sources):
            return "table"
        formats = {source.format for source in sources}
        if all(source.is_text for source in sources) or len(formats) > 1:
            return "jsonl"
        [found] = formats
        return found if found in WRITABLE else "conllup"
    is_spans = SPANS in Path(output).name.lower()
    suffixes = SUFFIXES if is_spans else SUFFIXES | _SUFFIXES
    return format_of(output, named, formats=FORMATS, suffixes=suffixes, option="--to")


def output_rows(named: str | None, format: str) -> str:
    """What a row is: an argument in tables, a sentence in JSON, unless it is named."""
    if named is not None and named not in ROWS:
        raise ConfigError(f"--rows: expected {' or '.join(ROWS)}, got {named}")
    if named == "argument" and format not in (*TABLES, "jsonl"):
        raise ConfigError(
            f"--rows argument: expected a table ({', '.join(TABLES)}, jsonl), got {format}; "
            "choose one: --to csv"
        )
    return named or ("argument" if format in TABLES else "sentence")


def check_format(format: str, *, trace: bool, frames: bool, phrases: bool, output: str) -> None:
    """Raise ConfigError if the format does not support an option that was given."""
    for option, wanted, able in (("--trace", trace, TRACED), ("--frames", frames, EXPLAINED)):
        if wanted and format not in able:
            raise ConfigError(
                f"{option}: expected a format that shows it ({', '.join(able)}), got {format}; "
                f"choose one: --to {able[0]}"
            )
    if format in _ONLY_PHRASES and not phrases:
        raise ConfigError(
            f"--no-phrases: expected a format of more than phrases, got {format}; leave it out"
        )
    if format == "parquet" and Path(output).suffix.lower() in COMPRESSED:
        suffix = Path(output).suffix
        raise ConfigError(
            f"{output}: expected a name without {suffix}: Parquet files are compressed already"
        )
    if format == "parquet" and output == STANDARD and sys.stdout.isatty():
        raise ConfigError("--to parquet: expected a file, got the terminal; name one: -o FILE")


def write_labeled(labeled: Iterable[Labeled], output: Output) -> None:
    """Write sentences one at a time, except for SVG, which is one picture of all."""
    if output.format == "parquet":
        schema = arrow_schema(output.rows, output.passed)
        with open_binary_writer(output.path) as binary:
            write_parquet(_rows(labeled, output), binary, schema)
        return
    with open_writer(output.path) as file:
        if output.format == "table":
            console = make_console(file)
            for part in table_parts(_sentences(labeled), trace=output.trace):
                console.print(part)
                if output.flush:
                    file.flush()
            return
        for text in _parts(labeled, output):
            file.write(text)
            if output.flush:
                file.flush()


def _parts(labeled: Iterable[Labeled], output: Output) -> Iterator[str]:
    """The text of a file in any format but Parquet and tables for reading."""
    format = output.format
    if format in TABLES:
        columns = columns_of(output.rows, output.passed)
        delimiter = "\t" if format == "tsv" else ","
        return csv_parts(_rows(labeled, output), columns, delimiter=delimiter)
    if format == "jsonl" and output.rows == "argument":
        return map(format_object, _rows(labeled, output))
    if format == "jsonl":
        return json_lines(labeled, output.passed)
    if format == "json":
        return _json_array(json_lines(labeled, output.passed))
    if format == "html":
        return html_parts(_sentences(labeled), title=output.title)
    if format == "svg":
        return iter([svg_sheet(_sentences(labeled)) + "\n"])
    return format_sentences(_sentences(labeled), format)


def _sentences(labeled: Iterable[Labeled]) -> Iterator[Sentence]:
    return (each.sentence for each in labeled if each.sentence is not None)


def _rows(labeled: Iterable[Labeled], output: Output) -> Iterator[Cells]:
    for each in labeled:
        if each.document is not None or each.sentence is not None:
            yield from labeled_rows(each, rows=output.rows, passed=output.passed)


def _json_array(lines: Iterable[str]) -> Iterator[str]:
    """A JSON array with one sentence per line; an array even if there is only one sentence."""
    before = "["
    for line in lines:
        yield f"{before}\n{line.removesuffix(chr(10))}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"
