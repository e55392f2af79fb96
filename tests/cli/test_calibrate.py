"""`capsrl calibrate` with a network that has learned nothing."""

import json
import re
from pathlib import Path

import pytest

from capsrl.models import shipped_models
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
        (("nowhere", TINY), "nowhere: not a model folder, nor the name of a model"),
        (("model", "none.conll09"), "none.conll09: no such file"),
        (("model", "empty.conll09"), "empty.conll09: none of the 0 predicates found is right"),
    ],
)
def test_mistakes_are_told_in_one_line(capsrl, model, tmp_path, arguments, message):
    (tmp_path / "empty.conll09").write_text("")
    done = capsrl("calibrate", *arguments, "--device", "cpu")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: {message}")
    assert not (model / "calibration.json").exists()


def test_a_calibration_that_makes_things_worse_is_not_saved(capsrl, tmp_path):
    """Twelve sentences are too few to calibrate a good model."""
    calibrate = ("calibrate", "en", TINY, "--device", "cpu", "--out", "own")
    done = capsrl(*calibrate)
    assert done.code == 2 and "ECE before" in done.out
    assert re.search(r"tiny.conll09: the probabilities of [a-z ]+ got worse, so nothing", done.err)
    assert not (tmp_path / "own").exists()
    assert capsrl(*calibrate, "--force").code == 0
    assert (tmp_path / "own" / "calibration.json").exists()


def test_models_that_ship_are_not_changed(capsrl, tmp_path):
    before = (shipped_models()["en"] / "calibration.json").read_bytes()
    done = capsrl("calibrate", "en", TINY)
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: en: ships with capsrl; name a folder for a copy with --out\n"
    done = capsrl("calibrate", "en", TINY, "--device", "cpu", "--out", "own", "--force")
    assert (done.code, done.err) == (0, "own/calibration.json written\n")
    assert (tmp_path / "own" / "calibration.json").read_bytes() != before
    assert (shipped_models()["en"] / "calibration.json").read_bytes() == before
    assert capsrl("label", "She left.", "--model", "own").code == 0
    done = capsrl("calibrate", "en", TINY, "--out", "own")
    assert (done.code, done.err) == (2, "error: --out own: exists; name another folder\n")
