"""Score predicted sentences against gold ones, equal to the official CoNLL-2009 scorer.

Both files are read in parallel, one sentence at a time; memory grows with the number of distinct
counts, not with the length of the files.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from capsrl.errors import ConfigError, DataError
from capsrl.score.breakdown import OF_ARGUMENTS, Breakdowns, Row, Seen
from capsrl.score.counts import PRF, Counts, percent
from capsrl.score.matching import MODES, Mode, match_sentence
from capsrl.score.mistakes import Confusion, most_common
from capsrl.score.phrase_scores import PREDICATE, PhraseScores
from capsrl.sentence import Sentence

NONE = "none"  # in place of a role: there is no such argument


class MisalignedError(DataError):
    """Two files do not contain the same sentences.

    system    which of the predictions, 0 for the first
    sentence  0-based number of the first sentence that differs
    word      0-based position of the first word that differs; None where a whole sentence is
              missing, or one has more words than the other
    problem   what was expected and what was found, without the location
    """

    def __init__(self, system: int, sentence: int, word: int | None, problem: str) -> None:
        place = f"sentence {sentence + 1}"
        if word is not None:
            place += f", word {word + 1}"
        super().__init__(f"{place}: {problem}; {ADVICE}")
        self.system = system
        self.sentence = sentence
        self.word = word
        self.problem = problem


ADVICE = "score the same sentences in the same order"


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a prediction, in the chosen mode and in the official one.

    mode             how senses and arguments were compared
    counts           the counts and figures of that mode
    official         those of the official scorer; the same object in official mode
    sentence_counts  (correct, gold, predicted) -> number of sentences with these counts in
                     this mode, what `capsrl.score.significance` resamples
    breakdowns       breakdown -> row -> figures, for those asked for
    phrases          the scores of the phrases, if asked for; the same in every mode
    confusion        which roles and senses are taken for which, if asked for
    """

    mode: Mode
    counts: Counts
    official: Counts
    sentence_counts: Mapping[tuple[int, ...], int]
    breakdowns: Mapping[str, Mapping[str, Row]]
    phrases: PhraseScores | None = None
    confusion: Confusion | None = None

    @property
    def labeled_precision(self) -> float:
        """Percentage of predicted senses and arguments that are right."""
        return self.counts.labeled.precision

    @property
    def labeled_recall(self) -> float:
        """Percentage of gold senses and arguments that were found."""
        return self.counts.labeled.recall

    @property
    def labeled_f1(self) -> float:
        """The figure systems are ranked by."""
        return self.counts.labeled.f1

    @property
    def exact_match(self) -> float:
        """EM: percentage of gold propositions right in sense and every argument."""
        return self.counts.exact_match


def score(
    gold: Iterable[Sentence],
    pred: Iterable[Sentence],
    *,
    mode: Mode = "official",
    by: Collection[str] = (),
    train: Iterable[Sentence] | None = None,
    phrases: bool = False,
    confusion: bool = False,
) -> Scores:
    """Compare predicted propositions with gold ones, sentence by sentence.

    mode   "official": lemmas are ignored, roles count whatever the sense (eval09.pl);
           "strict": the lemma of a sense counts; "primesrl": besides, a numbered role counts only
           under the right sense, and C- and R- arguments only together with what they continue
    by     breakdowns wanted, names from `capsrl.score.BREAKDOWNS`
    train  the sentences trained on, for the breakdowns by seen lemma and sense
    phrases  score the phrases of arguments too, as `capsrl.score.phrase_scores` does
    confusion  count which roles and senses are taken for which
    Raises MisalignedError, a DataError, at the first sentence that is not the same in both, and
    ConfigError for an unknown mode or breakdown.
    """
    return score_systems(
        gold, [pred], mode=mode, by=by, train=train, phrases=phrases, confusion=confusion
    )[0][0]


