"""The log of a run in, its training curve as a picture out; needs matplotlib."""

from typing import TYPE_CHECKING

from capsrl.errors import ConfigError
from capsrl.train.log import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_curve(records: list[Record]) -> "Figure":
    """Draw loss and dev scores against epochs; `figure.savefig(path)` writes the picture.

    Raises ConfigError where matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError("plots need matplotlib: pip install 'capsrl[plots]'") from None
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
    scores.set_ylabel("dev, %")
    scores.set_ylim(0, 100)
    lines = [*losses.get_lines(), *scores.get_lines()]
    losses.legend(lines, [str(line.get_label()) for line in lines], loc="center right")
    return figure
