"""`capsrl label [INPUT]...`: find the propositions of texts, files and folders."""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Annotated

import typer

import capsrl
from capsrl.cli.inputs import FROM, Given, can_be_read_twice, find_given, read_given
from capsrl.cli.options import (
    Device,
    Encoding,
    Frames,
    Model,
    Runtime,
    Threads,
    option,
    option_errors,
    split_names,
    with_fields,
)
from capsrl.cli.outputs import (
    FORMATS,
    NOT_ALL,
    WITH_ERRORS,
    Output,
    Summary,
    check_format,
    output_format,
    output_rows,
    write_labeled,
)
from capsrl.cli.progress import without_waiting
from capsrl.errors import ConfigError, DataError
from capsrl.files.local import STANDARD, name_of
from capsrl.options import AUTO_SENTENCES, Options, PredicateSource, decide_predicates
from capsrl.tables.columns import Passed, find_passed
from capsrl.tables.pipeline import Labeled, label_stream
from capsrl.tables.reading import MAX_CHARACTERS, Document, Input, ReadOptions
from capsrl.tables.records import BAD_ROW, Fault
from capsrl.tables.writing import TABLES, WriteOptions

_FIRST = 256  # sentences that are labeled first, so that the reader need not wait for a large batch

Stream = Iterator[Labeled | None]  # None: those so far are to be labeled before the next is read


@with_fields("options", Options)
def label_command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT...",
            help="Text in quotes, files, folders, or - for standard input, which is the default.",
            show_default=False,
        ),
    ] = None,
    *,
    from_format: Annotated[
        str | None,
        option(
            "FORMAT",
            f"Format of the input: {', '.join(FROM)}. Default: by the suffix of the file.",
            "--from",
        ),
    ] = None,
    encoding: Encoding = None,
    text_column: Annotated[
        str | None, option("NAME", "Column of a table that has the texts. Default: text.")
    ] = None,
    id_column: Annotated[
        str | None,
        option("NAME", "Column of a table that has the ids. Default: id, if there is one."),
    ] = None,
    columns: Annotated[
        str | None,
        option("NAMES", "Other columns to keep, with commas. Default: all."),
    ] = None,
    max_characters: Annotated[
        int, option("N", "Longer texts in tables are errors.", min=1)
    ] = MAX_CHARACTERS,
    to_format: Annotated[
        str | None,
        option(
            "FORMAT",
            f"Format of the output: {', '.join(FORMATS)}. Default: by the suffix of -o, else as in "
            "the table above.",
            "--to",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        option("argument|sentence", "What a row is. Default: argument in tables, else sentence."),
    ] = None,
    output: Annotated[
        str, option("FILE", "File to write.", "--output", "-o", show_default="standard output")
    ] = STANDARD,
    model: Model = "en",
    frames: Frames = None,
    device: Device = None,
    threads: Threads = None,
    runtime: Runtime = None,
    options: Options,
) -> None:
    """Find who did what to whom.

    An INPUT is the name of a file or folder, a pattern such as "d/*.csv", or text, which has a
    blank in it. Files are text (.txt), HTML (.html .htm), tables with a column of texts (.csv .tsv
    .jsonl .parquet) or corpora (.conll09 .conllu .conllup .jsonl), also compressed (.gz .xz .bz2
    .zst). All but HTML are read as they are labeled, so they may be larger than the memory.

    Standard input is labeled as it comes: text by paragraphs, since a sentence may go on in the
    next line, or line by line with `tail -f log | capsrl label --from lines`.

    | INPUT | on a terminal | to a pipe |
    |---|---|---|
    | text in quotes | table | table |
    | text files, tables, standard input | table | jsonl |
    | conll09, conllup, jsonl files | table | the same format |
    | conllu, up1 files | table | conllup |

    The exit code is 0, or 2 for a mistake in the command or a file that cannot be read, or 3 if
    some documents could not be labeled: those have an error in the output.
    """
    read = ReadOptions(from_format, text_column, id_column, encoding, max_characters)
    # All options are checked before the model is loaded, which takes seconds.
    given = find_given(inputs or [], read, output=output, layout=options.layout)
    format = output_format(to_format, output, given)
    check_format(
        format,
        trace=options.trace,
        frames=frames is not None,
        phrases=options.phrases,
        output=output,
    )
    _check_marked(options, given)
    write = WriteOptions(format, output_rows(rows, format))
    in_table = format in TABLES or write.rows == "argument"
    write = replace(write, passed=_passed(given, split_names(columns), format, in_table=in_table))
    with option_errors(("device", "threads", "runtime")):
        labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
    summary = Summary(
        format,
        write.passed if in_table or columns is not None else None,
        tuple(name_of(table.path) for table in _streams(given)),
    )
    bar = output != STANDARD or not sys.stdout.isatty()
    labeled = summary.count(_label(labeler, given, options, bar=bar))
    lemmatizer = labeler.inventory.lemmatizer
    if format in ("conll09", "conllup") and lemmatizer is not None:
        fill = lemmatizer.fill
        labeled = (
            replace(each, sentence=each.sentence and fill(each.sentence)) for each in labeled
        )
    write_labeled(
        labeled,
        Output(
            output,
            write,
            title=", ".join(filter(os.path.exists, inputs or [])) or "Propositions",
            trace=options.trace,
            flush=any(each.is_stream for each in given),
        ),
    )
    summary.show(always=output != STANDARD)
    if summary.n_errors:
        raise typer.Exit(NOT_ALL)


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
) -> Iterator[Labeled]:
    """Label inputs in order; those that are labeled alike share batches."""
    alone = len(given) == 1
    streams = (_decide(each, options, bar=bar, alone=alone) for each in given)
    for predicates, group in groupby(streams, key=itemgetter(0)):
        chosen = replace(options, predicates=predicates)
        items = chain.from_iterable(stream for _, stream in group)
        items = chain(islice(items, _FIRST), [None], items)
        for is_pause, run in groupby(items, key=lambda each: each is None):
            if not is_pause:
                found = (each for each in run if each is not None)
                yield from label_stream(labeler, found, chosen)


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


def _with_error(labeled: Iterator[Labeled], given: Given) -> Iterator[Labeled]:
    """The sentences of an input; if it cannot be read to its end, the last one is the error."""
    try:
        yield from labeled
    except DataError as error:
        document = given.document or Document(given.name, None)
        yield Labeled(replace(document, fault=Fault(BAD_ROW, str(error))))


def _check_marked(options: Options, given: Sequence[Given]) -> None:
    texts = [each.name for each in given if each.is_text]
    if options.predicates == "marked" and texts:
        where = f" ({texts[0]})" if texts[0] else ""
        raise ConfigError(
            f"--predicates marked: raw text{where} marks no predicates; "
            "name the format of a corpus: --from FORMAT"
        )
