"""Mistakes are found one by one; their counts agree with the scores."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.score import MODES, compare_sentences, score
from capsrl.score.matching import match_sentence
from capsrl.score.mistakes import MISTAKE_KINDS, Pair, most_common, pair_arguments
from capsrl.sentence import Argument, Proposition, Sentence
from tests.helpers.score_sentences import pairs, sentence


def kinds(gold, pred, mode="official"):
    """The kinds of the mistakes in one sentence, with the roles of gold and prediction."""
    return [
        (kind, *((pair.gold and pair.gold[0], pair.pred and pair.pred[0]) if pair else ()))
        for comparison in compare_sentences([gold], [pred], mode)
        for kind, pair in comparison.mistakes()
    ]


def test_every_kind():
    gold = sentence(
        "a b c d e f g h",
        (1, "see.01", "A0:0 A1:2 A2:4 AM-TMP:6"),
        (3, "go.01", "A0:0"),
        (7, "be.01", ""),
    )
    pred = sentence(
        "a b c d e f g h",
        (1, "see.02", "A0:0 A3:2 A2:5 AM-LOC:7"),
        (5, "run.01", "A1:2"),
        (7, "be.01", ""),
    )
    assert kinds(gold, pred) == [
        ("wrong sense",),
        ("wrong role", "A1", "A3"),
        ("wrong head", "A2", "A2"),
        ("missed argument", "AM-TMP", None),
        ("spurious argument", None, "AM-LOC"),
        ("missed predicate",),
        ("missed argument", "A0", None),
        ("spurious predicate",),
        ("spurious argument", None, "A1"),
    ]
    assert {kind for kind, *_ in kinds(gold, pred)} == set(MISTAKE_KINDS)


def test_the_nearest_head_is_paired():
    gold = sentence("a b c d e f g", (3, "see.01", "A1:0 A1:4"))
    pred = sentence("a b c d e f g", (3, "see.01", "A1:5 A1:6"))
    [match] = match_sentence(gold, pred)
    assert pair_arguments(match) == [
        Pair(("A1", (0,)), ("A1", (6,))),
        Pair(("A1", (4,)), ("A1", (5,))),
    ]


def test_a_word_with_two_roles():
    gold = sentence("a b", (1, "see.01", "A0:0 AM-LOC:0"))
    assert kinds(gold, sentence("a b", (1, "see.01", "A0:0"))) == [
        ("missed argument", "AM-LOC", None)
    ]
    assert kinds(gold, sentence("a b", (1, "see.01", "A1:0 A2:0"))) == [
        ("wrong role", "A0", "A1"),
        ("wrong role", "AM-LOC", "A2"),
    ]


def test_modes():
    gold = sentence("a b c d", (1, "see.01", "A1:0 C-A1:2"))
    pred = sentence("a b c d", (1, "eye.01", "A1:0 C-A1:3"))
    assert kinds(gold, pred) == [("wrong head", "C-A1", "C-A1")]
    assert kinds(gold, pred, "strict") == [("wrong sense",), ("wrong head", "C-A1", "C-A1")]
    assert kinds(gold, pred, "primesrl") == [("wrong sense",), ("wrong head", "A1", "A1")]


@given(st.lists(pairs(), max_size=4), st.sampled_from(MODES))
def test_counts_add_up_to_the_scores(sentences, mode):
    golds, preds = [gold for gold, _ in sentences], [pred for _, pred in sentences]
    scores = score(golds, preds, mode=mode, by=["role"], confusion=True)
    roles, rows = scores.confusion.roles, scores.breakdowns["role"]
    for role, row in rows.items():
        assert row.gold == sum(n for (gold, _), n in roles.items() if gold == role)
        assert row.pred == sum(n for (_, pred), n in roles.items() if pred == role)
        if mode != "primesrl":  # there an argument needs the right sense too
            assert row.correct == roles[role, role]
    found = Counter(
        kind for each in compare_sentences(golds, preds, mode) for kind, _ in each.mistakes()
    )
    counts = scores.counts
    assert counts.gold_predicates - counts.found_predicates == found["missed predicate"]
    assert counts.pred_predicates - counts.found_predicates == found["spurious predicate"]
    assert counts.found_predicates - counts.correct_senses == found["wrong sense"]
    missed = sum(found[kind] for kind in ("wrong role", "wrong head", "missed argument"))
    spurious = sum(found[kind] for kind in ("wrong role", "wrong head", "spurious argument"))
    right = sum(n for (gold, pred), n in roles.items() if gold == pred)
    assert (counts.gold_arguments, counts.pred_arguments) == (right + missed, right + spurious)
    if mode != "primesrl":
        assert counts.found_arguments == right + found["wrong role"]
        assert scores.confusion.senses.total() == sum(
            found[kind] for kind in ("wrong sense", "missed predicate", "spurious predicate")
        )


@given(pairs())
def test_a_perfect_prediction_has_no_mistakes(pair):
    gold, _ = pair
    assert kinds(gold, gold) == []
    confusion = score([gold], [gold], confusion=True).confusion
    assert most_common(confusion.roles) == most_common(confusion.senses) == []


def test_matrix():
    gold = sentence("a b c d e", (1, "see.01", "A1:0 A0:2 A1:3"))
    pred = sentence("a b c d e", (1, "see.02", "A2:0 A0:2 A1:4"))
    confusion = score([gold], [pred], confusion=True).confusion
    assert confusion.labels() == ["A1", "A0", "A2", None]
    assert confusion.matrix() == [[0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]]
    assert most_common(confusion.roles) == [("A1", "A2", 1), ("A1", None, 1), (None, "A1", 1)]
    assert most_common(confusion.senses) == [("see.01", "see.02", 1)]
    assert score([gold], [pred]).confusion is None


def test_records():
    words = ("She", "sold", "cars")
    gold = Sentence(words, (Proposition(1, "sell.01", (Argument("A1", 2),)),), id="s-1")
    arguments = (Argument("A0", 0, 0.75), Argument("A2", 2, 0.5))
    pred = Sentence(words, (Proposition(1, "sell.02", arguments, 0.25),))
    [comparison] = compare_sentences([gold], [pred])
    sense, subject, thing = comparison.records()
    assert sense == {
        "kind": "wrong sense",
        "sentence": 0,
        "id": "s-1",
        "predicate": 1,
        "form": "sold",
        "gold_sense": "sell.01",
        "pred_sense": "sell.02",
        **dict.fromkeys(("gold_role", "gold_word", "gold_form")),
        **dict.fromkeys(("pred_role", "pred_word", "pred_form")),
        "probability": 0.25,
        "text": "She sold cars",
    }
    chosen = ("kind", "gold_role", "gold_word", "pred_role", "pred_word", "pred_form")
    assert [subject[key] for key in chosen] == ["spurious argument", None, None, "A0", 0, "She"]
    assert [thing[key] for key in chosen] == ["wrong role", "A1", 2, "A2", 2, "cars"]
    assert (subject["probability"], thing["probability"]) == (0.75, 0.5)


def test_probability_of_a_predicate():
    gold, pred = (
        Sentence(("go",), tuple(propositions))
        for propositions in ([], [Proposition(0, "go.01", (), 0.5, predicate_probability=0.625)])
    )
    [comparison] = compare_sentences([gold], [pred])
    assert [record["probability"] for record in comparison.records()] == [0.625]
    [comparison] = compare_sentences([pred], [gold])
    assert [record["probability"] for record in comparison.records()] == [None]


def test_sentences_must_be_as_many():
    with pytest.raises(ValueError, match="shorter"):
        list(compare_sentences([sentence("a")], []))