def score_systems(
    gold: Iterable[Sentence],
    systems: Collection[Iterable[Sentence]],
    *,
    mode: Mode = "official",
    by: Collection[str] = (),
    train: Iterable[Sentence] | None = None,
    phrases: bool = False,
    confusion: bool = False,
) -> tuple[list[Scores], Counter[tuple[int, ...]]]:
    """Score several predictions in one pass over gold.

    Gives their Scores, and how often each combination of counts occurs: correct and
    predicted arcs of every system in turn, then gold ones, as `paired_test` wants them.
    """
    if mode not in MODES:
        raise ConfigError(f"mode: expected one of {', '.join(MODES)}, got {mode}")
    seen = Seen.of(train) if train is not None else None
    collectors = [
        _Collector(
            mode,
            Breakdowns(by, seen),
            PhraseScores() if phrases else None,
            Confusion() if confusion else None,
        )
        for _ in systems
    ]
    joint: Counter[tuple[int, ...]] = Counter()
    for gold_sentence, *predicted in _aligned(gold, systems):
        key: list[int] = []
        n_gold = 0
        for collector, sentence in zip(collectors, predicted, strict=True):
            n_correct, n_gold, n_pred = collector.add(gold_sentence, sentence)
            key += (n_correct, n_pred)
        joint[*key, n_gold] += 1
    return [collector.scores() for collector in collectors], joint


class _Collector:
    def __init__(
        self,
        mode: Mode,
        breakdowns: Breakdowns,
        phrases: PhraseScores | None,
        confusion: Confusion | None,
    ) -> None:
        self._mode = mode
        self._official = Counts()
        self._counts = self._official if mode == "official" else Counts()
        self._sentence_counts: Counter[tuple[int, ...]] = Counter()
        self._breakdowns = breakdowns
        self._phrases = phrases
        self._confusion = confusion

    def add(self, gold: Sentence, pred: Sentence) -> tuple[int, int, int]:
        matches = match_sentence(gold, pred)
        triple = self._official.add(matches)
        if self._mode != "official":
            matches = match_sentence(gold, pred, self._mode)
            triple = self._counts.add(matches)
        self._sentence_counts[triple] += 1
        self._breakdowns.add(gold, matches)
        if self._phrases is not None:
            self._phrases.add(gold, pred)
        if self._confusion is not None:
            self._confusion.add(matches)
        return triple

    def scores(self) -> Scores:
        return Scores(
            self._mode,
            self._counts,
            self._official,
            self._sentence_counts,
            self._breakdowns.tables(),
            self._phrases,
            self._confusion,
        )


def _aligned(
    gold: Iterable[Sentence], systems: Collection[Iterable[Sentence]]
) -> Iterator[tuple[Sentence, ...]]:
    for number, sentences in enumerate(zip_longest(gold, *systems)):
        first, *others = sentences
        for system, other in enumerate(others):
            if first is None or other is None or first.words != other.words:
                _refuse(first, other, system, number)
        yield sentences


def _refuse(gold: Sentence | None, pred: Sentence | None, system: int, number: int) -> None:
    if gold is None and pred is None:
        return  # another system has more sentences: the loop over that system reports it
    if gold is None:
        problem = f"expected the end of the file after {number} sentences, got another sentence"
        raise MisalignedError(system, number, None, problem)
    if pred is None:
        problem = f"expected another sentence, got the end of the file after {number} sentences"
        raise MisalignedError(system, number, None, problem)
    for word, (expected, got) in enumerate(zip(gold.words, pred.words, strict=False)):
        if expected != got:
            problem = f"expected the word {expected!r}, got {got!r}"
            raise MisalignedError(system, number, word, problem)
    problem = f"expected {len(gold)} words, got {len(pred)}"
    raise MisalignedError(system, number, None, problem)


def official_lines(counts: Counts) -> dict[str, str]:
    """The figures as the official scorer prints them, to the last digit."""
    lines: dict[str, str] = {}
    pairs = {"labeled": (counts.correct_arguments, counts.correct_senses, counts.labeled)}
    pairs["unlabeled"] = (counts.found_arguments, counts.found_predicates, counts.unlabeled)
    for name, (arguments, predicates, figures) in pairs.items():
        part = f"({arguments} + {predicates})"
        of_pred = f"({counts.pred_arguments} + {counts.pred_predicates})"
        of_gold = f"({counts.gold_arguments} + {counts.gold_predicates})"
        lines |= _three_lines(name, part, of_pred, of_gold, figures)
    whole = counts.propositions
    lines |= _three_lines(
        "proposition", str(whole.correct), str(whole.pred), str(whole.gold), whole
    )
    lines["exact_semantic_match"] = (
        f"{counts.exact_sentences} / {counts.sentences} * 100 = {counts.exact_semantic_match:.2f} %"
    )
    return lines


def _three_lines(name: str, part: str, of_pred: str, of_gold: str, figures: PRF) -> dict[str, str]:
    return {
        f"{name}_precision": f"{part} / {of_pred} * 100 = {figures.precision:.2f} %",
        f"{name}_recall": f"{part} / {of_gold} * 100 = {figures.recall:.2f} %",
        f"{name}_f1": f"{figures.f1:.2f}",
    }


