"""One JSON line per record; a resumed run rewrites lines that its checkpoint lacks."""

import json
import sys

import pytest

from capsrl.errors import DataError
from capsrl.train.log import Log, read_log

STEP = {"kind": "step", "epoch": 1, "step": 50, "loss": 0.5}
EPOCH = {"kind": "epoch", "epoch": 1, "step": 60, "loss": 0.4, "dev_f1": 50.0, "dev_em": 20.0}


def test_round_trip(tmp_path):
    log = Log(tmp_path / "log.jsonl", size=0)
    log.write(STEP)
    log.write(EPOCH)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP, EPOCH]


def test_lines_after_the_checkpoint_are_cut_off(tmp_path):
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


def test_emptied_log(tmp_path):
    log = Log(tmp_path / "log.jsonl", size=500)
    log.write(STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]


def test_line_that_is_not_json(tmp_path):
    (tmp_path / "log.jsonl").write_text('{"kind": "step"}\nhello\n')
    with pytest.raises(DataError, match="log.jsonl:2: expected a JSON object, got 'hello'"):
        read_log(tmp_path / "log.jsonl")


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    log = Log(tmp_path / "log.jsonl", size=0, tensorboard=tmp_path / "board")
    log.write({**EPOCH, "best": True})
    log.close()
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path / "board")).Reload()
    [point] = events.Scalars("epoch/dev_f1")
    assert (point.step, point.value) == (60, 50.0)


def test_without_tensorboard(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    log = Log(tmp_path / "log.jsonl", size=0, tensorboard=tmp_path / "board")
    log.write(STEP)
    log.close()
    assert read_log(tmp_path / "log.jsonl") == [STEP]
    assert not (tmp_path / "board").exists()
