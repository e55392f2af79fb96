"""Measure whether probabilities are right: ECE, Brier score and reliability diagrams.

A predicted predicate is right if gold has a predicate there; a sense, if gold has that predicate
with the same sense, lemma included; an argument, if gold has that predicate and the same role at
the same word; a proposition, if its sense and its whole set of arguments are those of gold.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import ConfigError, install_hint
from capsrl.score.matching import match_sentence
from capsrl.sentence import Sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANSWER_KINDS = ("predicates", "senses", "arguments", "propositions")
N_BINS = 15
RARE = "other"  # the row of roles with fewer answers than MIN_ANSWERS
MIN_ANSWERS = 50


@dataclass(frozen=True, slots=True)
class Answers:
    """Probabilities of answers, and whether each is right."""

    probabilities: Sequence[float] = ()
    right: Sequence[bool] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[float | None, bool]]) -> "Answers":
        """The answers that have a probability."""
        known = [(probability, right) for probability, right in pairs if probability is not None]
        return cls([probability for probability, _ in known], [right for _, right in known])

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


@dataclass(frozen=True, slots=True)
class CalibrationScores:
    """The answers of a prediction with their probabilities.

    kinds  the answers of each of ANSWER_KINDS
    roles  the role of each argument among them
    """

    kinds: Mapping[str, Answers]
    roles: Sequence[str]

    def replace(self, probabilities: Mapping[str, NDArray[np.float64]]) -> "CalibrationScores":
        """The same answers with other probabilities, by kind."""
        kinds = {
            kind: Answers(probabilities[kind].tolist(), answers.right)
            for kind, answers in self.kinds.items()
        }
        return CalibrationScores(kinds, self.roles)

    def frequent_roles(self, at_least: int = MIN_ANSWERS) -> Mapping[str, Answers]:
        """The arguments by role, the most frequent first; rare roles are one row at the end."""
        arguments = self.kinds["arguments"]
        by_role: dict[str, list[tuple[float, bool]]] = {role: [] for role in self.roles}
        for number, role in enumerate(self.roles):
            by_role[role].append((arguments.probabilities[number], arguments.right[number]))
        rows: dict[str, Answers] = {}
        rare: list[tuple[float, bool]] = []
        for role, pairs in sorted(by_role.items(), key=lambda row: (-len(row[1]), row[0])):
            if len(pairs) >= at_least:
                rows[role] = Answers.of(pairs)
            else:
                rare += pairs
        return rows | ({RARE: Answers.of(rare)} if rare else {})

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
    """Compare the answers of a prediction, in its order, with gold.

    The sentences of both must be the same. Answers without a probability are left out, and, as
    everywhere in scoring, propositions without a sense.
    """
    pairs: dict[str, list[tuple[float | None, bool]]] = {kind: [] for kind in ANSWER_KINDS}
    roles: list[str] = []
    for sentences in zip(gold, pred, strict=True):
        matches = {match.predicate: match for match in match_sentence(*sentences, "strict")}
        for proposition in sentences[1].propositions:
            match = matches.get(proposition.predicate)
            if match is None or match.pred is None:
                continue
            is_predicate = match.gold is not None
            pairs["predicates"].append((proposition.predicate_probability, is_predicate))
            pairs["senses"].append((proposition.probability, match.sense_right))
            pairs["propositions"].append((proposition.joint_probability, match.exact))
            for argument in proposition.arguments:
                if argument.probability is not None:
                    is_right = (argument.role, (argument.word,)) in match.correct
                    pairs["arguments"].append((argument.probability, is_right))
                    roles.append(argument.role)
    return CalibrationScores({kind: Answers.of(pairs[kind]) for kind in pairs}, roles)


def _bins_to_list(answers: Answers) -> list[list[float]]:
    bins = reliability_bins(answers.probabilities, answers.right)
    return [[each.answers, each.confidence, each.accuracy] for each in bins]


def plot_reliability(scores: CalibrationScores) -> "Figure":
    """Plot accuracy by probability for each kind of answer; `figure.savefig(path)` writes a file.

    The area of a point is proportional to the number of answers in its bin.
    Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(f"plots need matplotlib: {install_hint('plots')}") from None
    kinds = {kind: answers for kind, answers in scores.kinds.items() if len(answers)}
    figure = Figure(figsize=(3 * max(len(kinds), 1), 3.6), dpi=150, layout="constrained")
    panels = figure.subplots(1, max(len(kinds), 1), squeeze=False, sharey=True)[0]
    for panel, (kind, answers) in zip(panels, kinds.items(), strict=False):
        _plot_answers(panel, kind, answers)
    panels[0].set_ylabel("share of right answers")
    return figure


def save_figure(figure: "Figure", path: str) -> None:
    """Write a figure; raises ConfigError for a suffix of another format, or a bad path."""
    from matplotlib import rc_context

    try:
        # No date and no random ids in SVG: the same figure gives the same bytes.
        with rc_context({"svg.hashsalt": "capsrl"}):
            figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except ValueError as error:
        raise ConfigError(f"{path}: cannot be drawn: {error}; .svg, .png and .pdf can") from None
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from None


def _plot_answers(panel: "Axes", kind: str, answers: Answers) -> None:
    bins = reliability_bins(answers.probabilities, answers.right)
    confidence = [each.confidence for each in bins]
    accuracy = [each.accuracy for each in bins]
    panel.plot([0, 1], [0, 1], color="tab:gray", linewidth=1, linestyle="--")
    panel.plot(confidence, accuracy, color="tab:blue", linewidth=1)
    areas = [4 + 200 * each.answers / len(answers) for each in bins]
    panel.scatter(confidence, accuracy, s=areas, color="tab:blue", alpha=0.7)
    panel.set_title(f"{kind}: ECE {answers.ece:.3f}", fontsize="medium")
    panel.set_xlabel("probability")
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.02, 1.02)
    panel.set_aspect("equal")
