"""`capsrl evaluate GOLD`: label the sentences of a gold file and score the result."""

import itertools
from dataclasses import asdict
from typing import Annotated

import typer

import capsrl
from capsrl.cli.options import Device, Model, Runtime, Threads, with_fields
from capsrl.cli.scoring import ScoreOptions, check_standard_input, report_scores
from capsrl.options import TEXT_LAYOUT, Options


@with_fields("options", ScoreOptions)
@with_fields("labeling", Options, without=(*TEXT_LAYOUT, "trace"))
def evaluate_command(
    gold: Annotated[
        str, typer.Argument(metavar="GOLD", help="File with gold propositions; - is stdin.")
    ],
    *,
    model: Model = "en",
    device: Device = None,
    threads: Threads = None,
    runtime: Runtime = None,
    labeling: Options,
    options: ScoreOptions,
) -> None:
    """Score a model on a file.

    The same as `capsrl label` followed by `capsrl score`.
    """
    check_standard_input([gold, options.compare, options.train])
    sentences, blind = itertools.tee(options.read(gold))
    labeler = capsrl.load(model, device=device, threads=threads, runtime=runtime)
    names = {"gold": gold, "pred": model, "options": asdict(labeling)}
    report_scores(names, sentences, labeler.label_sentences(blind, options=labeling), options)
