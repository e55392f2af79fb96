"""`capsrl evaluate MODEL FILE`: label a gold file's sentences and score the result."""

import itertools
import json
import sys
from typing import Annotated

import typer

import capsrl
from capsrl.cli.predict import (
    Device,
    Iterations,
    Model,
    Predicates,
    checked_predicates,
)
from capsrl.errors import DataError


def evaluate_command(
    model: Model,
    file: Annotated[str, typer.Argument(help="File with gold propositions; - is stdin.")],
    *,
    predicates: Predicates = "marked",
    iterations: Iterations = None,
    format: Annotated[
        str | None, typer.Option(help="Of FILE, where the suffix does not tell.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
    device: Device = None,
) -> None:
    """Score a model on a file: the official figures, sub-tasks, exact match, an interval.

    The same as `capsrl predict` followed by `capsrl score`.
    """
    from capsrl.data.formats import read_sentences
    from capsrl.score import score
    from capsrl.score.significance import bootstrap_intervals

    source = checked_predicates(predicates)
    sentences = read_sentences(file, format)
    labeler = capsrl.load(model, device=device)
    gold, blind = itertools.tee(sentences)
    labelled = labeler.label_sentences(blind, predicates=source, iterations=iterations)
    scores = score(gold, labelled)
    if not scores.counts.sentences:
        raise DataError(f"{file}: expected sentences to score, got none")
    intervals = bootstrap_intervals(scores.sentence_counts, seed=0)
    if as_json:
        from capsrl.score.as_dict import scores_to_dict

        report = {
            "model": model,
            "gold": file,
            "predicates": predicates,
            "iterations": iterations,
            **scores_to_dict(scores),
            "interval": {
                "level": 0.95,
                **{name: [interval.low, interval.high] for name, interval in intervals.items()},
            },
        }
        sys.stdout.write(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    else:
        from capsrl.cli.score_tables import print_scores

        print_scores([file, model], [scores], intervals, None)
