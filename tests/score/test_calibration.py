"""ECE, Brier score and the comparison with gold, against loops and by hand."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ConfigError
from capsrl.score.calibration import (
    RARE,
    Answers,
    Bin,
    plot_reliability,
    reliability_bins,
    save_figure,
    score_calibration,
)
from tests.helpers.score_sentences import sentence

ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


def answers_of(pairs):
    return Answers([p for p, _ in pairs], [right for _, right in pairs])


def ece_by_loops(pairs, n_bins):
    total = 0.0
    for number in range(n_bins):
        members = []
        for p, right in pairs:
            is_last = number == n_bins - 1
            if math.floor(p * n_bins) == number or (is_last and p == 1):
                members.append((p, right))
        if members:
            confidence = sum(p for p, _ in members) / len(members)
            accuracy = sum(right for _, right in members) / len(members)
            total += len(members) / len(pairs) * abs(confidence - accuracy)
    return total


@given(ANSWERS)
def test_ece_and_brier_against_loops(pairs):
    answers = answers_of(pairs)
    assert answers.ece == pytest.approx(ece_by_loops(pairs, 15), abs=1e-12)
    squares = [(p - (1 if right else 0)) ** 2 for p, right in pairs]
    assert answers.brier == pytest.approx(sum(squares) / len(squares))


@given(ANSWERS)
def test_every_answer_is_in_one_bin(pairs):
    probabilities, right = zip(*pairs, strict=True)
    bins = reliability_bins(probabilities, right)
    assert sum(each.answers for each in bins) == len(pairs)
    assert sum(each.accuracy * each.answers for each in bins) == pytest.approx(sum(right))
    assert [each.confidence for each in bins] == sorted(each.confidence for each in bins)


def test_worked_example():
    answers = answers_of([(0.05, False), (0.55, True), (0.55, False), (0.95, True), (1.0, True)])
    assert reliability_bins(answers.probabilities, answers.right, n_bins=10) == [
        Bin(1, 0.05, 0.0),
        Bin(2, 0.55, 0.5),
        Bin(2, 0.975, 1.0),
    ]
    # In 15 bins the groups are the same.
    assert answers.ece == pytest.approx((0.05 + 2 * 0.05 + 2 * 0.025) / 5)
    assert answers.accuracy == pytest.approx(0.6)
    assert answers.confidence == pytest.approx(0.62)


def test_without_answers():
    nothing = Answers()
    assert (nothing.ece, nothing.brier, nothing.accuracy, nothing.confidence) == (0, 0, 0, 0)
    assert score_calibration([], []).to_dict() == {"n_bins": 15, "kinds": {}, "roles": {}}


GOLD = sentence("a b c d e", (1, "see.01", "A0:0 A1:2"), (3, "eat.02", "A0:0"))


@pytest.mark.parametrize(
    ("proposition", "predicate", "sense", "arguments", "exact"),
    [
        ((1, "see.01", "A0:0 A1:2"), True, True, (True, True), True),
        ((1, "see.01", "A0:0"), True, True, (True,), False),  # an argument is missing
        ((1, "see.01", "A0:0 A1:2 A2:3"), True, True, (True, True, False), False),
        ((1, "see.01", "A1:0 A1:2"), True, True, (False, True), False),
        ((1, "eat.01", "A0:0 A1:2"), True, False, (True, True), False),  # the lemma counts
        ((2, "see.01", "A0:0"), False, False, (False,), False),
    ],
)
def test_what_is_right(proposition, predicate, sense, arguments, exact):
    pred = with_probabilities(sentence("a b c d e", proposition))
    kinds = score_calibration([GOLD], [pred]).kinds
    assert {kind: answers.right for kind, answers in kinds.items()} == {
        "predicates": [predicate],
        "senses": [sense],
        "arguments": list(arguments),
        "propositions": [exact],
    }


def with_probabilities(given, *, start=0.9):
    """The sentence with probabilities that fall from answer to answer."""
    propositions = [
        replace(
            each,
            probability=start - 0.1 * number,
            predicate_probability=start,
            joint_probability=start / 2,
            arguments=tuple(
                replace(argument, probability=start - 0.2 * k)
                for k, argument in enumerate(each.arguments)
            ),
        )
        for number, each in enumerate(given.propositions)
    ]
    return given.with_propositions(propositions)


def test_answers_by_kind_and_role():
    pred = sentence("a b c d e", (1, "see.01", "A0:0 A1:3"), (4, "eat.02", "A0:0"))
    scores = score_calibration([GOLD], [with_probabilities(pred)])
    assert scores.kinds["predicates"] == Answers([0.9, 0.9], [True, False])
    assert scores.kinds["senses"] == Answers([0.9, 0.8], [True, False])
    assert scores.kinds["arguments"] == Answers([0.9, 0.9 - 0.2, 0.9], [True, False, False])
    assert scores.kinds["propositions"] == Answers([0.45, 0.45], [False, False])
    assert scores.frequent_roles(at_least=2) == {
        "A0": Answers([0.9, 0.9], [True, False]),
        RARE: Answers([0.9 - 0.2], [False]),
    }
    report = scores.to_dict()
    assert report["kinds"]["senses"]["ece"] == pytest.approx((0.1 + 0.8) / 2)
    assert report["kinds"]["senses"]["bins"] == [[1, 0.8, 0.0], [1, 0.9, 1.0]]


def test_answers_without_probabilities_are_left_out():
    scores = score_calibration([GOLD], [GOLD])
    assert not any(scores.kinds.values())


def test_reliability_diagram(tmp_path):
    pytest.importorskip("matplotlib")
    scores = score_calibration([GOLD], [with_probabilities(GOLD)])
    figure = plot_reliability(scores)
    assert [panel.get_title() for panel in figure.axes] == [
        f"{kind}: ECE {answers.ece:.3f}" for kind, answers in scores.kinds.items()
    ]
    for name in ("a.svg", "a.png"):
        save_figure(plot_reliability(scores), str(tmp_path / name))
        first = (tmp_path / name).read_bytes()
        save_figure(plot_reliability(scores), str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == first and len(first) > 1000
    with pytest.raises(ConfigError, match=r"a\.xyz: cannot be drawn: Format 'xyz'"):
        save_figure(figure, str(tmp_path / "a.xyz"))
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        save_figure(figure, str(tmp_path / "none" / "a.png"))
