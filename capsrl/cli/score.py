"""`capsrl score GOLD PRED`: score a prediction; also the scoring of `capsrl evaluate`."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from capsrl.cli.error_files import check_error_file, write_errors
from capsrl.cli.options import (
    FROM_CORPUS,
    JSON,
    argument,
    check_standard_input,
    command,
    option,
    split_names,
)
from capsrl.cli.score_tables import print_calibration, print_scores
from capsrl.errors import ConfigError, DataError
from capsrl.formats.formats import SentenceReader, read_corpus
from capsrl.formats.phrase_file import PHRASES_SUFFIX, phrase_file_of
from capsrl.score import (
    MODES,
    MisalignedError,
    Mode,
    Scores,
    compare_sentences,
    score_systems,
)
from capsrl.score.agreement import score_agreement
from capsrl.score.breakdown import BREAKDOWNS, OF_TRAINING
from capsrl.score.calibration import (
    CalibrationScores,
    plot_reliability,
    save_figure,
    score_calibration,
)
from capsrl.score.scorer import ADVICE, scores_to_dict
from capsrl.score.significance import Interval, PairedTest, bootstrap_intervals, paired_test
from capsrl.sentence import Sentence
from capsrl.text.phrases import with_phrases

SCORING = {
    "Scores": [
        option(
            f"--mode {'|'.join(MODES)}",
            "strict: the lemma of a sense counts too. primesrl: numbered roles need the right "
            "sense; C- and R- are merged.",
            default="official",
        ),
        option("--by NAME", f"Break down by {', '.join(BREAKDOWNS)}; repeatable.", multiple=True),
        option("--all", "Print every breakdown.", name="every"),
        option("--train FILE", "Training file, to tell seen senses from new ones."),
        option(
            "--phrases",
            "Also score phrases, as srl-eval.pl does; they come from JSONL or a phrase file beside "
            "the corpus.",
            name="score_phrases",
        ),
        option("--confusion", "Print confusion tables of roles and senses."),
        option("--agreement", "Print F1 and Cohen's kappa of two annotators."),
        option("--calibration", "Print the calibration error of probabilities."),
        option("--compare FILE", "Second prediction; adds a paired significance test."),
        option("--seed N", "Seed of the resampling.", low=0, default=0),
    ],
    "Files": [
        FROM_CORPUS,
        option("--errors FILE", "Write every mistake, with gold: .html or .jsonl."),
        option("--reliability FILE", "Write a reliability diagram: .svg, .png or .pdf."),
        JSON,
    ],
}


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The values of the options SCORING."""

    mode: str
    by: Sequence[str]
    every: bool
    train: str | None
    score_phrases: bool
    confusion: bool
    agreement: bool
    calibration: bool
    compare: str | None
    seed: int
    from_format: str | None
    errors: str | None
    reliability: str | None
    as_json: bool

    def read(self, path: str) -> SentenceReader:
        """Read a corpus in the format named, or that of its suffix, with phrases if needed."""
        wanted = self.score_phrases or self.errors is not None
        phrases = phrase_file_of(path) if wanted else None
        return read_corpus(path, self.from_format, phrases=phrases)


@command(
    {
        "Arguments": [
            argument("gold", "GOLD", "File with gold propositions; - is stdin."),
            argument("pred", "PRED", "The same sentences, predicted; - is stdin."),
        ],
        **SCORING,
    },
    options=ScoreOptions,
)
def score_command(gold: str, pred: str, *, options: ScoreOptions) -> None:
    """Score predicted propositions against gold ones.

    Prints the official CoNLL-2009 scores to the last digit, those of the sub-tasks, exact match,
    repeated roles and a 95% confidence interval. Files are corpora in any format of
    --from.
    """
    check_standard_input([gold, pred, options.compare, options.train])
    names = {"gold": gold, "pred": pred}
    report_scores(names, options.read(gold), options.read(pred), options)


