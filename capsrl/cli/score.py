"""`capsrl score GOLD PRED`: how good a prediction is, and whether it beats another."""

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from capsrl.errors import ConfigError, DataError

if TYPE_CHECKING:
    from capsrl.data.formats import SentenceReader
    from capsrl.score import MisalignedError, Mode, Scores
    from capsrl.score.significance import Interval, PairedTest

# The scorer, numpy and the readers are imported in the command, for the other commands' sake:
# `capsrl --help` must not wait for them.

Strings = list[str]


def score_command(
    gold: Annotated[str, typer.Argument(help="File with the right propositions; - is stdin.")],
    pred: Annotated[str, typer.Argument(help="File to score, same sentences; - is stdin.")],
    *,
    mode: Annotated[
        str,
        typer.Option(
            help="official: as eval09.pl. strict: lemmas of senses count too. "
            "primesrl: besides, numbered roles need the right sense, C-/R- are merged."
        ),
    ] = "official",
    by: Annotated[
        Strings | None,
        typer.Option(
            help="Break down by role, pos, length, arguments, distance, lemma or sense; repeatable."
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every breakdown there is.")] = False,
    train: Annotated[
        str | None, typer.Option(help="Training file, to tell seen lemmas and senses from new.")
    ] = None,
    compare: Annotated[
        str | None, typer.Option(help="Another prediction: is the difference significant?")
    ] = None,
    format: Annotated[
        str | None, typer.Option(help="Format of all files, where the suffix does not tell.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
) -> None:
    """Score predicted propositions against gold ones.

    Gives the official CoNLL-2009 figures to the last digit, the sub-tasks, exact match, repeated
    roles and a 95% bootstrap interval. Files of any format `capsrl convert` knows.
    """
    # Sums of integers use no linear algebra: its threads, started on import, would only spin.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from capsrl.score import MisalignedError, score_systems
    from capsrl.score.significance import bootstrap_intervals, paired_test

    files = [gold, pred, *([compare] if compare else [])]
    if [*files, train].count("-") > 1:
        raise ConfigError("-: expected one file at most to be standard input, got several")
    readers = [_read(file, format) for file in files]
    try:
        scores, joint = score_systems(
            readers[0],
            readers[1:],
            mode=_checked_mode(mode),
            by=_breakdowns(by or [], every=every, trained=train is not None),
            train=_read(train, format) if train else None,
        )
    except MisalignedError as error:
        _refuse(readers[0], readers[1 + error.system], error)
    if not scores[0].counts.sentences:
        raise DataError(f"{gold}: expected sentences to score, got none")
    intervals = bootstrap_intervals(scores[0].sentence_counts, seed=seed)
    test = paired_test(joint, seed=seed) if compare else None
    if as_json:
        report = _report(files, scores, intervals, test)
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    else:
        from capsrl.cli.score_tables import print_scores

        print_scores(files, scores, intervals, test)


def _read(path: str, format: str | None) -> "SentenceReader":
    from capsrl.data.formats import read_sentences

    return read_sentences(path, format)


def _checked_mode(mode: str) -> "Mode":
    from capsrl.score import MODES

    for known in MODES:
        if mode == known:
            return known
    raise ConfigError(f"--mode: expected one of {', '.join(MODES)}, got {mode}")


def _breakdowns(by: list[str], *, every: bool, trained: bool) -> list[str]:
    """What was asked for, in order; a training file asks for what needs one."""
    from capsrl.score.breakdown import BREAKDOWNS, OF_TRAINING

    names = [name for part in by for name in part.split(",")]
    names += [n for n in BREAKDOWNS if (trained if n in OF_TRAINING else every)]
    return list(dict.fromkeys(names))


def _refuse(gold: "SentenceReader", pred: "SentenceReader", error: "MisalignedError") -> NoReturn:
    from capsrl.score.scorer import ADVICE

    theirs, ours = pred.where(error.word), gold.where(error.word)
    raise DataError(
        f"{theirs} against {ours} (sentence {error.sentence + 1}): {error.problem}; {ADVICE}"
    ) from None


def _report(
    files: list[str],
    scores: list["Scores"],
    intervals: dict[str, "Interval"],
    test: "PairedTest | None",
) -> dict[str, Any]:
    from capsrl.score.as_dict import scores_to_dict

    report = {"gold": files[0], "pred": files[1], **scores_to_dict(scores[0])}
    report["interval"] = {
        "level": 0.95,
        **{name: [interval.low, interval.high] for name, interval in intervals.items()},
    }
    if test is not None:
        report["comparison"] = {
            "pred": files[2],
            **scores_to_dict(scores[1]),
            "labeled_f1_difference": test.difference,
            "interval": [test.interval.low, test.interval.high],
            "test": "approximate randomisation over sentences, two-sided",
            "rounds": test.n_rounds,
            "p_value": test.p_value,
        }
    return report
