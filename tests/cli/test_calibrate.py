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
    assert label(capsrl, *found, "--raw") == raw
    done = capsrl("calibrate", "model", TINY, "--device", "cpu")
    assert done.code == 0
    assert done.err == "model/calibration.json written\n"
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[0] for row in rows[1:]] == ["predicates", "senses", "arguments", "propositions"]
    assert all(len(row) == 7 for row in rows[1:])
    calibrated = label(capsrl, *found)
    assert calibrated != raw
    assert without_probabilities(calibrated) == without_probabilities(raw)
    assert label(capsrl, *found, "--raw") == raw


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


def test_probabilities_are_scored(capsrl, model, tmp_path):
    """`evaluate --calibration` is `label` and `score --calibration`."""
    found = ("--predicates", "found")
    capsrl("label", TINY, "--model", "model", "-o", "out.jsonl", "--device", "cpu", *found)
    scored = capsrl("score", TINY, "out.jsonl", "--calibration")
    evaluated = capsrl(
        "evaluate", TINY, "--model", "model", "--device", "cpu", "--calibration", *found
    )
    assert scored.code == evaluated.code == 0
    tables = [done.out.partition("\nCalibration\n")[2] for done in (scored, evaluated)]
    assert tables[0] == tables[1]
    assert "Calibration of arguments, by role" in tables[0]
    report = json.loads(capsrl("score", TINY, "out.jsonl", "--calibration", "--json").out)
    arguments = report["calibration"]["kinds"]["arguments"]
    assert arguments["answers"] == report["scores"]["counts"]["pred_arguments"]
    assert arguments["accuracy"] * arguments["answers"] == pytest.approx(
        report["scores"]["counts"]["correct_arguments"]
    )


def test_the_diagram_is_drawn(capsrl, model, tmp_path):
    pytest.importorskip("matplotlib")
    options = ("--model", "model", "--device", "cpu", "--reliability", "diagram.svg")
    assert capsrl("evaluate", TINY, *options).code == 0
    assert (tmp_path / "diagram.svg").read_text().count("<svg") == 1


def test_files_without_probabilities_are_refused(capsrl):
    done = capsrl("score", TINY, TINY, "--calibration")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {TINY}: expected propositions with probabilities, got none")
