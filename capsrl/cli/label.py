"""`capsrl label [INPUT]...`: find the propositions of texts, files and folders."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Annotated

import typer

import capsrl
from capsrl.cli.inputs import Source, find_sources, read_source
from capsrl.cli.options import (
    Device,
    Encoding,
    Frames,
    From,
    Model,
    Runtime,
    Threads,
    option,
    with_fields,
)
from capsrl.cli.outputs import FORMATS, check_format, output_format, write_labeled
from capsrl.data.files import STANDARD, open_writer
from capsrl.data.formats import TEXT
from capsrl.errors import ConfigError
from capsrl.options import Options, PredicateSource
from capsrl.sentence import Sentence

_BLOCK = 512  # sentences labeled at a time: enough to fill batches of similar lengths
_PEEK = 2048  # sentences of a corpus that show whether it marks predicates

Stream = Iterator[Sentence | None]


@with_fields("options", Options)
def label_command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INPUT",
            help="Text in quotes, files, folders, or - for standard input, which is the default.",
            show_default=False,
        ),
    ] = None,
    *,
    from_format: From = None,
    encoding: Encoding = None,
    to_format: Annotated[
        str | None,
        option(
            "FORMAT",
            f"Format of the output: {', '.join(FORMATS)}. Default: by the suffix of -o, else as in "
            "the table above.",
            "--to",
        ),
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

    An INPUT is the name of a file or folder, or text, which has a blank in it. Files are text
    (.txt), HTML (.html .htm) or corpora (.conll09 .conllu .conllup .jsonl), also compressed (.gz
    .xz). All but HTML are read as they are labeled, so they may be larger than the memory.

    | INPUT | on a terminal | to a pipe |
    |---|---|---|
    | text in quotes | table | table |
    | text files, standard input | table | jsonl |
    | conll09, conllup, jsonl files | table | the same format |
    | conllu, up1 files | table | conllup |
    """
    # All options are checked before the model is loaded, which takes seconds.
    sources = find_sources(
        inputs or [], from_format, output=output, encoding=encoding, layout=options.layout
    )
    format = output_format(to_format, output, sources)
    check_format(format, trace=options.trace, frames=frames is not None)
    _check_marked(options, sources)
    labeler = capsrl.load(model, device=device, threads=threads, frames=frames, runtime=runtime)
    bar = output != STANDARD or not sys.stdout.isatty()
    counts = Counter(sentence=0, proposition=0)
    labeled: Iterable[Sentence] = _count(_label(labeler, sources, options, bar=bar), counts)
    lemmatizer = labeler.inventory.lemmatizer
    if format in ("conll09", "conllup") and lemmatizer is not None:
        labeled = map(lemmatizer.fill, labeled)
    with open_writer(output) as file:
        write_labeled(
            labeled,
            file,
            format,
            title=", ".join(filter(os.path.exists, inputs or [])) or "Propositions",
            trace=options.trace,
            flush=any(source.is_stream for source in sources),
        )
    if output != STANDARD or not counts["sentence"]:
        parts = [f"{n:,} {name}{'' if n == 1 else 's'}" for name, n in counts.items()]
        sys.stderr.write(f"{', '.join(parts)}\n")


def _label(
    labeler: "capsrl.Labeler", sources: Iterable[Source], options: Options, *, bar: bool
) -> Iterator[Sentence]:
    """Label sources in order; those that are labeled alike share batches."""
    streams = (_decide(source, options, bar=bar) for source in sources)
    for predicates, group in groupby(streams, key=itemgetter(0)):
        chosen = replace(options, predicates=predicates)
        for block in _blocks(chain.from_iterable(stream for _, stream in group)):
            yield from labeler.label_sentences(block, options=chosen)


def _decide(source: Source, options: Options, *, bar: bool) -> tuple[PredicateSource, Stream]:
    """Where the predicates of a source come from, and its sentences."""
    sentences = read_source(source, bar=bar)
    if options.predicates != "auto":
        return options.predicates, sentences
    if source.format == TEXT:
        return "found", sentences
    first = list(islice(sentences, _PEEK))
    marked = any(sentence is not None and sentence.propositions for sentence in first)
    return "marked" if marked else "found", chain(first, sentences)


def _blocks(sentences: Iterable[Sentence | None]) -> Iterator[list[Sentence]]:
    """The sentences in lists of _BLOCK; None ends a list before it is full."""
    block: list[Sentence] = []
    for sentence in sentences:
        if sentence is not None:
            block.append(sentence)
        if block and (sentence is None or len(block) == _BLOCK):
            yield block
            block = []
    if block:
        yield block


def _check_marked(options: Options, sources: Sequence[Source]) -> None:
    texts = [source.name for source in sources if source.format == TEXT]
    if options.predicates == "marked" and texts:
        where = f" in {texts[0]}" if texts[0] else ""
        raise ConfigError(
            "--predicates marked: expected a corpus that marks its predicates, got raw text"
            f"{where}; name the format of a corpus: --from FORMAT"
        )


def _count(sentences: Iterable[Sentence], counts: Counter[str]) -> Iterator[Sentence]:
    for sentence in sentences:
        counts["sentence"] += 1
        counts["proposition"] += len(sentence.propositions)
        yield sentence
