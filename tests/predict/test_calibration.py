import dataclasses
import json
import math

import numpy as np
import pytest

from capsrl.errors import ModelError
from capsrl.predict.calibration import (
    DIGITS,
    FILE,
    Curve,
    group_of,
    load_calibration,
    log_odds,
    sigmoid,
)
from capsrl.predict.folder import MANIFEST
from capsrl.sentence import Argument, Phrase, Proposition
from tests.helpers.tiny_sentences import CALIBRATION, apply_calibration


def test_log_odds_and_back():
    p = np.array([1e-9, 0.1, 0.5, 0.99, 1 - 1e-12])
    np.testing.assert_allclose(sigmoid(log_odds(p)), p, rtol=1e-6)
    assert log_odds([0.0, 1.0]).tolist() == [-36, 36]


def test_a_curve_by_hand():
    curve = Curve((-2.0, 0.0, 4.0), (-1.0, 0.0, 1.0), {"A0": 0.5})
    odds = [-9, -1, 2, 4, 30]
    expected = [-1, -0.5, 0.5, 1, 1]
    np.testing.assert_allclose(log_odds(curve(sigmoid(odds), ["A1"] * 5)), expected, atol=1e-6)
    shifted = [value + 0.5 for value in expected]
    np.testing.assert_allclose(log_odds(curve(sigmoid(odds), ["A0"] * 5)), shifted, atol=1e-6)


def proposition(**changes):
    arguments = (Argument("A0", 0, 0.75, phrase=Phrase(0, 1)), Argument("A1", 2, 0.5))
    return dataclasses.replace(
        Proposition(1, "see.01", arguments, probability=0.5, joint_probability=0.2), **changes
    )


def one_by_one(curve, p, group):
    """A calibrated probability, without numpy."""
    x = math.log(p / (1 - p))
    points = list(zip(curve.knots, curve.values, strict=True))
    for (x1, y1), (x2, y2) in zip(points, points[1:], strict=False):
        if x1 <= x <= x2:
            y = y1 + (y2 - y1) * (x - x1) / (x2 - x1)
    return 1 / (1 + math.exp(-y - curve.offsets.get(group, 0.0)))


def near(value):
    """Calibrated probabilities are rounded."""
    return pytest.approx(value, abs=10**-DIGITS)


def test_marked_predicates():
    [found] = apply_calibration([proposition()], {"see.01": 2})
    assert found.predicate_probability is None
    assert found.probability == near(one_by_one(CALIBRATION.senses, 0.5, "1-3"))
    whole = one_by_one(CALIBRATION.propositions, 0.2, "1-3")
    assert found.joint_probability == near(
        min(whole, found.probability, *(a.probability for a in found.arguments))
    )
    assert [a.probability for a in found.arguments] == near(
        [
            one_by_one(CALIBRATION.arguments, 0.75, "A0"),
            one_by_one(CALIBRATION.arguments, 0.5, "A1"),
        ]
    )


def test_found_predicates_multiply_by_their_probability():
    [marked, other] = apply_calibration([proposition(), proposition(predicate=3)], {})
    [found] = apply_calibration([proposition(predicate_probability=0.9)], {})
    factor = one_by_one(CALIBRATION.predicates, 0.9, "")
    assert found.predicate_probability == near(factor)
    assert found.probability == near(factor * marked.probability)
    assert found.joint_probability == near(factor * marked.joint_probability)
    assert [a.probability for a in found.arguments] == near(
        [factor * a.probability for a in marked.arguments]
    )
    assert other == dataclasses.replace(marked, predicate=3)


def test_more_probable_stays_more_probable():
    raw = [0.1, 0.5, 0.9, 0.99, 0.9999]
    found = apply_calibration([proposition(probability=p) for p in raw], {})
    calibrated = [p.probability for p in found]
    assert calibrated == sorted(calibrated)


@pytest.mark.parametrize(
    ("changes", "count", "group"),
    [
        ({}, 0, "0"),
        ({}, 1, "1-3"),
        ({}, 15, "4-15"),
        ({}, 16, "16-63"),
        ({}, 5000, "64+"),
        ({"is_only": True}, 3, "only 1-3"),
        ({"guessed": True}, 0, "guessed"),
    ],
)
def test_groups_of_senses(changes, count, group):
    how = {"is_only": False, "guessed": False} | changes
    assert group_of("see.01", {"see.01": count}, **how) == group


def test_round_trip(tmp_path):
    assert load_calibration(tmp_path) is None
    assert CALIBRATION.save(tmp_path) == tmp_path / FILE
    assert load_calibration(tmp_path) == CALIBRATION
    assert sorted(file.name for file in tmp_path.iterdir()) == [FILE, MANIFEST]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ([], "expected a JSON object, got list"),
        ({"format": 2}, "expected format 1 or older, got 2; upgrade capsrl"),
        ({"senses": None}, "senses: expected knots, values and offsets, got None"),
        ({"senses": {"knots": [1]}}, r"senses: expected knots, values and offsets, got \{'knots'"),
        ({"predicates": ([2, 1], [0, 1], {})}, r"predicates.knots: expected rising numbers, got"),
        ({"predicates": ([], [], {})}, r"predicates.knots: expected rising numbers, got \[\]"),
        ({"predicates": ([1], ["a"], {})}, r"predicates.values: expected rising numbers, got"),
        ({"predicates": ([1, 10**400], [1, 2], {})}, r"predicates.knots: expected rising numbers"),
        ({"arguments": ([1], [1], {"A0": -(10**400)})}, "arguments.offsets: expected an object of"),
        ({"predicates": ([1, 2], [1], {})}, "predicates: expected 2 values, got 1"),
        ({"arguments": ([1], [1], {"A0": None})}, "arguments.offsets: expected an object of num"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, change, message):
    data = change
    if isinstance(change, dict):
        data = json.loads(CALIBRATION.save(tmp_path).read_text()) | {
            name: dict(zip(("knots", "values", "offsets"), value, strict=True))
            if isinstance(value, tuple)
            else value
            for name, value in change.items()
        }
    (tmp_path / FILE).write_text(json.dumps(data))
    with pytest.raises(ModelError, match=f"{FILE}: {message}"):
        load_calibration(tmp_path)


def test_a_file_that_is_not_json_is_refused(tmp_path):
    (tmp_path / FILE).write_text("{")
    with pytest.raises(ModelError, match=f"{FILE}: not JSON: Expecting property name"):
        load_calibration(tmp_path)


def test_guesses_are_as_probable_as_other_guesses():
    """The network compares them with the senses of another word."""
    sure, unsure = apply_calibration(
        [proposition(guessed=True, probability=each) for each in (1.0, 0.6)], {}
    )
    assert sure.probability == unsure.probability
    assert sure.probability == near(one_by_one(CALIBRATION.senses, 0.5, "guessed"))
