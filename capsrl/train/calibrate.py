"""Fit the calibration of a model on a gold file, usually the dev set.

Each curve is a logistic regression of "the answer is right" on a piecewise linear function of its
log odds, with an offset for each group, fitted by penalized maximum likelihood. A straight line is
temperature scaling with an intercept (Platt, 1999; Guo et al., 2017); data may bend it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from capsrl.errors import DataError
from capsrl.labeler import Labeler
from capsrl.predict.calibration import (
    PREDICATE,
    Calibration,
    Curve,
    Floats,
    Probabilities,
    counts_of_senses,
    log_odds,
    sense_group,
    sense_prob,
    sigmoid,
)
from capsrl.score.calibration import CalibrationScores, Outcome, compare_propositions
from capsrl.sentence import Sentence

N_FOLDS = 5
# Chosen by cross-validation on the genres of en_ewt dev.
_SMOOTHNESS = 10.0  # penalty on changes of the slope
_SHRINKAGE = 3.0  # penalty on offsets: groups of few answers get small ones
_QUANTILES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95)  # of the log odds: the knots
_MAX_STEPS = 100
_DIGITS = 5

Counts = Mapping[str, int]


@dataclass(frozen=True)
class CalibrationFit:
    """A calibration and its effect.

    before  the answers of the network on the gold file
    after   the same, calibrated by curves that were fitted on the other folds of the file
    """

    calibration: Calibration
    before: CalibrationScores
    after: CalibrationScores


def calibrate(labeler: Labeler, gold: Sequence[Sentence]) -> CalibrationFit:
    """Label gold sentences, finding their predicates, and fit the calibration of the model.

    The folds are N_FOLDS parts of consecutive sentences, so that most documents are not split.
    Raises DataError if none of the predicates found is right.
    """
    raw = labeler.label_sentences(gold, predicates="found", uncalibrated=True)
    outcomes = [compare_propositions(*pair) for pair in zip(gold, raw, strict=True)]
    counts = counts_of_senses(labeler.inventory)
    calibration = fit_calibration(_joined(outcomes), counts)
    before, after = CalibrationScores(), CalibrationScores()
    edges = [len(outcomes) * fold // N_FOLDS for fold in range(N_FOLDS + 1)]
    for first, last in zip(edges, edges[1:], strict=False):
        fitted = fit_calibration(_joined(outcomes[:first] + outcomes[last:]), counts)
        held_out = _joined(outcomes[first:last])
        calibrated = fitted.apply([outcome.proposition for outcome in held_out], counts)
        for outcome, proposition in zip(held_out, calibrated, strict=True):
            before.add(outcome)
            after.add(replace(outcome, proposition=proposition))
    return CalibrationFit(calibration, before, after)


def _joined(outcomes: Sequence[Sequence[Outcome]]) -> list[Outcome]:
    return [outcome for of_sentence in outcomes for outcome in of_sentence]


@dataclass
class _Sample:
    """Answers to fit a curve on."""

    probabilities: list[float | None] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, probability: float | None, group: str, right: bool) -> None:
        self.probabilities.append(probability)
        self.groups.append(group)
        self.right.append(right)

    def fit(self) -> Curve:
        return fit_curve(self.probabilities, self.groups, self.right)


def fit_calibration(outcomes: Sequence[Outcome], sense_counts: Counts) -> Calibration:
    """Fit the curves on propositions with the probabilities of the network.

    Senses, arguments and whole propositions are fitted on the predicates that are right.
    """
    predicates, senses, arguments, propositions = (_Sample() for _ in range(4))
    for outcome in outcomes:
        proposition = outcome.proposition
        predicates.add(proposition.predicate_probability, PREDICATE, outcome.predicate)
        if not outcome.predicate:
            continue
        group = sense_group(proposition, sense_counts)
        senses.add(sense_prob(proposition), group, outcome.sense)
        propositions.add(proposition.joint_probability, group, outcome.exact)
        for argument, right in zip(proposition.arguments, outcome.arguments, strict=True):
            arguments.add(argument.probability, argument.role, right)
    if not senses.right:
        raise DataError(
            f"expected predicates that the model finds, got none among {len(outcomes)} found; "
            "calibrate a trained model on a file like its training data"
        )
    return Calibration(predicates.fit(), senses.fit(), arguments.fit(), propositions.fit())


def fit_curve(
    probabilities: Probabilities,
    groups: Sequence[str],
    right: ArrayLike,
    *,
    smoothness: float = _SMOOTHNESS,
    shrinkage: float = _SHRINKAGE,
) -> Curve:
    """Fit one curve.

    probabilities  N  those of the network
    groups         N  the group of each answer
    right          N  whether it is right
    smoothness     penalty on changes of the slope; high values give a straight line
    shrinkage      penalty on the offsets; high values give none
    """
    odds, y = log_odds(probabilities), np.asarray(right, np.float64)
    names = sorted(set(groups))
    if not names:
        return Curve((0.0,), (0.0,))
    if len(names) == 1:
        names = []  # nothing to tell apart
    knots = np.unique(np.quantile(odds, _QUANTILES).round(_DIGITS))
    k, n = len(knots), len(names)
    inputs = np.hstack([_hat_weights(odds, knots), _one_hot(groups, names)])  # N k+n
    penalty = np.zeros((k + n, k + n))
    penalty[:k, :k] = smoothness * _curvature(knots)
    penalty[k:, k:] = shrinkage * np.eye(n)
    penalty += 0.05 * np.eye(k + n)  # without it there is no finite fit if all answers are right
    found: list[float] = _fit_nondecreasing(inputs, y, penalty, k).tolist()
    rounded = [round(number, _DIGITS) for number in found]
    return Curve(
        tuple(knots.tolist()),
        tuple(rounded[:k]),
        dict(zip(names, rounded[k:], strict=True)),
    )


def _hat_weights(x: Floats, knots: Floats) -> Floats:
    """The weight of each knot in the linear interpolation at each x; N K."""
    return np.stack([np.interp(x, knots, row) for row in np.eye(len(knots))], 1)


def _one_hot(groups: Sequence[str], names: Sequence[str]) -> Floats:
    number = {name: i for i, name in enumerate(names)}
    rows: Floats = np.eye(len(names))[[number[group] for group in groups if number]]
    return rows if number else np.zeros((len(groups), 0))


def _curvature(knots: Floats) -> Floats:
    """The matrix of the sum of squared changes of slope, in units of the whole range; K K."""
    identity = np.eye(len(knots))
    if len(knots) < 3:
        return 0 * identity
    slopes = np.diff(identity, axis=0) / np.diff(knots)[:, None]  # K-1 K
    changes = np.diff(slopes, axis=0) * (knots[-1] - knots[0])  # K-2 K
    matrix: Floats = changes.T @ changes
    return matrix


def _fit_nondecreasing(inputs: Floats, right: Floats, penalty: Floats, n_knots: int) -> Floats:
    """Fit with the first `n_knots` parameters nondecreasing: those that fall are made equal."""
    shared = np.arange(inputs.shape[1])  # parameter -> number of the value it has
    while True:
        spread = np.eye(shared[-1] + 1)[shared]
        found: Floats = spread @ _fit_logistic(inputs @ spread, right, spread.T @ penalty @ spread)
        falling = np.flatnonzero(np.diff(found[:n_knots]) < 0)
        if not len(falling):
            return found
        shared[falling[0] + 1 :] -= 1


def _fit_logistic(inputs: Floats, right: Floats, penalty: Floats) -> Floats:
    """Newton's method for logistic regression with a quadratic penalty."""
    found = np.zeros(inputs.shape[1])
    for _ in range(_MAX_STEPS):
        p = sigmoid(inputs @ found)
        gradient = inputs.T @ (p - right) + penalty @ found
        step = np.linalg.solve((inputs.T * (p * (1 - p))) @ inputs + penalty, gradient)
        largest = np.abs(step).max()
        found -= step * min(1.0, 4.0 / max(largest, 1e-12))
        if largest < 1e-9:
            break
    return found
