"""Turn the probabilities of the network into calibrated ones.

A trained network is overconfident: of its answers with probability 0.99, far fewer than 99 % are
right. A `Curve` maps the log odds of an answer, log(p / (1 - p)), to the log odds of its being
right. Only probabilities change: senses and roles are chosen before. `capsrl.train.calibrate` fits
the curves.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from capsrl.errors import ModelError
from capsrl.files.opening import open_writer
from capsrl.predict.folder import read_json
from capsrl.predict.inventory import Inventory
from capsrl.predict.manifest import listing

Doubles = NDArray[np.float64]
Probabilities = Sequence[float] | Doubles

FILE = "calibration.json"
_GUESSED = "guessed"
_GROUPS = ((64, "64+"), (16, "16-63"), (4, "4-15"), (1, "1-3"), (0, "0"))
_NEWEST = 1  # version of the file; raised when older versions of capsrl cannot read it
_GUESS = 0.5  # the probability of every guessed sense before calibration
DIGITS = 6  # of calibrated probabilities; more are noise, which would fill the files
_LARGEST = 36.0  # log odds of the largest number below 1


def log_odds(probabilities: Probabilities) -> Doubles:
    """log(p / (1 - p)), between -36 and 36 also for 0 and 1."""
    p = np.asarray(probabilities, np.float64)
    with np.errstate(divide="ignore"):
        odds: Doubles = np.clip(np.log(p) - np.log1p(-p), -_LARGEST, _LARGEST)
    return odds


def sigmoid(values: ArrayLike) -> Doubles:
    """1 / (1 + exp(-x)), the inverse of `log_odds`."""
    odds: Doubles = 1 / (1 + np.exp(-np.asarray(values, np.float64)))
    return odds


@dataclass(frozen=True)
class Curve:
    """A nondecreasing, piecewise linear map of log odds, with an offset for each group of answers.

    knots    log odds that the network gives, increasing; the map is constant outside them
    values   log odds of being right at the knots
    offsets  group -> what is added to the values; 0 for a group that is not named
    """

    knots: tuple[float, ...]
    values: tuple[float, ...]
    offsets: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, probabilities: Probabilities, groups: Sequence[str]) -> Doubles:
        """Calibrated probabilities of answers.

        probabilities  N  those of the network
        groups         N  the group of each answer
        ->             N
        """
        offsets = np.array([self.offsets.get(group, 0.0) for group in groups])
        return sigmoid(np.interp(log_odds(probabilities), self.knots, self.values) + offsets)


@dataclass(frozen=True)
class Confidences:
    """The probabilities of the propositions of P predicates, which have A arguments in all.

    predicates    P  that the word is a predicate; NaN where it was marked
    senses        P
    propositions  P  that sense and all arguments are right
    arguments     A
    owners        A  the number of the proposition of each argument
    """

    predicates: Doubles
    senses: Doubles
    propositions: Doubles
    arguments: Doubles
    owners: NDArray[np.int64]


@dataclass(frozen=True)
class Calibration:
    """One curve for each kind of answer.

    Those of senses, arguments and propositions give the probability under the condition that the
    predicate is right; for predicates that were found, it is multiplied by that of the predicate.

    senses        groups: see `group_of`
    arguments     groups: roles
    propositions  groups: those of senses
    """

    predicates: Curve
    senses: Curve
    arguments: Curve
    propositions: Curve

    def calibrate(
        self, raw: Confidences, groups: Sequence[str], roles: Sequence[str]
    ) -> Confidences:
        """Calibrate the probabilities that the network gives.

        A whole proposition is never more probable than its sense or one of its arguments. The
        results have DIGITS digits.

        groups  P  see `group_of`
        roles   A
        """
        found = self.predicates(raw.predicates, [""] * len(raw.predicates))
        factors = np.where(np.isnan(raw.predicates), 1.0, found)
        senses = self.senses(sense_probs(raw.senses, groups), groups) * factors
        arguments = self.arguments(raw.arguments, roles) * factors[raw.owners]
        wholes: Doubles = np.minimum(self.propositions(raw.propositions, groups) * factors, senses)
        np.minimum.at(wholes, raw.owners, arguments)
        predicates: Doubles = np.where(np.isnan(raw.predicates), np.nan, factors)
        return Confidences(
            predicates=np.round(predicates, DIGITS),
            senses=np.round(senses, DIGITS),
            propositions=np.round(wholes, DIGITS),
            arguments=np.round(arguments, DIGITS),
            owners=raw.owners,
        )

    def save(self, folder: Path) -> Path:
        """Write the curves into a model folder, atomically, and return the file."""
        data = {"format": _NEWEST, **asdict(self)}
        with listing(folder, FILE), open_writer(folder / FILE) as file:
            file.write(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
        return folder / FILE


def sense_probs(raw: Doubles, groups: Sequence[str]) -> Doubles:
    """The probabilities of senses that are calibrated; guesses have all the same.

    The network compares a guess with the other senses of a word that is only spelled alike, and is
    certain of it if there are none.

    raw     P  those of the network
    groups  P
    """
    return np.where([group == _GUESSED for group in groups], _GUESS, raw)


def group_of(
    sense: str | None, sense_counts: Mapping[str, int], *, is_only: bool, guessed: bool
) -> str:
    """The group of a sense: how often training had it, and if it is certain.

    The groups are `guessed`, `0`, `1-3`, `4-15`, `16-63` and `64+`; those of a sense without
    alternatives begin with `only `.
    """
    if guessed:
        return _GUESSED
    count = sense_counts.get(sense or "", 0)
    name = next(name for least, name in _GROUPS if count >= least)
    return f"only {name}" if is_only else name


def counts_of_senses(inventory: Inventory) -> dict[str, int]:
    """Frequency of each sense in training."""
    return dict(zip(inventory.senses, inventory.sense_counts, strict=True))


def load_calibration(folder: Path) -> Calibration | None:
    """Read the calibration in a model folder, None if it has none; raises ModelError."""
    file = folder / FILE
    if not os.path.lexists(file):
        return None
    data = read_json(file)
    if not isinstance(found := data.get("format"), int) or found > _NEWEST:
        raise ModelError(f"{file}: expected format {_NEWEST} or older, got {found}; upgrade capsrl")
    names = [each.name for each in fields(Calibration)]
    return Calibration(*(_read_curve(data.get(name), f"{file}: {name}") for name in names))


def _read_curve(data: object, source: str) -> Curve:
    if not isinstance(data, dict) or data.keys() != {"knots", "values", "offsets"}:
        raise ModelError(f"{source}: expected knots, values and offsets, got {data!r:.60}")
    knots, values, offsets = data["knots"], data["values"], data["offsets"]
    for name, numbers in (("knots", knots), ("values", values)):
        if not _is_nondecreasing(numbers):
            raise ModelError(f"{source}.{name}: expected rising numbers, got {numbers!r:.60}")
    if len(knots) != len(values):
        raise ModelError(f"{source}: expected {len(knots)} values, got {len(values)}")
    if not isinstance(offsets, dict) or not all(map(_is_finite, offsets.values())):
        raise ModelError(f"{source}.offsets: expected an object of numbers, got {offsets!r:.60}")
    return Curve(tuple(knots), tuple(values), offsets)


def _is_nondecreasing(numbers: object) -> bool:
    if not isinstance(numbers, list) or not numbers or not all(map(_is_finite, numbers)):
        return False
    return all(low <= high for low, high in pairwise(numbers))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and abs(value) <= sys.float_info.max
