from dataclasses import replace

import numpy as np
import pytest

from capsrl.errors import DataError
from capsrl.labeler import Labeler
from capsrl.predict.calibration import log_odds, sigmoid
from capsrl.score.calibration import Answers
from capsrl.train.calibrate import calibrate, fit_curve
from tests.helpers.tiny_networks import SENTENCES, bare, make_labeler

N = 20_000


def simulate(truth, seed=0, n=N, scale=8.0):
    """Answers of a network that is too sure: log odds, and whether they are right."""
    rng = np.random.default_rng(seed)
    odds = rng.normal(scale / 2, scale / 2, n)
    return sigmoid(odds), rng.random(n) < sigmoid(truth(odds))


def test_temperature_and_intercept_are_found():
    p, right = simulate(lambda odds: odds / 3 - 0.5)
    curve = fit_curve(p, ["x"] * N, right)
    np.testing.assert_allclose(curve.values, [knot / 3 - 0.5 for knot in curve.knots], atol=0.25)
    assert curve.offsets == {}
    raw, calibrated = Answers(p.tolist(), right.tolist()), simulate(lambda x: x / 3 - 0.5, seed=1)
    new = Answers(curve(calibrated[0], ["x"] * N).tolist(), calibrated[1].tolist())
    assert raw.ece > 0.1 and new.ece < 0.015
    assert new.brier < raw.brier


def test_a_bend_is_found():
    p, right = simulate(lambda odds: np.minimum(odds, 3))
    bent = fit_curve(p, ["x"] * N, right)
    line = fit_curve(p, ["x"] * N, right, smoothness=1e9)
    steps = np.diff(line.values) / np.diff(line.knots)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-3)
    errors = [
        np.abs(log_odds(curve(p, ["x"] * N)) - np.minimum(log_odds(p), 3)).mean()
        for curve in (bent, line)
    ]
    assert errors[0] < 0.5 * errors[1]


def test_offsets_are_found_and_shrunk():
    rng = np.random.default_rng(2)
    groups = rng.choice(["A0", "A1", "rare"], N, p=[0.5, 0.4999, 0.0001]).tolist()
    groups[:2] = ["rare", "rare"]
    shift = np.array([{"A0": 1.0, "A1": -1.0, "rare": -1.0}[group] for group in groups])
    p, right = simulate(lambda odds: odds / 2 + shift)
    curve = fit_curve(p, groups, right)
    assert curve.offsets["A0"] - curve.offsets["A1"] == pytest.approx(2, abs=0.15)
    assert abs(curve.offsets["rare"]) < 0.6


def loss(curve, p, groups, right):
    q = np.clip(curve(p, groups), 1e-12, 1 - 1e-12)
    return -np.log(np.where(right, q, 1 - q)).sum()


def test_the_fit_is_the_optimum():
    """No small change of any parameter of an (almost) unpenalized fit is better."""
    p, right = simulate(lambda odds: odds / 3)
    groups = ["a" if number % 3 else "b" for number in range(N)]
    curve = fit_curve(p, groups, right, smoothness=0.0, shrinkage=0.0)
    best = loss(curve, p, groups, right)
    values, names = list(curve.values), list(curve.offsets)
    assert all(low < high for low, high in zip(values, values[1:], strict=False))
    for number in range(len(values)):
        for change in (-0.3, 0.3):
            moved = [v + change * (k == number) for k, v in enumerate(values)]
            other = type(curve)(curve.knots, tuple(moved), curve.offsets)
            assert loss(other, p, groups, right) > best
    for name in names:
        for change in (-0.3, 0.3):
            offsets = {**curve.offsets, name: curve.offsets[name] + change}
            assert loss(type(curve)(curve.knots, curve.values, offsets), p, groups, right) > best


@pytest.mark.parametrize("truth", [lambda x: -x, lambda x: 3 * np.sin(x), lambda x: 0 * x + 99])
def test_curves_do_not_fall(truth):
    p, right = simulate(truth, n=2000)
    curve = fit_curve(p, ["x"] * len(p), right, smoothness=0.01)
    assert list(curve.values) == sorted(curve.values)
    assert np.isfinite(curve.values).all()


def test_few_answers():
    assert fit_curve([], [], [])([0.3], ["x"]).tolist() == [0.5]
    [one] = fit_curve([0.9], ["x"], [True])([0.9], ["x"])
    assert 0.5 < one < 1
    certain = fit_curve([1.0] * 10, ["only"] * 10, [True] * 9 + [False])
    assert certain([1.0], ["only"])[0] == pytest.approx(0.9, abs=0.02)


def wrong_in_parts(sentence, rng):
    """The sentence without some propositions, with other senses and without some arguments."""
    return sentence.with_propositions(
        [
            replace(
                each,
                sense=each.sense if rng.random() < 0.8 else "other.01",
                arguments=tuple(a for a in each.arguments if rng.random() < 0.7),
            )
            for each in sentence.propositions
            if rng.random() < 0.8
        ]
    )


def test_a_model_is_calibrated():
    labeler, rng = make_labeler(), np.random.default_rng(4)
    raw = list(labeler.label_sentences(SENTENCES * 200, predicates="found"))
    gold = [wrong_in_parts(sentence, rng) for sentence in raw]
    fit = calibrate(labeler, gold)
    before, after = fit.before.kinds, fit.after.kinds
    for kind, answers in before.items():
        assert len(answers) >= 400 and answers.right == after[kind].right
        assert after[kind].ece < 0.08
    assert before["arguments"].ece > 0.3
    assert after["predicates"].confidence == pytest.approx(0.8, abs=0.05)
    assert after["senses"].confidence == pytest.approx(0.8 * 0.8, abs=0.05)
    assert after["arguments"].confidence == pytest.approx(0.8 * 0.7, abs=0.05)
    calibrated = Labeler(labeler.network, labeler.config, calibration=fit.calibration)
    found = list(calibrated.label_sentences(gold, predicates="found"))
    assert [bare(s) for s in found] == [bare(s) for s in raw]
    assert found != raw
    # Fitting again starts from the probabilities of the network, whatever the model has.
    assert calibrate(calibrated, gold).calibration == fit.calibration


def test_a_corpus_without_common_predicates_is_refused():
    gold = [sentence.with_propositions(()) for sentence in SENTENCES]
    message = r"none of the \d+ predicates found is right; calibrate a trained model"
    with pytest.raises(DataError, match=message):
        calibrate(make_labeler(), gold)
