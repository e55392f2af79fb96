"""Plot the training curve of a run from its log; needs matplotlib."""

from typing import TYPE_CHECKING

from capsrl.errors import ConfigError, install_hint
from capsrl.train.log import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curve(records: list[Record]) -> "Figure":
    """Plot the training loss and the dev scores by epoch; `figure.savefig(path)` writes a file.

    Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError(f"plots need matplotlib: {install_hint('plots')}") from None
    epochs = [record for record in records if record["kind"] == "epoch"]
    x = [record["epoch"] for record in epochs]
    figure = Figure(figsize=(7, 4), dpi=150, layout="constrained")
    losses = figure.add_subplot()
    losses.plot(x, [record["loss"] for record in epochs], color="tab:gray", label="training loss")
    losses.set_xlabel("epoch")
    losses.set_ylabel("training loss")
    losses.set_ylim(bottom=0)
    scores = losses.twinx()
    scores.plot(x, [record["dev_f1"] for record in epochs], color="tab:blue", label="dev F1")
    scores.plot(x, [record["dev_em"] for record in epochs], color="tab:green", label="dev EM")
    best = [record for record in epochs if record["best"]][-1:]
    for record in best:
        label = f"best: {record['dev_f1']:.2f}"
        scores.plot([record["epoch"]], [record["dev_f1"]], "o", color="tab:blue", label=label)
    scores.set_ylabel("dev score (%)")
    scores.set_ylim(0, 100)
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure
