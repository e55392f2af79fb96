import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import ConfigError
from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.score import MODES, MisalignedError, official_lines, score, score_systems
from capsrl.score.scorer import scores_to_dict
from capsrl.sentence import Argument, Proposition, Sentence
from tests.helpers.score_sentences import pairs, sentence

ORACLES = [
    f"{corpus}-{damage}"
    for corpus in ("en_ewt", "ja_wac", "cs_pdt_sample", "es_up")
    for damage in ("light", "senses", "predicates", "multi", "heavy")
]


@pytest.mark.parametrize("name", ORACLES)
def test_equals_the_official_scorer_to_the_last_digit(shared, name):
    folder = shared / "oracles" / "eval09"
    expected = json.loads((folder / f"{name}.json").read_text())
    gold, pred = (
        read_conll09(read_lines(folder / f"{name}.{side}.conll09.xz"), source=side)
        for side in ("gold", "pred")
    )
    assert official_lines(score(gold, pred).official) == expected


def perl_sense(pred):
    found = re.fullmatch(r"([^.]+)\.([^.]+)", pred)
    return found[2] if found else pred


def perl_same_sense(gold, pred):
    gold, pred = perl_sense(gold), perl_sense(pred)
    if re.fullmatch("[0-9]+", gold) and re.fullmatch("[0-9]+", pred):
        return int(gold) == int(pred)
    return gold == pred


def perl_counts(sentences):
    """The loops of the official scorer, written out as they are described."""
    names = "gold_predicates pred_predicates found_predicates correct_senses gold_arguments"
    names += " pred_arguments found_arguments correct_arguments correct_propositions"
    names += " exact_sentences sentences"
    n = dict.fromkeys(names.split(), 0)
    for gold, pred in sentences:
        before = dict(n)
        golds, preds = (
            [
                (p.predicate, p.sense, sorted({(a.word, a.role) for a in p.arguments}))
                for p in side.propositions
                if p.sense not in (None, "_", "-")
            ]
            for side in (gold, pred)
        )
        n["gold_predicates"] += len(golds)
        n["pred_predicates"] += len(preds)
        n["gold_arguments"] += sum(len(arguments) for _, _, arguments in golds)
        n["pred_arguments"] += sum(len(arguments) for _, _, arguments in preds)
        for gold_at, gold_sense, gold_arguments in golds:
            for pred_at, pred_sense, pred_arguments in preds:
                if gold_at != pred_at:
                    continue
                n["found_predicates"] += 1
                if perl_same_sense(gold_sense, pred_sense):
                    n["correct_senses"] += 1
                    n["correct_propositions"] += gold_arguments == pred_arguments
                taken = set()
                for word, role in gold_arguments:
                    n["correct_arguments"] += (word, role) in pred_arguments
                    free = [a for a in pred_arguments if a[0] == word and a not in taken]
                    if free:
                        taken.add(free[0])
                        n["found_arguments"] += 1
        d = {name: n[name] - before[name] for name in n}
        n["exact_sentences"] += (
            d["gold_predicates"] == d["pred_predicates"] == d["correct_senses"]
            and d["gold_arguments"] == d["pred_arguments"] == d["correct_arguments"]
        )
        n["sentences"] += 1
    return n


@given(st.lists(pairs(), max_size=5))
def test_equals_the_written_out_loops(sentences):
    counts = score([gold for gold, _ in sentences], [pred for _, pred in sentences]).counts
    expected = perl_counts(sentences)
    assert {name: counts.as_dict()[name] for name in expected} == expected


@given(st.lists(pairs(), max_size=5), st.sampled_from(MODES))
def test_a_file_against_itself_is_perfect(sentences, mode):
    gold = [gold for gold, _ in sentences]
    scores = score(gold, gold, mode=mode)
    something = scores.counts.gold_predicates > 0
    assert scores.labeled_f1 == (100 if something else 0)
    assert scores.counts.unlabeled.f1 == scores.labeled_f1
    assert scores.exact_match == scores.counts.exact_arguments == scores.labeled_f1
    assert scores.counts.exact_sentences == len(gold)


@given(st.lists(pairs(), max_size=8), st.randoms(use_true_random=False), st.sampled_from(MODES))
def test_the_order_of_the_sentences_does_not_matter(sentences, generator: random.Random, mode):
    shuffled = sentences.copy()
    generator.shuffle(shuffled)
    by = ("role", "length", "arguments", "distance", "pos")
    one, other = (
        score([gold for gold, _ in order], [pred for _, pred in order], mode=mode, by=by)
        for order in (sentences, shuffled)
    )
    assert one == other


