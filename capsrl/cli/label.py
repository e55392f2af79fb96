"""`capsrl label [INPUT]...`: find the propositions of texts, files and folders."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path

import capsrl
from capsrl.cli.inputs import FROM, Given, can_be_read_twice, find_given, read_given
from capsrl.cli.options import (
    DEVICE,
    ENCODING,
    ESCAPE,
    FRAME_FILES,
    MODEL,
    ROWS_OPTION,
    RUNTIME,
    THREADS,
    argument,
    command,
    field_options,
    format_option,
    option,
    table_options,
)
from capsrl.cli.outputs import (
    FORMATS,
    NOT_ALL,
    WITH_ERRORS,
    Summary,
    check_format,
    output_format,
    write_labeled,
    write_options,
)
from capsrl.cli.progress import without_waiting
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import STANDARD, name_of
from capsrl.options import (
    AUTO_SENTENCES,
    TEXT_LAYOUT,
    Options,
    PredicateSource,
    decide_predicates,
)
from capsrl.tables.columns import Passed, find_passed
from capsrl.tables.pipeline import DocumentSentence, label_items
from capsrl.tables.reading import MAX_CHARACTERS, Document, Input, ReadOptions
from capsrl.tables.records import BAD_ROW, Fault
from capsrl.tables.writing import TABLES

_FIRST_BATCH = 256  # sentences, so that the reader need not wait for a large batch

Stream = Iterator[
    DocumentSentence | None
]  # None: those so far are to be labeled before the next is read


@command(
    {
        "Input": [
            argument("inputs", "[INPUT]...", "Text in quotes, files, folders; - is stdin."),
            format_option("--from", FROM),
            ENCODING,
            *table_options(MAX_CHARACTERS),
            *field_options(Options, TEXT_LAYOUT),
        ],
        "Output": [
            option("-o, --output FILE", "File to write; - is stdout.", default=STANDARD),
            format_option("--to", FORMATS, default="by suffix, else as above"),
            ROWS_OPTION,
            ESCAPE,
        ],
        "Labeling": field_options(Options, without=TEXT_LAYOUT),
        "Model": [MODEL, FRAME_FILES, DEVICE, THREADS, RUNTIME],
    },
    options=Options,
)
def label_command(
    inputs: Sequence[str],
    *,
    from_format: str | None,
    encoding: str | None,
    text_column: str | None,
    id_column: str | None,
    columns: Sequence[str] | None,
    max_characters: int,
    to_format: str | None,
    rows: str | None,
    escape_formulas: bool,
    output: str,
    model: str,
    frames: str | None,
    device: str | None,
    threads: int | None,
    runtime: str | None,
    options: Options,
) -> None:
    """Find who did what to whom.

    INPUT is text in quotes, with at least one space, a file, a folder or a pattern such as
    "d/*.csv". Files are text (.txt), HTML (.html .htm), tables with a column of texts (.csv .tsv
    .jsonl .parquet) or corpora (.conll09 .conllu .conllup .jsonl), also compressed (.gz .xz .bz2
    .zst). Without INPUT, standard input is labeled as it comes: by paragraphs, or by lines:
    tail -f log | capsrl label --from lines

    INPUT                               to a terminal  to a pipe
    text in quotes                      table          table
    text files, tables, standard input  table          jsonl
    conll09, conllup, jsonl files       table          the same format
    conllu, up1 files                   table          conllup

    Exit code: 0; 2 for a mistake in the command or an unreadable file; 3 if some documents could
    not be labeled (the output says why).
    """
    read = ReadOptions(from_format, text_column, id_column, encoding, max_characters)
    # All options are checked before the model is loaded, which takes seconds.
    given = find_given(inputs, read, output=output, layout=options.layout())
    format = output_format(to_format, output, given)
    check_format(
        format,
        trace=options.trace,
        frames=frames is not None,
        phrases=options.phrases,
        output=output,
    )
    _check_marked(options, given)
    write = write_options(format, rows, escape=escape_formulas)
    in_table = format in TABLES or write.rows != "sentence"
    write = replace(write, passed=_passed(given, columns, format, in_table=in_table))
    labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
    language = labeler.inventory.language
    given = [replace(each, layout=replace(each.layout, language=language)) for each in given]
    summary = Summary(
        format,
        write.passed if in_table or columns is not None else None,
        tuple(name_of(table.path) for table in _streams(given)),
    )
    bar = output != STANDARD or not sys.stdout.isatty()
    labeled = summary.count(_label(labeler, given, options, bar=bar))
    if format in ("conll09", "conllup"):
        fill = labeler.inventory.fill_lemmas
        labeled = (
            replace(each, sentence=each.sentence and fill(each.sentence)) for each in labeled
        )
    names = (Path(each).name for each in inputs if os.path.exists(each))
    write_labeled(
        labeled,
        output,
        write,
        title=", ".join(names) or "Propositions",
        trace=options.trace,
        flush=any(each.is_stream for each in given),
    )
    summary.show(always=output != STANDARD)
    if summary.n_errors:
        sys.exit(NOT_ALL)


def _streams(given: Sequence[Given]) -> list[Input]:
    """The tables whose columns are not known before they are read."""
    tables = (each.table for each in given if each.table is not None)
    return [table for table in tables if not can_be_read_twice(table.path)]


def _passed(
    given: Sequence[Given], columns: Sequence[str] | None, format: str, *, in_table: bool
) -> Passed:
    """The columns of tables that are kept; also checks that all tables have a column of texts."""
    tables = [each.table for each in given if each.table is not None]
    if columns is not None and not tables:
        raise ConfigError("--columns: needs a table as input")
    if columns is not None and format not in WITH_ERRORS:
        raise ConfigError(
            f"--columns: expected a format that has them ({', '.join(WITH_ERRORS)}), got {format}"
        )
    streams = _streams(given)
    if streams and columns is None and in_table:
        sys.stderr.write(
            "note: -: the other columns of standard input are left out, since they are not known "
            "before it is read; name those to keep: --columns NAMES\n"
        )
    files = [table for table in tables if table not in streams]
    # The formats without a place for errors have none for columns either.
    only = columns if format in WITH_ERRORS else []
    return find_passed(files, only, are_all=not streams)


def _label(
    labeler: "capsrl.Labeler", given: Sequence[Given], options: Options, *, bar: bool
) -> Iterator[DocumentSentence]:
    """Label inputs in order; those that are labeled alike share batches."""
    alone = len(given) == 1
    streams = (_decide(each, options, bar=bar, alone=alone) for each in given)
    for predicates, group in groupby(streams, key=itemgetter(0)):
        chosen = replace(options, predicates=predicates)
        items = chain.from_iterable(stream for _, stream in group)
        # The first sentences are labeled as a batch of their own, so that output begins early.
        items = chain(islice(items, _FIRST_BATCH), [None], items)
        for is_pause, run in groupby(items, key=lambda each: each is None):
            if not is_pause:
                found = (each for each in run if each is not None)
                yield from label_items(labeler, found, chosen)


def _decide(
    given: Given, options: Options, *, bar: bool, alone: bool
) -> tuple[PredicateSource, Stream]:
    """Where the predicates of an input come from, and its sentences."""
    read = read_given(given, bar=bar)
    # The other texts of a folder should not be lost because of a bad one.
    found: Stream = iter(_with_error(read, given) if given.is_text and not alone else read)
    if given.is_stream:
        found = without_waiting(each for each in found if each is not None)
    if options.predicates != "auto":
        return options.predicates, found
    if given.is_text:
        return "found", found
    first = list(islice(found, AUTO_SENTENCES))
    sentences = (each.sentence for each in first if each and each.sentence)
    return decide_predicates(options, sentences).predicates, chain(first, found)


def _with_error(labeled: Iterator[DocumentSentence], given: Given) -> Iterator[DocumentSentence]:
    """The sentences of an input; if it cannot be read to its end, the last one is the error."""
    try:
        yield from labeled
    except DataError as error:
        document = given.document or Document(given.name, None)
        yield DocumentSentence(replace(document, fault=Fault(BAD_ROW, str(error))))


def _check_marked(options: Options, given: Sequence[Given]) -> None:
    texts = [each.name for each in given if each.is_text]
    if options.predicates == "marked" and texts:
        where = f" ({texts[0]})" if texts[0] else ""
        raise ConfigError(
            f"--predicates marked: raw text{where} marks no predicates; "
            "name the format of a corpus: --from FORMAT"
        )
