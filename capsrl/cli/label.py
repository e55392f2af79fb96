"""`capsrl label [INPUT]...`: find the propositions of texts, files and folders."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter

import capsrl
from capsrl.cli.inputs import FROM, Source, TableOptions, find_sources, read_source
from capsrl.cli.options import (
    DEVICE,
    ENCODING,
    FRAMES,
    MODEL,
    ROWS_OPTION,
    RUNTIME,
    THREADS,
    argument,
    command,
    field_options,
    format_option,
    option,
    option_errors,
    table_options,
)
from capsrl.cli.outputs import (
    FORMATS,
    WITH_ERRORS,
    Output,
    check_format,
    output_format,
    output_rows,
    write_labeled,
)
from capsrl.cli.progress import without_waiting
from capsrl.cli.summary import Summary
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import STANDARD, name_of
from capsrl.files.remote import is_url
from capsrl.options import (
    AUTO_SENTENCES,
    TEXT_LAYOUT,
    Options,
    PredicateSource,
    decide_predicates,
)
from capsrl.tables.columns import Passed, find_passed
from capsrl.tables.documents import MAX_CHARACTERS, Document
from capsrl.tables.labeled import Labeled
from capsrl.tables.writing import TABLES

NOT_ALL = 3  # exit code if some documents could not be labeled
_BLOCK = 512  # sentences labeled at a time: enough to fill batches of similar lengths

Stream = Iterator[Labeled | None]


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
        ],
        "Labeling": field_options(Options, without=TEXT_LAYOUT),
        "Model": [MODEL, FRAMES, DEVICE, THREADS, RUNTIME],
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
    output: str,
    model: str,
    frames: str | None,
    device: str | None,
    threads: int | None,
    runtime: str | None,
    options: Options,
) -> None:
    """Find who did what to whom.

    INPUT is text (with a blank in it), a file, a folder or a pattern such as "d/*.csv". Files are
    text (.txt), HTML (.html .htm), tables with a column of texts (.csv .tsv .jsonl .parquet) or
    corpora (.conll09 .conllu .conllup .jsonl), also compressed (.gz .xz .bz2 .zst). Without INPUT,
    standard input is labeled as it comes: by paragraphs, or by lines:
    tail -f log | capsrl label --from lines

    INPUT                               to a terminal  to a pipe
    text in quotes                      table          table
    text files, tables, standard input  table          jsonl
    conll09, conllup, jsonl files       table          the same format
    conllu, up1 files                   table          conllup

    Exit code: 0; 2 for a mistake in the command or an unreadable file; 3 if some documents could
    not be labeled (the output says why).
    """
    # All options are checked before the model is loaded, which takes seconds.
    sources = find_sources(
        inputs,
        from_format,
        output=output,
        encoding=encoding,
        layout=options.layout,
        tables=TableOptions(text_column, id_column, max_characters),
    )
    format = output_format(to_format, output, sources)
    check_format(
        format,
        trace=options.trace,
        frames=frames is not None,
        phrases=options.phrases,
        output=output,
    )
    _check_marked(options, sources)
    shape = output_rows(rows, format)
    in_table = format in TABLES or shape == "argument"
    passed = _passed(sources, columns, format, in_table=in_table)
    with option_errors(("device", "threads", "runtime")):
        labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
    bar = output != STANDARD or not sys.stdout.isatty()
    summary = Summary(
        format,
        passed if in_table or columns is not None else None,
        are_chosen=columns is not None,
        streams=[
            name_of(source.name)
            for source in sources
            if source.table is not None and not _can_be_read_twice(source.name)
        ],
    )
    labeled: Iterable[Labeled] = summary.count(_label(labeler, sources, options, bar=bar))
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
            format,
            rows=shape,
            passed=passed,
            title=", ".join(filter(os.path.exists, inputs)) or "Propositions",
            trace=options.trace,
            flush=any(source.is_stream for source in sources),
        ),
    )
    summary.show(always=output != STANDARD)
    if summary.n_errors:
        sys.exit(NOT_ALL)


def _passed(
    sources: Sequence[Source], columns: Sequence[str] | None, format: str, *, in_table: bool
) -> Passed:
    """The columns of tables that are kept; also checks that all tables have a column of texts."""
    # The formats without a place for errors have none for columns either.
    only = columns if format in WITH_ERRORS else []
    tables = [source.table for source in sources if source.table is not None]
    if columns is not None and not (tables and format in WITH_ERRORS):
        able = f"an output that has them ({', '.join(WITH_ERRORS)})"
        what = able if tables else "a table as input"
        raise ConfigError(f"--columns: expected {what}, got {format if tables else 'none'}")
    files = [table for table in tables if _can_be_read_twice(table.path)]
    if len(files) < len(tables) and only is None and in_table:
        sys.stderr.write(
            "note: -: the other columns of standard input are left out, since they are not known "
            "before it is read; name those to keep: --columns NAMES\n"
        )
    return find_passed(files, only, are_all=len(files) == len(tables))


def _can_be_read_twice(path: str) -> bool:
    return path != STANDARD and (os.path.isfile(path) or is_url(path))


def _label(
    labeler: "capsrl.Labeler", sources: Sequence[Source], options: Options, *, bar: bool
) -> Iterator[Labeled]:
    """Label sources in order; those that are labeled alike share batches."""
    alone = len(sources) == 1
    streams = (_decide(source, options, bar=bar, alone=alone) for source in sources)
    for predicates, group in groupby(streams, key=itemgetter(0)):
        chosen = replace(options, predicates=predicates)
        for block in _blocks(chain.from_iterable(stream for _, stream in group)):
            sentences = [each.sentence for each in block if each.sentence is not None]
            labeled = labeler.label_sentences(sentences, options=chosen)
            for each in block:
                yield each if each.sentence is None else replace(each, sentence=next(labeled))


def _decide(
    source: Source, options: Options, *, bar: bool, alone: bool
) -> tuple[PredicateSource, Stream]:
    """Where the predicates of a source come from, and its sentences."""
    read = read_source(source, bar=bar)
    # The other texts of a folder should not be lost because of a bad one.
    found: Stream = iter(_with_error(read, source) if source.is_text and not alone else read)
    if source.is_stream:
        found = without_waiting(each for each in found if each is not None)
    if options.predicates != "auto":
        return options.predicates, found
    if source.is_text:
        return "found", found
    first = list(islice(found, AUTO_SENTENCES))
    sentences = (each.sentence for each in first if each and each.sentence)
    return decide_predicates(options, sentences).predicates, chain(first, found)


def _with_error(labeled: Iterator[Labeled], source: Source) -> Iterator[Labeled]:
    """The sentences of a source; if it cannot be read to its end, the last one is the error."""
    try:
        yield from labeled
    except DataError as error:
        document = source.document or Document(source.name, None)
        yield Labeled(replace(document, error=str(error)))


def _blocks(labeled: Iterable[Labeled | None]) -> Iterator[list[Labeled]]:
    """The sentences in lists of _BLOCK; None ends a list before it is full."""
    block: list[Labeled] = []
    for each in labeled:
        if each is not None:
            block.append(each)
        if block and (each is None or len(block) == _BLOCK):
            yield block
            block = []
    if block:
        yield block


def _check_marked(options: Options, sources: Sequence[Source]) -> None:
    texts = [source.name for source in sources if source.is_text]
    if options.predicates == "marked" and texts:
        where = f" in {texts[0]}" if texts[0] else ""
        raise ConfigError(
            "--predicates marked: expected a corpus that marks its predicates, got raw text"
            f"{where}; name the format of a corpus: --from FORMAT"
        )