def report_scores(
    names: dict[str, Any],
    gold: Iterable[Sentence],
    pred: Iterable[Sentence],
    options: ScoreOptions,
) -> None:
    """Score a prediction, compare it with `options.compare` if given, and print the result.

    names  first entries of the JSON report; "gold" and "pred" are the names of the two
    """
    if options.errors is not None:
        check_error_file(options.errors, "--errors")
    kept: tuple[list[Sentence], list[Sentence]] = ([], [])  # gold and predicted ones
    calibrates = options.calibration or options.reliability is not None
    systems = [pred, *([options.read(options.compare)] if options.compare else [])]
    files = [names["gold"], names["pred"], *([options.compare] if options.compare else [])]
    keep = calibrates or options.agreement or options.errors is not None
    scores, joint = _score_files(files, gold, systems, options, kept if keep else None)
    intervals = bootstrap_intervals(scores[0].sentence_counts, seed=options.seed)
    test = paired_test(joint, seed=options.seed) if options.compare else None
    calibration = _score_calibration(*kept, files[1], options) if calibrates else None
    agreement = score_agreement(*kept, scores[0].mode) if options.agreement else {}
    if options.as_json:
        report = {**names, **_report(scores, intervals)}
        if agreement:
            report["agreement"] = {name: asdict(each) for name, each in agreement.items()}
        if calibration is not None:
            report["calibration"] = calibration.to_dict()
        if test is not None:
            report["comparison"] = {"pred": options.compare, **_comparison(scores[1], test)}
        sys.stdout.write(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
    else:
        print_scores(files, scores, intervals, test, agreement)
        if calibration is not None:
            print_calibration(calibration)
    if options.errors is not None:
        compared = compare_sentences(*kept, scores[0].mode)
        n = write_errors(options.errors, compared, gold=files[0], pred=files[1])
        sys.stderr.write(f"{options.errors} written: {n} mistake{'' if n == 1 else 's'}\n")


def _score_files(
    files: list[str],
    gold: Iterable[Sentence],
    systems: list[Iterable[Sentence]],
    options: ScoreOptions,
    kept: tuple[list[Sentence], list[Sentence]] | None,
) -> tuple[list[Scores], Counter[tuple[int, ...]]]:
    """Score all predictions; raises DataError naming the lines where files do not match.

    files  the names of the gold file and of the systems
    kept   lists to which gold and the first prediction are appended, or None
    """
    compared = (
        [_phrases_of_files(system) for system in systems] if options.score_phrases else systems
    )
    first, *others = compared
    try:
        scores, joint = score_systems(
            gold if kept is None else _remember(gold, kept[0]),
            [first if kept is None else _remember(first, kept[1]), *others],
            mode=cast(Mode, options.mode),  # checked there
            by=_breakdowns(options),
            train=read_corpus(options.train, options.from_format) if options.train else None,
            phrases=options.score_phrases,
            confusion=options.confusion,
        )
    except MisalignedError as error:
        ours = _place_of(gold, files[0], error.word)
        theirs = _place_of(systems[error.system], files[1 + error.system], error.word)
        raise DataError(
            f"{theirs} against {ours} (sentence {error.sentence + 1}): {error.problem}; {ADVICE}"
        ) from None
    if not scores[0].counts.sentences:
        raise DataError(f"{files[0]}: no sentences to score")
    _check_phrases(files[0], scores[0])
    return scores, joint


def _remember(sentences: Iterable[Sentence], kept: list[Sentence]) -> Iterator[Sentence]:
    """Yield sentences and append them to a list."""
    for sentence in sentences:
        kept.append(sentence)
        yield sentence


def _score_calibration(
    gold: list[Sentence], pred: list[Sentence], name: str, options: ScoreOptions
) -> CalibrationScores:
    """Score probabilities, and draw the reliability diagram if there is a file for it."""
    scores = score_calibration(gold, pred)
    if not any(scores.kinds.values()):
        raise DataError(
            f"{name}: the propositions have no probabilities; JSON lines keep those of "
            "`capsrl label`"
        )
    if options.reliability is not None:
        save_figure(plot_reliability(scores), options.reliability)
    return scores


def _phrases_of_files(sentences: Iterable[Sentence]) -> Iterable[Sentence]:
    """The sentences of a file with the phrases of their parse, where they have no others.

    Those of a labeler are unchanged: its options say whether there are phrases.
    """
    return map(with_phrases, sentences) if isinstance(sentences, SentenceReader) else sentences


def _check_phrases(file: str, scores: Scores) -> None:
    n = scores.counts.gold_arguments
    if scores.phrases is not None and n and scores.phrases.gold_heads == n:
        raise DataError(
            f"{file}: the arguments have no phrases; score a JSONL file with phrases, or put a "
            f"file *{PHRASES_SUFFIX} beside it (docs/data.md)"
        )


def _breakdowns(options: ScoreOptions) -> list[str]:
    """The breakdowns asked for, in order; a training file asks for those that need one."""
    names = [name for part in options.by for name in split_names(part)]
    for name in names:
        if name not in BREAKDOWNS:
            raise ConfigError(f"--by: expected one of {', '.join(BREAKDOWNS)}, got {name}")
        if name in OF_TRAINING and not options.train:
            raise ConfigError(f"--by {name} needs a training file: --train FILE")
    names += [n for n in BREAKDOWNS if (options.train if n in OF_TRAINING else options.every)]
    return list(dict.fromkeys(names))


def _place_of(sentences: Iterable[Sentence], name: str, word: int | None) -> str:
    return sentences.where(word) if isinstance(sentences, SentenceReader) else name


def _report(scores: list[Scores], intervals: dict[str, Interval]) -> dict[str, Any]:
    bounds = {name: [interval.low, interval.high] for name, interval in intervals.items()}
    return {**scores_to_dict(scores[0]), "interval": {"level": 0.95, **bounds}}


def _comparison(scores: Scores, test: PairedTest) -> dict[str, Any]:
    return {
        **scores_to_dict(scores),
        "labeled_f1_difference": test.difference,
        "interval": [test.interval.low, test.interval.high],
        "test": "approximate randomization over sentences, two-sided",
        "rounds": test.n_rounds,
        "p_value": test.p_value,
    }
