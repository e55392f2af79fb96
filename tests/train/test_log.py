"""One JSON line per record; a resumed run rewrites what its checkpoint had not seen."""

import json
import sys

import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.train.log import Log, read_log
from capsrl.train.plot import plot_curve

STEP = {"kind": "step", "epoch": 1, "step": 50, "loss": 0.5}
EPOCH = {"kind": "epoch", "epoch": 1, "step": 60, "loss": 0.4, "dev_f1": 50.0, "dev_em": 20.0}


def test_records_come_back_in_order(tmp_path):
    log = Log(tmp_path / "log.jsonl", size=0)
    log.write(STEP)
    log.write(EPOCH)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP, EPOCH]


def test_what_came_after_the_checkpoint_is_cut_off(tmp_path):
    path = tmp_path / "log.jsonl"
    log = Log(path, size=0)
    log.write(STEP)
    size = log.size
    log.write(EPOCH)
    log.close()
    log = Log(path, size=size)
    assert log.size == size == len(json.dumps(STEP)) + 1
    log.write({"kind": "step", "again": True})
    log.close()
    assert read_log(path) == [STEP, {"kind": "step", "again": True}]


def test_a_log_that_was_emptied_is_begun_again(tmp_path):
    log = Log(tmp_path / "log.jsonl", size=500)
    log.write(STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]


def test_a_line_that_is_no_record_is_named(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"kind": "step"}\nhello\n')
    with pytest.raises(DataError, match="log.jsonl:2: expected a JSON object, got 'hello'"):
        read_log(tmp_path / "log.jsonl")


def test_tensorboard_gets_the_same_numbers(tmp_path):
    pytest.importorskip("tensorboard")
    log = Log(tmp_path / "log.jsonl", size=0, tensorboard=tmp_path / "board")
    log.write({**EPOCH, "best": True})
    log.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "board")).Reload()
    [point] = events.Scalars("epoch/dev_f1")
    assert (point.step, point.value) == (60, 50.0)


def test_without_tensorboard_the_log_is_still_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    log = Log(tmp_path / "log.jsonl", size=0, tensorboard=tmp_path / "board")
    log.write(STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]
    assert not (tmp_path / "board").exists()


def test_a_curve_is_drawn_from_the_log(tmp_path):
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
        "dev F1": [[1, 2], [50, 60]],
        "dev EM": [[1, 2], [20, 20]],
        "best: 60.00": [[2], [60]],
    }
    figure.savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError, match=r"plots need matplotlib: pip install 'capsrl\[plots\]'"):
        plot_curve([EPOCH])
