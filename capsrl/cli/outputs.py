"""Write labeled sentences in every format of `capsrl label`, and summarize them."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capsrl.cli.inputs import Given
from capsrl.cli.progress import plural
from capsrl.errors import ConfigError
from capsrl.files.compression import COMPRESSED
from capsrl.files.opening import STANDARD, open_binary_writer, open_writer
from capsrl.formats.bio import to_allennlp
from capsrl.formats.formats import EXPORTS, FILES, SUFFIXES, WRITABLE, format_of, format_sentences
from capsrl.formats.phrase_file import check_phrase_file
from capsrl.sentence import Sentence
from capsrl.show import html_parts
from capsrl.show.drawing import svg
from capsrl.show.table import make_console, table_parts
from capsrl.tables.columns import ROWS, Passed, arrow_schema
from capsrl.tables.pipeline import DocumentSentence, Totals
from capsrl.tables.reading import Document
from capsrl.tables.writing import (
    TABLES,
    WriteOptions,
    json_lines,
    table_rows,
    text_parts,
    write_parquet,
)

FORMATS = ("table", "json", *WRITABLE, *TABLES, *EXPORTS, "html", "svg")
TRACED = ("table", "json", "jsonl", "html")  # the formats that show traces
# The formats that say what roles mean.
EXPLAINED = ("table", "json", "jsonl", *TABLES, "conllup", "html")
# The formats that have a place for errors and columns.
WITH_ERRORS = ("json", "jsonl", "allennlp", *TABLES)
_ONLY_PHRASES = ("spans",)  # the formats of nothing but phrases
_SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".txt": "table"}
NOT_ALL = 3  # exit code if some documents could not be labeled
_SHOWN = 10  # notes of a kind, and errors of documents where the output has no place for them
_IDS = 10_000  # ids that are remembered: memory must not grow with the input


def output_format(named: str | None, output: str, inputs: Sequence[Given]) -> str:
    """Return the format to write: the one named, or that of the suffix of `output`.

    On standard output it is a table for a terminal and for text given as arguments, else the
    format of the files if all have the same and it can be written.
    """
    if output == STANDARD and sys.stdout is None:
        raise ConfigError("standard output is closed; name a file: -o FILE")
    if named is None and output == STANDARD:
        if sys.stdout.isatty() or all(given.text is not None for given in inputs):
            return "table"
        formats = {given.format for given in inputs}
        if all(given.is_text for given in inputs) or len(formats) > 1:
            return "jsonl"
        [found] = formats
        return found if found in WRITABLE else "conllup"
    suffixes = SUFFIXES | _SUFFIXES
    return format_of(output, named, formats=FORMATS, suffixes=suffixes, option="--to")


def output_rows(named: str | None, format: str) -> str:
    """Choose what a row is: an argument in tables, a sentence in JSON, unless it is named."""
    if named is not None and named not in ROWS:
        raise ConfigError(f"--rows: expected {', '.join(ROWS[:-1])} or {ROWS[-1]}, got {named}")
    if named not in (None, "sentence") and format not in (*TABLES, "jsonl"):
        raise ConfigError(
            f"--rows {named}: expected a table ({', '.join(TABLES)}, jsonl), got {format}; "
            "choose one: --to csv"
        )
    return named or ("argument" if format in TABLES else "sentence")


def write_options(format: str, rows: str | None, *, escape: bool) -> WriteOptions:
    """How to write documents in a format; raises ConfigError for options it does not have."""
    if escape and format not in ("csv", "tsv"):
        raise ConfigError(f"--escape-formulas: expected csv or tsv, got {format}; choose --to csv")
    return WriteOptions(format, output_rows(rows, format), escape=escape)


def check_format(format: str, *, trace: bool, frames: bool, phrases: bool, output: str) -> None:
    """Raise ConfigError if the format does not support an option that was given."""
    for option, wanted, able in (("--trace", trace, TRACED), ("--frames", frames, EXPLAINED)):
        if wanted and format not in able:
            raise ConfigError(
                f"{option}: expected a format that shows it ({', '.join(able)}), got {format}; "
                f"choose one: --to {able[0]}"
            )
    if format in _ONLY_PHRASES and not phrases:
        raise ConfigError(f"--no-phrases: {format} has nothing but phrases; leave the option out")
    if format == "parquet" and (suffix := Path(output).suffix).lower() in COMPRESSED:
        raise ConfigError(f"{output}: Parquet files are compressed already; leave out {suffix}")
    if format == "parquet" and output == STANDARD and sys.stdout.isatty():
        raise ConfigError("--to parquet: not shown on a terminal; name a file: -o FILE")


def write_labeled(
    labeled: Iterable[DocumentSentence],
    path: str,
    options: WriteOptions,
    *,
    title: str = "Propositions",
    trace: bool = False,
    flush: bool = False,
) -> None:
    """Write sentences one at a time, except for SVG, which is one picture of all.

    path     the name of a file, or - for standard output
    options  format, which is one of FORMATS, rows and columns
    title    of an HTML page
    trace    show in tables for reading how role probabilities changed over the iterations
    flush    flush after every sentence, for a reader at the other end of a pipe
    """
    if options.format == "parquet":
        schema = arrow_schema(options.rows, options.passed)
        with open_binary_writer(path) as binary:
            write_parquet(table_rows(labeled, options), binary, schema)
        return
    if options.format in FILES:
        return FILES[options.format](_sentences_of(labeled), path)
    with open_writer(path) as file:
        if options.format == "table":
            console = make_console(file)
            for table in table_parts(_sentences_of(labeled), trace=trace):
                console.print(table)
                if flush:
                    file.flush()
            return
        for text in _text_of_file(labeled, options, title, path):
            file.write(text)
            if flush:
                file.flush()


def _text_of_file(
    labeled: Iterable[DocumentSentence], options: WriteOptions, title: str, path: str
) -> Iterator[str]:
    """The text of a file in any format but Parquet and tables for reading."""
    format = options.format
    if format in (*TABLES, "jsonl"):
        return text_parts(labeled, options)
    if format == "json":
        return _json_array(json_lines(labeled, options.passed))
    if format == "allennlp":
        return json_lines(labeled, options.passed, lambda sentence: to_allennlp([sentence]))
    if format == "html":
        return html_parts(_sentences_of(labeled), title=title)
    if format == "svg":
        return iter([svg(*_sentences_of(labeled)) + "\n"])
    sentences: Iterable[Sentence] = _sentences_of(labeled)
    if format in WRITABLE:
        sentences = check_phrase_file(sentences, path)
    return format_sentences(sentences, format)


def _sentences_of(labeled: Iterable[DocumentSentence]) -> Iterator[Sentence]:
    return (each.sentence for each in labeled if each.sentence is not None)


def _json_array(lines: Iterable[str]) -> Iterator[str]:
    """A JSON array with one sentence per line; an array even if there is only one sentence."""
    before = "["
    for line in lines:
        yield f"{before}\n{line.removesuffix(chr(10))}"
        before = ","
    yield "[]\n" if before == "[" else "\n]\n"


@dataclass
class Summary:
    """Counts what was labeled, and reports documents that were not.

    format   of the output; errors are shown on stderr if it has no place for them
    passed   the other columns that the output has; None if it has no columns
    streams  names of the inputs whose columns were not known, which was said before
    """

    format: str
    passed: Passed | None = None
    streams: tuple[str, ...] = ()
    counts: Totals = field(default_factory=Totals)
    _missed: Counter[str] = field(default_factory=Counter)  # columns -> documents that have them
    _unseen: set[str] = field(default_factory=set)  # chosen columns that no document has had
    _ids: set[int] = field(default_factory=set)  # hashes of the first ids
    _repeated: str | None = None
    _has_phrases: bool = False

    def __post_init__(self) -> None:
        if self.passed is not None and self.passed.are_chosen:
            self._unseen.update(self.passed.columns)

    @property
    def n_errors(self) -> int:
        """The number of documents that could not be labeled."""
        return self.counts.errors.total()

    def count(self, labeled: Iterable[DocumentSentence]) -> Iterator[DocumentSentence]:
        """Yield the same, and count it."""
        n_documents = 0
        for each in self.counts.count(labeled):
            if self.counts.documents > n_documents and each.document is not None:
                self._look_at(each.document)
            n_documents = self.counts.documents
            if each.sentence is not None and not self._has_phrases:
                found = (a.phrase for p in each.sentence.propositions for a in p.arguments)
                self._has_phrases = any(found)
            if each.error is not None:
                self._report(each)
            yield each

    def _look_at(self, document: Document) -> None:
        """Notice ids that are not unique, and columns that are not passed on."""
        if self._repeated is None and hash(document.id) in self._ids:
            self._repeated = document.id
        elif len(self._ids) < _IDS:
            self._ids.add(hash(document.id))
        if self.passed is None:
            return
        if self.passed.are_chosen:
            self._unseen.difference_update(document.columns)
        elif not document.place.startswith(self.streams):
            self._missed.update(self.passed.missed(document.columns))

    def show(self, *, always: bool) -> None:
        """Print the counts on stderr, if they were asked for or there is something to say."""
        sys.stderr.writelines(f"{line}\n" for line in self._lines(always=always))

    def _lines(self, *, always: bool) -> Iterator[str]:
        if always or not self.counts.sentences:
            names = ("documents",) if self.counts.documents > 1 else ()
            counted = (
                (name, getattr(self.counts, name)) for name in (*names, "sentences", "propositions")
            )
            yield ", ".join(plural(n, name.removesuffix("s")) for name, n in counted)
        if always and self._has_phrases and self.format == "conll09":
            yield "note: CoNLL-2009 has no phrases; --to conllup keeps them, --to spans writes them"
        for name in sorted(self._unseen)[:_SHOWN]:
            yield f"note: --columns: no document has {name!r:.60}; the column is empty"
        for name, n in sorted(self._missed.items())[:_SHOWN]:
            yield (
                f"note: left out {name!r:.60} of {plural(n, 'document')}, since the first lines "
                "of the file do not have it; to keep it name all columns: --columns NAMES"
            )
        if self._repeated is not None and self.format in WITH_ERRORS:
            yield (
                f"note: several documents have the id {self._repeated!r:.60}, so their rows cannot "
                "be told apart; name a column of unique ids with --id-column"
            )
        if self.n_errors:
            why = "; see the column `error`" if self.format in WITH_ERRORS else ""
            yield f"error: {plural(self.n_errors, 'document')} could not be labeled{why}"

    def _report(self, labeled: DocumentSentence) -> None:
        """Show an error where the output has no place for it."""
        assert labeled.document is not None
        if self.format not in WITH_ERRORS and self.n_errors <= _SHOWN:
            place, error = labeled.document.place, str(labeled.error)
            where = "" if error.startswith(place) else f"{place}: "
            sys.stderr.write(f"error: {where}{error}\n")
