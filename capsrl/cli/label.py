"""`capsrl label [TEXT]`: raw text, or a corpus, to propositions."""

import os
import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from capsrl.cli.predict import Device, Iterations, checked_predicates
from capsrl.errors import ConfigError
from capsrl.options import PREDICATE_POS, Options, PredicatePos

if TYPE_CHECKING:
    from capsrl.labeler import Labeler
    from capsrl.sentence import Sentence
    from capsrl.show.formatting import Descriptions

# Sentences labelled between two looks at the bar: enough to fill batches of similar lengths.
_BLOCK = 512


def label_command(
    text: Annotated[
        str | None,
        typer.Argument(
            show_default=False, help="Text to label; stdin if there is neither this nor --file."
        ),
    ] = None,
    *,
    files: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            "-f",
            metavar="FILE",
            help="File to label, again for each; - is stdin. Raw text, or by suffix a corpus: "
            ".conll09 .conll .conllu .conllup .jsonl .ndjson, each with .gz or .xz.",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="File to write, not stdout.")
    ] = "-",
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="table, json, jsonl, conll09, conllu (Plus), html or svg. If not told: by the "
            "suffix of --output; table for TEXT and on a terminal; else jsonl.",
        ),
    ] = None,
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FORMAT",
            help="Of the input, where the suffix does not tell: text, conll09, conllu, conllup, "
            "jsonl or up1.",
        ),
    ] = None,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show how probabilities moved over the iterations.")
    ] = False,
    iterations: Iterations = None,
    predicates: Annotated[
        str,
        typer.Option(help="auto, marked or found."),
    ] = "auto",
    pos: Annotated[
        str | None,
        typer.Option(help="Only predicates of these parts of speech: verb,noun,adjective."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0, max=1, help="Leave out arguments less probable than this.")
    ] = 0.0,
    model: Annotated[
        str, typer.Option(metavar="MODEL", help="Folder of a model, or the name of one that ships.")
    ] = "en",
    frames: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="PropBank frame files (XML): show what the roles mean."
        ),
    ] = None,
    device: Device = None,
) -> None:
    """Find out who did what to whom.

    TEXT may be of any length. Files stream through: they may be larger than the memory.
    """
    from capsrl.cli.inputs import find_files, input_format, read_inputs
    from capsrl.cli.outputs import output_format, write_labelled
    from capsrl.data.files import open_writer
    from capsrl.text.sentences import split_text

    # Everything that can be wrong with the options is said before the model is loaded.
    paths = find_files(text, files or [])
    to_terminal = output == "-" and sys.stdout.isatty()
    written_as = output_format(format, None if output == "-" else output, table=not paths)
    inputs = [(path, input_format(path, from_format)) for path in paths]
    _check_formats(written_as, trace=trace, frames=frames is not None)
    _check_predicates(predicates, inputs)
    descriptions = _read_descriptions(frames)
    chosen = _checked_pos(pos)
    if paths:
        sentences = read_inputs(inputs, bar=not to_terminal)
    else:
        assert text is not None
        _warn_of_name(text)
        sentences = (sentence.standalone() for sentence in split_text(text))
    labeler = _load(model, device)
    options = Options(
        predicates=checked_predicates(predicates),
        pos=chosen,
        iterations=iterations,
        threshold=threshold,
        trace=trace,
    )
    counts = _Counts()
    with open_writer(output) as file:
        write_labelled(
            counts.watch(_label(labeler, sentences, options, written_as)),
            file,
            written_as,
            title=", ".join(map(os.path.basename, files or [])) or "Propositions",
            descriptions=descriptions or labeler.inventory.descriptions,
            trace=trace,
        )
    if output != "-" or not counts.sentences:
        sys.stderr.write(f"{counts}\n")


def _label(
    labeler: "Labeler", sentences: "Iterator[Sentence]", options: "Options", format: str
) -> "Iterator[Sentence]":
    lemmatiser = labeler.inventory.lemmatizer
    while block := list(islice(sentences, _BLOCK)):
        for sentence in labeler.label_sentences(
            block,
            options=options,
        ):
            if format in ("conll09", "conllu") and lemmatiser is not None:
                yield lemmatiser.fill(sentence)
            else:
                yield sentence


class _Counts:
    """How many sentences and propositions went by."""

    def __init__(self) -> None:
        self.sentences = self.propositions = 0

    def watch(self, sentences: "Iterable[Sentence]") -> "Iterator[Sentence]":
        for sentence in sentences:
            self.sentences += 1
            self.propositions += len(sentence.propositions)
            yield sentence

    def __str__(self) -> str:
        parts = ((self.sentences, "sentence"), (self.propositions, "proposition"))
        return ", ".join(f"{n:,} {name}{'' if n == 1 else 's'}" for n, name in parts)


def _load(model: str, device: str | None) -> "Labeler":
    from capsrl import load

    return load(model, device=device)


def _check_formats(format: str, *, trace: bool, frames: bool) -> None:
    from capsrl.cli.outputs import DESCRIBED, TRACED

    for option, wanted, able in (("--trace", trace, TRACED), ("--frames", frames, DESCRIBED)):
        if wanted and format not in able:
            raise ConfigError(
                f"{option}: expected a format with a place for that ({', '.join(able)}), "
                f"got {format}; choose one: --format {able[0]}"
            )


def _check_predicates(predicates: str, inputs: list[tuple[str, str]]) -> None:
    if checked_predicates(predicates) == "marked":
        raw = [path for path, format in inputs if format == "text"] if inputs else ["TEXT"]
        if raw:
            raise ConfigError(
                "--predicates marked: expected a corpus that marks its predicates, "
                f"got raw text in {raw[0]}; name its format if it is one: --from FORMAT"
            )


def _checked_pos(text: str | None) -> list[PredicatePos] | None:
    if text is None:
        return None
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in PREDICATE_POS:
            raise ConfigError(f"--pos: expected some of {','.join(PREDICATE_POS)}, got {name!r}")
    return [name for name in PREDICATE_POS if name in names]


def _read_descriptions(folder: str | None) -> "Descriptions | None":
    if folder is None:
        return None
    from capsrl.data.frames import read_frames

    return read_frames(folder).descriptions


def _warn_of_name(text: str) -> None:
    """The name of a file is rarely the text that was meant."""
    if len(text) < 256 and "\0" not in text and os.path.isfile(text):
        sys.stderr.write(f"note: {text} is a file; to label what it holds: --file {text}\n")
