"""Measure whether the probabilities of predictions are right: reliability, ECE and Brier score.

A predicted predicate is right if gold has a predicate there; a sense, if gold has that predicate
with the same sense, lemma included; an argument, if gold has that predicate and the same role at
the same word; a proposition, if its sense and its whole set of arguments are those of gold.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from capsrl.score.matching import match_sentence
from capsrl.sentence import Proposition, Sentence

ANSWER_KINDS = ("predicates", "senses", "arguments", "propositions")
N_BINS = 15
RARE = "other"  # the row of roles with fewer answers than MIN_ANSWERS
MIN_ANSWERS = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What of a predicted proposition is right.

    arguments  one entry for each argument
    exact      sense and arguments are right, and no argument is missing
    """

    proposition: Proposition
    predicate: bool
    sense: bool
    arguments: tuple[bool, ...]
    exact: bool


def compare_propositions(gold: Sentence, pred: Sentence) -> list[Outcome]:
    """Compare the predicted propositions of a sentence with gold, in the order of `pred`.

    Propositions without a sense are left out, as everywhere in scoring.
    """
    matches = {match.predicate: match for match in match_sentence(gold, pred, "strict")}
    outcomes = []
    for proposition in pred.propositions:
        match = matches.get(proposition.predicate)
        if match is not None and match.pred is not None:
            right = [(a.role, (a.word,)) in match.correct for a in proposition.arguments]
            outcomes.append(
                Outcome(
                    proposition,
                    predicate=match.gold is not None,
                    sense=match.sense_right,
                    arguments=tuple(right),
                    exact=match.exact,
                )
            )
    return outcomes


@dataclass(slots=True)
class Answers:
    """Probabilities of answers, and whether each is right."""

    probabilities: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, probability: float | None, right: bool) -> None:
        """Add an answer, unless it has no probability."""
        if probability is not None:
            self.probabilities.append(probability)
            self.right.append(right)

    def extend(self, other: "Answers") -> None:
        """Add the answers of another collection."""
        self.probabilities += other.probabilities
        self.right += other.right

    def __len__(self) -> int:
        return len(self.right)

    @property
    def accuracy(self) -> float:
        """Share of right answers; 0 without answers."""
        return float(np.mean(self.right)) if self.right else 0.0

    @property
    def confidence(self) -> float:
        """Mean probability; 0 without answers."""
        return float(np.mean(self.probabilities)) if self.right else 0.0

    @property
    def brier(self) -> float:
        """Brier score: the mean of (probability - right)², right being 0 or 1."""
        if not self.right:
            return 0.0
        return float(np.mean((np.array(self.probabilities) - np.array(self.right)) ** 2))

    @property
    def ece(self) -> float:
        """Expected calibration error: mean |accuracy - confidence| of bins, by their answers.

        The bins are those of `reliability_bins`.
        """
        bins = reliability_bins(self.probabilities, self.right)
        gaps = sum(abs(each.accuracy - each.confidence) * each.answers for each in bins)
        return gaps / len(self) if self.right else 0.0

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, as in JSON."""
        names = ("accuracy", "confidence", "ece", "brier")
        return {"answers": len(self)} | {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers whose probabilities fall into one interval.

    confidence  their mean probability
    accuracy    the share of them that is right
    """

    answers: int
    confidence: float
    accuracy: float


def reliability_bins(
    probabilities: Sequence[float], right: Sequence[bool], *, n_bins: int = N_BINS
) -> list[Bin]:
    """The bins of equal width that have answers: [0, 1/15), [1/15, 2/15), ..., [14/15, 1]."""
    p, y = np.asarray(probabilities, np.float64), np.asarray(right, np.float64)
    numbers = np.minimum((p * n_bins).astype(int), n_bins - 1)
    members = (numbers == number for number in range(n_bins))
    return [
        Bin(int(mask.sum()), float(p[mask].mean()), float(y[mask].mean()))
        for mask in members
        if mask.any()
    ]


@dataclass(slots=True)
class CalibrationScores:
    """The answers of a prediction with their probabilities.

    kinds  the answers of each of ANSWER_KINDS
    roles  the answers with each role, which are the arguments
    """

    kinds: dict[str, Answers] = field(
        default_factory=lambda: {kind: Answers() for kind in ANSWER_KINDS}
    )
    roles: dict[str, Answers] = field(default_factory=lambda: defaultdict(Answers))

    def add(self, outcome: Outcome) -> None:
        """Add the answers in one proposition."""
        proposition = outcome.proposition
        self.kinds["predicates"].add(proposition.predicate_probability, outcome.predicate)
        self.kinds["senses"].add(proposition.probability, outcome.sense)
        self.kinds["propositions"].add(proposition.joint_probability, outcome.exact)
        for argument, right in zip(proposition.arguments, outcome.arguments, strict=True):
            self.kinds["arguments"].add(argument.probability, right)
            self.roles[argument.role].add(argument.probability, right)

    def frequent_roles(self, at_least: int = MIN_ANSWERS) -> Mapping[str, Answers]:
        """The answers by role, the most frequent first; rare roles are one row at the end."""
        rows: dict[str, Answers] = {}
        rare = Answers()
        for role, answers in sorted(self.roles.items(), key=lambda row: (-len(row[1]), row[0])):
            if len(answers) >= at_least:
                rows[role] = answers
            else:
                rare.extend(answers)
        return rows | ({RARE: rare} if len(rare) else {})

    def to_dict(self) -> dict[str, Any]:
        """All figures by name, and the bins of the reliability diagram."""
        return {
            "n_bins": N_BINS,
            "kinds": {
                kind: answers.to_dict() | {"bins": _bins_to_list(answers)}
                for kind, answers in self.kinds.items()
                if len(answers)
            },
            "roles": {role: answers.to_dict() for role, answers in self.frequent_roles().items()},
        }


def score_calibration(gold: Iterable[Sentence], pred: Iterable[Sentence]) -> CalibrationScores:
    """Collect the probabilities of a prediction; answers without one are left out.

    The sentences of both must be the same.
    """
    scores = CalibrationScores()
    for gold_sentence, pred_sentence in zip(gold, pred, strict=True):
        for outcome in compare_propositions(gold_sentence, pred_sentence):
            scores.add(outcome)
    return scores


def _bins_to_list(answers: Answers) -> list[list[float]]:
    bins = reliability_bins(answers.probabilities, answers.right)
    return [[each.answers, each.confidence, each.accuracy] for each in bins]
