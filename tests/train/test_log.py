"""One JSON line per record; a resumed run rewrites lines that its checkpoint lacks.

Which runs have collapsed; the training curve shows the records of the log.
"""

import json
import sys

import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.score import score
from capsrl.train.checkpoint import State
from capsrl.train.log import Log, find_collapse, is_low, plot_curve, read_log
from tests.helpers.tiny_networks import SENTENCES

STEP = {"kind": "step", "epoch": 1, "step": 50, "loss": 0.5}
EPOCH = {"kind": "epoch", "epoch": 1, "step": 60, "loss": 0.4, "dev_f1": 50.0, "dev_em": 20.0}
EPOCH["dev_argument_f1"] = 40.0


def write(log, *records):
    for record in records:
        log.write(record["kind"], {key: record[key] for key in record if key != "kind"})


def test_round_trip(tmp_path):
    log = Log(tmp_path, size=0)
    write(log, STEP, EPOCH)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP, EPOCH]


def test_lines_after_the_checkpoint_are_cut_off(tmp_path):
    path = tmp_path / "log.jsonl"
    log = Log(tmp_path, size=0)
    write(log, STEP)
    size = log.size
    write(log, EPOCH)
    log.close()
    log = Log(tmp_path, size=size)
    assert log.size == size == len(json.dumps(STEP)) + 1
    write(log, {"kind": "step", "again": True})
    log.close()
    assert read_log(path) == [STEP, {"kind": "step", "again": True}]


def test_emptied_log(tmp_path):
    log = Log(tmp_path, size=500)
    write(log, STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]


def test_line_that_is_not_json(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"kind": "step"}\nhello\n')
    with pytest.raises(DataError, match="log.jsonl:2: expected a JSON object, got 'hello'"):
        read_log(tmp_path / "log.jsonl")


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    log = Log(tmp_path, size=0)
    write(log, {**EPOCH, "best": True})
    log.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    [point] = events.Scalars("epoch/dev_f1")
    assert (point.step, point.value) == (60, 50.0)


def test_without_tensorboard(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    log = Log(tmp_path, size=0)
    write(log, STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]
    assert not (tmp_path / "tensorboard").exists()


def test_only_one_process_writes(tmp_path):
    seen = []
    for folder in (tmp_path / "run", None):
        log = Log(folder, size=0, report=seen.append)
        write(log, STEP)
        log.close()
    assert seen == read_log(tmp_path / "run" / "log.jsonl") == [STEP]


def without_arguments():
    return [
        s.with_propositions([type(p)(p.predicate, p.sense) for p in s.propositions])
        for s in SENTENCES
    ]


def test_an_f1_far_below_the_best_is_low():
    assert is_low(42.0, 85.0)
    assert not is_low(80.0, 85.0)
    assert not is_low(10.0, 10.0)


def test_the_second_low_epoch_in_a_row_is_reported_once():
    scores = score(SENTENCES, SENTENCES)
    states = [State(epoch=9, best_f1=85.0, best_epoch=6, low_epochs=n) for n in range(4)]
    found = [find_collapse(scores, state, n_epochs=14) for state in states]
    assert found[:2] == [None, None] and found[3] is None
    assert "epoch 9: dev F1 is 100.00, after 85.00 in epoch 6; the run has collapsed" in found[2]


def test_a_run_that_predicts_no_argument_is_reported_after_a_quarter():
    scores = score(SENTENCES, without_arguments())
    found = {
        epoch: find_collapse(scores, State(epoch=epoch), n_epochs=14) for epoch in range(1, 15)
    }
    reported = {epoch for epoch, message in found.items() if message}
    assert reported == {4}
    assert found[4].startswith("epoch 4: no argument has been predicted on dev so far; dev F1 is")
    fine = State(epoch=4, predicts_arguments=True)
    assert find_collapse(score(SENTENCES, SENTENCES), fine, n_epochs=14) is None


def test_a_run_that_hardly_predicts_arguments_any_more():
    found = find_collapse(
        score(SENTENCES, without_arguments()), State(epoch=4, predicts_arguments=True), n_epochs=14
    )
    assert found.startswith("epoch 4: 0 arguments are predicted on dev, gold has 12; the run may")


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
