"""Fit the calibration of a model on a gold file, usually the dev set; needs no torch.

Each curve is a logistic regression of "the answer is right" on a piecewise linear function of its
log odds, with an offset for each group, fitted by penalized maximum likelihood. A straight line is
temperature scaling with an intercept (Platt, 1999; Guo et al., 2017); data may bend it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsrl.errors import DataError
from capsrl.labeler import Labeler
from capsrl.predict.calibration import (
    Calibration,
    Confidences,
    Curve,
    Doubles,
    Probabilities,
    counts_of_senses,
    group_of,
    log_odds,
    sense_probs,
    sigmoid,
)
from capsrl.score.calibration import CalibrationScores, score_calibration
from capsrl.sentence import Sentence

Bools = NDArray[np.bool_]

N_FOLDS = 5
# Chosen by cross-validation on the genres of en_ewt dev.
_SMOOTHNESS = 10.0  # penalty on changes of the slope
_SHRINKAGE = 3.0  # penalty on offsets: groups of few answers get small ones
_QUANTILES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 0.95)  # of the log odds: the knots
_MAX_STEPS = 100
_DECIMALS = 5


@dataclass(frozen=True)
class CalibrationFit:
    """A calibration and its effect.

    before  the answers of the network on the gold file
    after   the same, calibrated by curves that were fitted on the other folds of the file
    """

    calibration: Calibration
    before: CalibrationScores
    after: CalibrationScores

    @property
    def worse(self) -> list[str]:
        """The kinds of answers with both a higher ECE and a higher Brier score than before."""
        pairs = {kind: (old, self.after.kinds[kind]) for kind, old in self.before.kinds.items()}
        return [k for k, (old, new) in pairs.items() if new.ece > old.ece and new.brier > old.brier]


def calibrate(labeler: Labeler, gold: Sequence[Sentence]) -> CalibrationFit:
    """Label gold sentences, finding their predicates, and fit the calibration of the model.

    The folds are N_FOLDS parts of consecutive sentences, so that most documents are not split.
    Raises DataError if none of the predicates found is right.
    """
    labeled = list(labeler.label_sentences(gold, predicates="found", uncalibrated=True))
    before = score_calibration(gold, labeled)
    columns = _collect(before, labeled, counts_of_senses(labeler.inventory))
    calibration = _fit(columns)
    sentence_of = np.repeat(np.arange(len(labeled)), [len(each.propositions) for each in labeled])
    edges = [len(labeled) * fold // N_FOLDS for fold in range(N_FOLDS + 1)]
    parts = []
    for first, last in pairwise(edges):
        is_held_out = (first <= sentence_of) & (sentence_of < last)
        held_out = columns.select(is_held_out)
        fitted = _fit(columns.select(~is_held_out))
        parts.append(fitted.calibrate(held_out.raw, held_out.groups, held_out.roles))
    calibrated = {
        kind: np.concatenate([getattr(part, kind) for part in parts]) for kind in before.kinds
    }
    return CalibrationFit(calibration, before, before.replace(calibrated))


@dataclass(frozen=True)
class _Columns:
    """The answers of P propositions, which have A arguments in all.

    raw     probabilities of the network
    right   kind of answer -> whether each is right
    groups  P  those of senses
    roles   A
    """

    raw: Confidences
    right: Mapping[str, Bools]
    groups: Sequence[str]
    roles: Sequence[str]

    def select(self, members: Bools) -> "_Columns":
        """The answers of some of the propositions; members is P."""
        of_argument = members[self.raw.owners]
        chosen = {kind: of_argument if kind == "arguments" else members for kind in self.right}
        probs = {kind: getattr(self.raw, kind)[mask] for kind, mask in chosen.items()}
        owners = (np.cumsum(members) - 1)[self.raw.owners[of_argument]]
        return _Columns(
            Confidences(**probs, owners=owners),
            {kind: self.right[kind][mask] for kind, mask in chosen.items()},
            list(compress(self.groups, members)),
            list(compress(self.roles, of_argument)),
        )


def _collect(
    scores: CalibrationScores, labeled: Sequence[Sentence], counts: Mapping[str, int]
) -> _Columns:
    """The columns of all propositions of some sentences; counts are those of senses in training."""
    propositions = [each for sentence in labeled for each in sentence.propositions]
    sizes = [len(each.arguments) for each in propositions]
    probs = {kind: np.array(each.probabilities, np.float64) for kind, each in scores.kinds.items()}
    return _Columns(
        Confidences(**probs, owners=np.repeat(np.arange(len(propositions)), sizes)),
        {kind: np.array(each.right, bool) for kind, each in scores.kinds.items()},
        [
            group_of(each.sense, counts, is_only=each.probability == 1, guessed=each.guessed)
            for each in propositions
        ],
        scores.roles,
    )


def _fit(columns: _Columns) -> Calibration:
    """Fit the curves; all but that of predicates on the predicates that are right."""
    is_right = columns.right["predicates"]
    if not is_right.any():
        raise DataError(
            f"none of the {len(is_right)} predicates found is right; "
            "calibrate a trained model on a file like its training data"
        )
    found = columns.select(is_right)
    raw, right, groups = found.raw, found.right, found.groups
    return Calibration(
        predicates=fit_curve(columns.raw.predicates, [""] * len(is_right), is_right),
        senses=fit_curve(sense_probs(raw.senses, groups), groups, right["senses"]),
        arguments=fit_curve(raw.arguments, found.roles, right["arguments"]),
        propositions=fit_curve(raw.propositions, groups, right["propositions"]),
    )


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
    knots = np.unique(np.quantile(odds, _QUANTILES).round(_DECIMALS))
    k, n = len(knots), len(names)
    # The weight of each knot in the linear interpolation at each answer, and its group one-hot.
    weights = np.stack([np.interp(odds, knots, row) for row in np.eye(k)], 1)  # N k
    one_hot = np.array(groups)[:, None] == np.array(names, str)  # N n
    inputs = np.hstack([weights, one_hot])  # N k+n
    penalty = np.zeros((k + n, k + n))
    penalty[:k, :k] = smoothness * _curvature(knots)
    penalty[k:, k:] = shrinkage * np.eye(n)
    penalty += 0.05 * np.eye(k + n)  # without it there is no finite fit if all answers are right
    found: list[float] = _fit_nondecreasing(inputs, y, penalty, k).tolist()
    rounded = [round(number, _DECIMALS) for number in found]
    return Curve(
        tuple(knots.tolist()),
        tuple(rounded[:k]),
        dict(zip(names, rounded[k:], strict=True)),
    )


def _curvature(knots: Doubles) -> Doubles:
    """The matrix of the sum of squared changes of slope, in units of the whole range; K K."""
    identity = np.eye(len(knots))
    if len(knots) < 3:
        return 0 * identity
    slopes = np.diff(identity, axis=0) / np.diff(knots)[:, None]  # K-1 K
    changes = np.diff(slopes, axis=0) * (knots[-1] - knots[0])  # K-2 K
    matrix: Doubles = changes.T @ changes
    return matrix


def _fit_nondecreasing(inputs: Doubles, right: Doubles, penalty: Doubles, n_knots: int) -> Doubles:
    """Fit with the first `n_knots` parameters nondecreasing: those that fall are made equal."""
    shared = np.arange(inputs.shape[1])  # parameter -> number of the value it has
    while True:
        spread = np.eye(shared[-1] + 1)[shared]
        found: Doubles = spread @ _fit_logistic(inputs @ spread, right, spread.T @ penalty @ spread)
        falling = np.flatnonzero(np.diff(found[:n_knots]) < 0)
        if not len(falling):
            return found
        shared[falling[0] + 1 :] -= 1


def _fit_logistic(inputs: Doubles, right: Doubles, penalty: Doubles) -> Doubles:
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
