"""Plot reliability diagrams; needs matplotlib."""

from typing import TYPE_CHECKING

from capsrl.errors import ConfigError, install_hint
from capsrl.score.calibration import Answers, CalibrationScores, reliability_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
        raise ConfigError(f"{path}: expected .svg, .png or .pdf, got {error}") from None
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
