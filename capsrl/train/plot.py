"""Plot the training curve of a run from its log; needs matplotlib."""

from typing import TYPE_CHECKING

from capsrl.errors import ConfigError, install_hint
from capsrl.train.log import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SCORES = {"dev_f1": "F1", "dev_argument_f1": "F1 of arguments", "dev_em": "exact match"}


def plot_curve(records: list[Record]) -> "Figure":
    """Plot the dev scores and, below them, the training loss by epoch.

    `figure.savefig(path)` writes a file. Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise ConfigError(f"plots need matplotlib: {install_hint('plots')}") from None
    epochs = [record for record in records if record["kind"] == "epoch"]
    figure = Figure(figsize=(7, 5), dpi=150, layout="constrained")
    scores, losses = figure.subplots(2, sharex=True, height_ratios=(2, 1))
    for key, label in _SCORES.items():
        scores.plot(*_curve(epochs, key), label=label, marker=".")
    for record in [record for record in epochs if record["best"]][-1:]:
        label = f"best: {record['dev_f1']:.2f}"
        scores.plot([record["epoch"]], [record["dev_f1"]], "o", color="tab:blue", label=label)
    scores.set_ylabel("dev score (%)")
    scores.set_ylim(-2, 102)  # markers at 0 and 100 are whole
    losses.plot(*_curve(epochs, "loss"), color="tab:gray", label="training loss", marker=".")
    losses.set_xlabel("epoch")
    losses.set_ylabel("training loss")
    losses.set_ylim(bottom=0)
    losses.xaxis.set_major_locator(MaxNLocator(integer=True))
    for panel in (scores, losses):
        panel.grid(alpha=0.3)
    figure.legend(handles=scores.get_lines(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def _curve(epochs: list[Record], key: str) -> tuple[list[float], list[float]]:
    """The points of a curve; logs of older runs lack some scores."""
    known = [record for record in epochs if key in record]
    return [record["epoch"] for record in known], [record[key] for record in known]