def scores_to_dict(scores: Scores) -> dict[str, Any]:
    """Everything in the Scores, by name, as `capsrl score --json` prints it.

    official   percentages rounded to two decimals, the very numbers the official scorer prints,
               its lines, and the counts they come from
    scores     the same percentages in the mode asked for, not rounded, and their counts
    subtasks, exact_match, duplicate_roles, breakdowns: likewise in that mode, not rounded
    spans      those of the phrases, if they were scored, not rounded
    confusion  if it was counted: `matrix` has the gold role of `roles` as row, the predicted one as
               column; the last stands for no argument
    """
    counts, official = scores.counts, _main_figures(scores.official)
    report = {
        "mode": scores.mode,
        "sentences": counts.sentences,
        "official": {
            **{name: float(f"{value:.2f}") for name, value in official.items()},
            "lines": official_lines(scores.official),
            "counts": scores.official.as_dict(),
        },
        "scores": {**_main_figures(counts), "counts": counts.as_dict()},
        "subtasks": _subtasks(counts),
        "exact_match": {
            "propositions": counts.exact_match,
            "arguments": counts.exact_arguments,
            "sentences": counts.exact_semantic_match,
        },
        "duplicate_roles": {
            "gold": scores.official.gold_repeated,
            "pred": scores.official.pred_repeated,
        },
        "breakdowns": {
            name: _breakdown_rows(name, rows) for name, rows in scores.breakdowns.items()
        },
    }
    if scores.phrases is not None:
        report["spans"] = _phrase_figures(scores.phrases)
    if scores.confusion is not None:
        report["confusion"] = _confusion(scores.confusion)
    return report


def _confusion(confusion: Confusion) -> dict[str, Any]:
    return {
        "roles": [NONE if role is None else role for role in confusion.labels()],
        "matrix": confusion.matrix(),
        "senses": [
            {"gold": gold, "pred": pred, "count": count}
            for gold, pred, count in most_common(confusion.senses)
        ],
    }


def _phrase_figures(scores: PhraseScores) -> dict[str, Any]:
    return {
        **_prf(scores.overall),
        "end_to_end": _prf(scores.end_to_end),
        "exact_propositions": _share(scores.exact_propositions, scores.gold_propositions),
        "boundaries_of_right_heads": _share(scores.same_phrases, scores.same_heads),
        "without_phrase": {"gold": scores.gold_heads, "pred": scores.pred_heads},
        "roles": {role: _prf(prf) for role, prf in scores.by_role().items()},
        "predicates": _prf(scores.roles.get(PREDICATE, PRF())),
    }


def _share(correct: int, of: int) -> dict[str, float]:
    return {"percent": percent(correct, of), "correct": correct, "of": of}


def _main_figures(counts: Counts) -> dict[str, float]:
    figures = {}
    for name, prf in (
        ("labeled", counts.labeled),
        ("unlabeled", counts.unlabeled),
        ("proposition", counts.propositions),
    ):
        figures[f"{name}_precision"] = prf.precision
        figures[f"{name}_recall"] = prf.recall
        figures[f"{name}_f1"] = prf.f1
    figures["exact_semantic_match"] = counts.exact_semantic_match
    return figures


def _subtasks(counts: Counts) -> dict[str, Any]:
    return {
        "predicate_identification": _prf(counts.predicates),
        "sense_accuracy": counts.sense_accuracy,
        "predicates": _prf(counts.senses),
        "argument_identification": _prf(counts.argument_positions),
        "argument_classification_accuracy": counts.role_accuracy,
        "arguments": _prf(counts.arguments),
        "core_arguments": _prf(counts.core_arguments),
        "context_arguments": _prf(counts.context_arguments),
    }


def _prf(prf: PRF) -> dict[str, float]:
    return {
        "precision": prf.precision,
        "recall": prf.recall,
        "f1": prf.f1,
        "correct": prf.correct,
        "gold": prf.gold,
        "pred": prf.pred,
    }


def _breakdown_rows(name: str, rows: Mapping[str, Row]) -> dict[str, dict[str, float]]:
    if name in OF_ARGUMENTS:
        return {key: _prf(row) for key, row in rows.items()}
    return {
        key: {
            **_prf(row),
            "exact_match": row.exact_match,
            "exact": row.exact,
            "propositions": row.propositions,
        }
        for key, row in rows.items()
    }