@given(st.lists(pairs(), max_size=5))
def test_stricter_modes_never_find_more_senses(sentences):
    gold, pred = [gold for gold, _ in sentences], [pred for _, pred in sentences]
    official, strict, primesrl = (score(gold, pred, mode=mode) for mode in MODES)
    assert strict.official == primesrl.official == official.counts
    assert strict.counts.correct_senses <= official.counts.correct_senses
    assert primesrl.counts.correct_senses == strict.counts.correct_senses
    assert strict.counts.correct_arguments == official.counts.correct_arguments


def test_a_worked_example():
    gold = sentence("She sold him a car", (1, "sell.01", "A0:0 A2:2 A1:4"))
    pred = sentence("She sold him a car", (1, "sell.02", "A0:0 A1:2"), (4, "car.01", ""))
    scores = score([gold], [pred])
    lines = official_lines(scores.counts)
    assert lines["labeled_precision"] == "(1 + 0) / (2 + 2) * 100 = 25.00 %"
    assert lines["labeled_recall"] == "(1 + 0) / (3 + 1) * 100 = 25.00 %"
    assert lines["unlabeled_precision"] == "(2 + 1) / (2 + 2) * 100 = 75.00 %"
    assert lines["proposition_f1"] == "0.00"
    assert lines["exact_semantic_match"] == "0 / 1 * 100 = 0.00 %"
    assert scores.counts.predicates.precision == 50 and scores.counts.predicates.recall == 100
    assert scores.counts.sense_accuracy == 0 and scores.counts.senses.f1 == 0
    assert scores.counts.argument_positions.recall == pytest.approx(200 / 3)
    assert scores.counts.role_accuracy == 50
    assert scores.counts.exact_arguments == 0


def test_the_last_word_counts_without_a_final_blank_line():
    rows = [
        "1\tI\ti\ti\tP\tP\t_\t_\t2\t2\tS\tS\t_\t_\t_",
        "2\tsee\tsee\tsee\tV\tV\t_\t_\t0\t0\tR\tR\tY\tsee.01\t_",
        "3\tyou\tyou\tyou\tP\tP\t_\t_\t2\t2\tO\tO\t_\t_\tA1",
    ]
    counts = score(read_conll09(rows), read_conll09([*rows, ""])).counts
    assert (counts.gold_arguments, counts.correct_arguments) == (1, 1)


def test_no_sentences_score_nothing():
    scores = score([], [])
    assert scores.labeled_f1 == 0 and scores.counts.exact_semantic_match == 0


def test_reads_both_sides_in_step():
    read = []

    def stream(side):
        for number in range(3):
            read.append((number, side))
            yield sentence("a b", (0, "x.01", "A0:1"))

    score(stream("gold"), stream("pred"))
    assert read == sorted(read, key=lambda item: item[0])


@pytest.mark.parametrize(
    ("gold", "pred", "message"),
    [
        (
            ["a b", "a c"],
            ["a b", "a d"],
            "sentence 2, word 2: expected the word 'c', got 'd'; score the same sentences",
        ),
        (["a b"], ["a b c"], "sentence 1: expected 2 words, got 3; score the same"),
        (
            ["a", "b"],
            ["a"],
            "sentence 2: expected another sentence, got the end of the file after 1 sentences",
        ),
        (
            ["a"],
            ["a", "b"],
            "sentence 2: expected the end of the file after 1 sentences, got another sentence",
        ),
    ],
)
def test_other_sentences_are_refused(gold, pred, message):
    with pytest.raises(MisalignedError, match=f"^{message}"):
        score(map(sentence, gold), map(sentence, pred))


def test_the_system_that_does_not_fit_is_named():
    gold = [sentence("a"), sentence("b")]
    with pytest.raises(MisalignedError) as caught:
        score_systems(gold[:1], [gold[:1], gold])
    assert (caught.value.system, caught.value.sentence, caught.value.word) == (1, 1, None)


def test_an_unknown_mode_is_refused():
    with pytest.raises(ConfigError, match="mode: expected one of official, strict, primesrl, got"):
        score([], [], mode="lenient")  # type: ignore[arg-type]


def test_joint_counts_hold_every_system():
    gold = sentence("a b", (0, "x.01", "A0:1"))
    wrong = Sentence(gold.words, (Proposition(0, "x.02", (Argument("A1", 1),) * 2),))
    _, joint = score_systems([gold, gold], [[gold, gold], [wrong, gold]])
    assert joint == {(2, 2, 0, 2, 2): 1, (2, 2, 2, 2, 2): 1}


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
