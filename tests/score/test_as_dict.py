import json

from capsrl.score import score
from capsrl.score.as_dict import scores_to_dict
from tests.helpers.score_sentences import sentence

GOLD = sentence("She sold him a car", (1, "sell.01", "A0:0 A2:2 A1:4"))
PRED = sentence("She sold him a car", (1, "buy.01", "A0:0 A1:2"))


def test_official_numbers_are_those_printed_beside_their_counts():
    report = json.loads(json.dumps(scores_to_dict(score([GOLD], [PRED], mode="strict"))))
    official = report["official"]
    assert official["labeled_precision"] == 66.67
    assert official["labeled_recall"] == 50
    assert official["labeled_f1"] == 57.14
    assert official["unlabeled_precision"] == 100
    assert official["proposition_f1"] == 0
    assert official["exact_semantic_match"] == 0
    assert official["lines"]["labeled_precision"] == "(1 + 1) / (2 + 1) * 100 = 66.67 %"
    assert official["counts"]["correct_senses"] == 1


def test_the_mode_has_its_own_numbers_unrounded():
    report = scores_to_dict(score([GOLD], [PRED], mode="strict", by=["role", "length"]))
    assert report["mode"] == "strict"
    assert report["scores"]["labeled_precision"] == 100 / 3
    assert report["scores"]["counts"]["correct_senses"] == 0
    assert report["subtasks"]["sense_accuracy"] == 0
    assert report["subtasks"]["predicates"]["pred"] == 1
    assert report["subtasks"]["argument_identification"]["correct"] == 2
    assert report["subtasks"]["argument_classification_accuracy"] == 50
    assert report["duplicate_roles"] == {"gold": 0, "pred": 0}
    assert report["breakdowns"]["role"]["A0"]["f1"] == 100
    assert "propositions" not in report["breakdowns"]["role"]["A0"]
    assert report["breakdowns"]["length"]["0-9"]["propositions"] == 1
