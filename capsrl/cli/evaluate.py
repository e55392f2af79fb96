"""`capsrl evaluate GOLD`: label the sentences of a gold file and score the result."""

import itertools
from dataclasses import asdict

import capsrl
from capsrl.cli.options import (
    DEVICE,
    MODEL,
    RUNTIME,
    THREADS,
    argument,
    check_standard_input,
    command,
    field_options,
    option,
)
from capsrl.cli.score import SCORING, ScoreOptions, report_scores
from capsrl.options import TEXT_LAYOUT, Options


@command(
    {
        "Arguments": [argument("gold", "GOLD", "File with gold propositions; - is stdin.")],
        **SCORING,
        "Labeling": [
            *field_options(Options, without=(*TEXT_LAYOUT, "trace", "phrases")),
            option(  # --phrases scores them
                "--no-phrases",
                "Label head words only.",
                name="phrases",
                default=True,
                flag_value=False,
            ),
        ],
        "Model": [MODEL, DEVICE, THREADS, RUNTIME],
    },
    options=ScoreOptions,
    labeling=Options,
)
def evaluate_command(
    gold: str,
    *,
    model: str,
    device: str | None,
    threads: int | None,
    runtime: str | None,
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
