"""`capsrl predict MODEL FILE`: label the sentences of a file."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

import capsrl
from capsrl.options import Options

if TYPE_CHECKING:
    from capsrl.options import PredicateSource

Model = Annotated[
    str, typer.Argument(help="A model that ships (en), or the folder of one, such as RUN/model.")
]
Predicates = Annotated[
    str,
    typer.Option(help="given: those the file marks. predicted: the model finds them."),
]
Iterations = Annotated[
    int | None,
    typer.Option(min=1, help="Rounds of routing, if not as many as in training."),
]
Device = Annotated[str | None, typer.Option(help="cpu, cuda, cuda:1; the GPU if there is one.")]


def predict_command(
    model: Model,
    file: Annotated[str, typer.Argument(help="File to label; - is stdin.")],
    *,
    out: Annotated[
        str, typer.Option("--out", "-o", help="File to write; stdout if not given.")
    ] = "-",
    predicates: Predicates = "auto",
    iterations: Iterations = None,
    from_format: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Of FILE, where the suffix does not tell."),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Of the output; that of FILE if not told."),
    ] = None,
    device: Device = None,
) -> None:
    """Label a corpus file with a model, at the predicates it marks unless told to find them.

    Files of any format `capsrl convert` knows. Sentences stream through: a file may be larger
    than the memory.
    """
    from capsrl.data.formats import CORPORA, WRITABLE, format_of, read_sentences, write_sentences

    source = checked_predicates(predicates)
    read_as = format_of(file, from_format, formats=CORPORA)
    if to_format is None and out == "-":
        to_format = read_as if read_as in WRITABLE else "conllup"
    labeler = capsrl.load(model, device=device)
    labelled = labeler.label_sentences(
        read_sentences(file, read_as), predicates=source, iterations=iterations
    )
    n = write_sentences(labelled, out, to_format)
    sys.stderr.write(f"{n:,} sentence{'' if n == 1 else 's'}\n")


def checked_predicates(text: str) -> "PredicateSource":
    """The option as the labeler takes it."""
    return Options(predicates=text).predicates  # type: ignore[arg-type]
