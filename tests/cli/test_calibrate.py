"""`capsrl calibrate` with a network that has learned nothing."""

import json
from pathlib import Path

import pytest

from tests.helpers.tiny_networks import make_labeler

TINY = Path(__file__).parent.parent / "fixtures" / "tiny.conll09"


@pytest.fixture
def model(tmp_path):
    make_labeler().save(tmp_path / "model")
    return tmp_path / "model"


def label(capsrl, *options):
    done = capsrl("label", TINY, "--model", "model", "--to", "json", "--device", "cpu", *options)
    assert done.code == 0
    return json.loads(done.out)


def without_probabilities(data):
    if isinstance(data, dict):
        kept = {key: value for key, value in data.items() if not key.endswith("probability")}
        return {key: without_probabilities(value) for key, value in kept.items()}
    return [without_probabilities(item) for item in data] if isinstance(data, list) else data


def test_it_changes_the_probabilities(capsrl, model):
    found = ("--predicates", "found")
    raw = label(capsrl, *found)
    assert label(capsrl, *found, "--uncalibrated") == raw
    done = capsrl("calibrate", "model", TINY, "--device", "cpu")
    assert done.code == 0
    assert done.err == "model/calibration.json written\n"
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[0] for row in rows[1:]] == ["predicates", "senses", "arguments", "propositions"]
    assert all(len(row) == 7 for row in rows[1:])
    calibrated = label(capsrl, *found)
    assert calibrated != raw
    assert without_probabilities(calibrated) == without_probabilities(raw)
    assert label(capsrl, *found, "--uncalibrated") == raw


def test_the_report_as_json(capsrl, model):
    done = capsrl("calibrate", "model", TINY, "--device", "cpu", "--json")
    report = json.loads(done.out)
    assert report.keys() == {"before", "after"}
    assert report["after"]["kinds"]["senses"]["answers"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", TINY), "nowhere: expected a model folder, or the name of a model"),
        (("model", "none.conll09"), "none.conll09: cannot be read: No such file"),
        (("model", "empty.conll09"), "empty.conll09: expected predicates that the model finds"),
    ],
)
def test_mistakes_are_told_in_one_line(capsrl, model, tmp_path, arguments, message):
    (tmp_path / "empty.conll09").write_text("")
    done = capsrl("calibrate", *arguments, "--device", "cpu")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")
    assert not (model / "calibration.json").exists()
