"""The training curve shows the records of the log."""

import sys

import pytest

from capsrl.errors import ConfigError
from capsrl.train.plot import plot_curve

STEP = {"kind": "step", "epoch": 1, "step": 50, "loss": 0.5}
EPOCH = {"kind": "epoch", "epoch": 1, "step": 60, "loss": 0.4, "dev_f1": 50.0, "dev_em": 20.0}
EPOCH["dev_argument_f1"] = 40.0


def test_plot_curve(tmp_path):
    pytest.importorskip("matplotlib")
    better = {**EPOCH, "epoch": 2, "loss": 0.3, "dev_f1": 60.0, "best": True}
    figure = plot_curve([STEP, {**EPOCH, "best": True}, better])
    lines = {
        line.get_label(): [list(map(float, axis)) for axis in line.get_data()]
        for axes in figure.axes
        for line in axes.get_lines()
    }
    assert lines == {
        "training loss": [[1, 2], [0.4, 0.3]],
        "F1": [[1, 2], [50, 60]],
        "F1 of arguments": [[1, 2], [40, 40]],
        "exact match": [[1, 2], [20, 20]],
        "best: 60.00": [[2], [60]],
    }
    figure.savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_logs_of_older_runs_lack_scores_of_arguments():
    pytest.importorskip("matplotlib")
    older = {key: value for key, value in EPOCH.items() if key != "dev_argument_f1"}
    figure = plot_curve([{**older, "best": True}])
    assert [list(line.get_xdata()) for line in figure.axes[0].get_lines()] == [[1], [], [1], [1]]


def test_markers_at_the_ends_are_whole():
    pytest.importorskip("matplotlib")
    figure = plot_curve([{**EPOCH, "dev_f1": 100.0, "dev_em": 0.0, "best": True}])
    figure.draw_without_rendering()
    scores = figure.axes[0]
    frame, dots = scores.get_window_extent(), figure.dpi / 72  # pixels per point
    for line in scores.get_lines():
        [(_, y)] = scores.transData.transform(line.get_xydata())
        assert frame.y0 <= y - dots * line.get_markersize() / 2
        assert y + dots * line.get_markersize() / 2 <= frame.y1


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"plots need matplotlib: pip install 'capsrl\[plots\]'"):
        plot_curve([EPOCH])


def test_legend_is_outside_the_axes():
    pytest.importorskip("matplotlib")
    figure = plot_curve([{**EPOCH, "best": True}])
    figure.draw_without_rendering()
    [legend] = figure.legends
    assert len(legend.get_texts()) == 4
    box = legend.get_window_extent()
    assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)
