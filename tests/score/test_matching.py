import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.score import MODES, PRF, score
from capsrl.score.matching import EMPTY, is_core, match_sentence, merge_arguments, split_sense
from tests.helpers.score_sentences import pairs, sentence


@given(pairs(), st.sampled_from(MODES))
def test_every_predicate_with_a_sense_is_matched_once(sentences, mode):
    gold, pred = (
        {p.predicate for p in side.propositions if p.sense not in EMPTY} for side in sentences
    )
    matches = match_sentence(*sentences, mode)
    assert sorted(match.predicate for match in matches) == sorted(gold | pred)
    for match in matches:
        assert (match.gold is not None) == (match.predicate in gold)
        assert (match.pred is not None) == (match.predicate in pred)


@given(pairs(), st.sampled_from(MODES))
def test_which_side_is_gold_does_not_matter(sentences, mode):
    gold, pred = sentences
    there, back = (
        {match.predicate: match for match in match_sentence(*sides, mode)}
        for sides in ((gold, pred), (pred, gold))
    )
    assert there.keys() == back.keys()
    for predicate, match in there.items():
        other = back[predicate]
        assert (match.gold, match.pred) == (other.pred, other.gold)
        assert (match.sense_right, match.n_found) == (other.sense_right, other.n_found)
        assert match.correct == other.correct
        assert len(match.correct) <= match.n_found


def count_by_loops(gold, pred):
    """Arguments at the same words, each of the prediction taken once."""
    left = [words for _, words in pred]
    n_found = 0
    for _, words in gold:
        if words in left:
            left.remove(words)
            n_found += 1
    return n_found


@given(pairs(), st.sampled_from(MODES))
def test_arguments_are_compared_by_loops(sentences, mode):
    for match in match_sentence(*sentences, mode):
        if match.gold is None or match.pred is None:
            assert (match.correct, match.n_found) == (frozenset(), 0)
            continue
        gold, pred = match.gold.arguments, match.pred.arguments
        correct = {arc for arc in gold if arc in pred}
        if mode == "primesrl" and match.gold.key != match.pred.key:
            correct = {(role, words) for role, words in correct if not re.search("[0-9]", role)}
        assert match.sense_right == (match.gold.key == match.pred.key)
        assert (match.correct, match.n_found) == (correct, count_by_loops(gold, pred))


def test_a_sentence_matches_itself():
    one = sentence("She sold him a car", (1, "sell.01", "A0:0 A2:2 A1:4"), (4, "car.01", ""))
    for mode in MODES:
        matches = match_sentence(one, one, mode)
        assert [match.exact for match in matches] == [True, True]
        assert [match.n_found for match in matches] == [3, 0]


@given(st.text("ab.0", max_size=6))
def test_senses_are_split_at_a_single_inner_dot(sense):
    found = re.fullmatch(r"([^.]+)\.([^.]+)", sense)
    assert split_sense(sense) == ((found[1], found[2]) if found else (sense, sense))


def test_lemmas_count_in_strict_mode_only():
    gold = sentence("we go", (1, "go.01", "A0:0"))
    pred = sentence("we go", (1, "run.1", "A0:0"))
    assert score([gold], [pred]).labeled_f1 == 100
    assert score([gold], [pred], mode="strict").labeled_f1 == 50
    same_lemma = sentence("we go", (1, "go.1", "A0:0"))
    assert score([gold], [same_lemma], mode="strict").labeled_f1 == 100


def test_two_propositions_on_one_predicate_are_refused():
    twice = sentence("a b", (1, "x.01", ""), (1, "x.02", ""))
    with pytest.raises(DataError, match="'a b': expected one proposition .* two at word 2"):
        score([twice], [twice])


def merged(arguments):
    return merge_arguments(
        sentence("a b c d e f", (0, "x.01", arguments)).propositions[0].arguments
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 C-A0:3", {("A0", (1, 3))}),
        ("C-A0:1 A0:3", {("A0", (1, 3))}),
        ("C-A0:1 C-A0:3", {("A0", (1, 3))}),
        ("C-A0:1", {("A0", (1,))}),
        ("A0:1 A1:2 C-A1:4 C-A1:5", {("A0", (1,)), ("A1", (2, 4, 5))}),
        ("A0:1 A0:2 C-A0:3", {("A0", (1, 3)), ("A0", (2,))}),
        ("A0:1 R-A0:2", {("A0", (1,)), ("R-A0", (2, 1))}),
        ("R-A0:1 A0:2", {("A0", (2,)), ("R-A0", (1, 2))}),
        ("R-A0:1", {("R-A0", (1,))}),
        ("A0:1 R-A0:2 C-A0:3", {("A0", (1, 3)), ("R-A0", (2, 1))}),
        ("C-V:1 AM-TMP:2", {("AM-TMP", (2,))}),
        ("COND:1 REG:2 _:3 -:4", {("COND", (1,)), ("REG", (2,))}),
    ],
)
def test_pieces_are_merged(arguments, expected):
    assert merged(arguments) == expected


def test_core_roles_are_the_numbered_ones():
    assert [role for role in ("A0", "R-A1", "arg2-atr", "AM-TMP", "AA", "GA") if is_core(role)] == [
        "A0",
        "R-A1",
        "arg2-atr",
    ]


SOLD = "Last week Mary sold the boat"
TRUE = (3, "sell.01", "AM-TMP:1 A0:2 A1:5")


@pytest.mark.parametrize("sense", ["sell.02", "buy.01", "buy.02"])
def test_core_arguments_fall_with_a_wrong_sense(sense):
    pred = sentence(SOLD, (3, sense, "AM-TMP:1 A0:2 A1:5"))
    counts = score([sentence(SOLD, TRUE)], [pred], mode="primesrl").counts
    assert counts.arguments == PRF(correct=1, gold=3, pred=3)
    assert counts.core_arguments == PRF(correct=0, gold=2, pred=2)
    assert counts.context_arguments == PRF(correct=1, gold=1, pred=1)
    assert counts.labeled == PRF(correct=1, gold=4, pred=4)
    assert counts.predicates.f1 == 100 and counts.sense_accuracy == 0


# A continued argument: "Some rumours [A0] have spread [pred] lately about the merger [C-A0]".
RUMOURS = "Some rumours have spread fear lately about the merger"
CONTINUED = (3, "spread.01", "A0:1 A1:4 AM-TMP:5 C-A0:8")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 A1:4 AM-TMP:5 C-A0:8", PRF(3, 3, 3)),
        ("A0:1 A1:4 AM-TMP:5 C-A2:8", PRF(2, 3, 4)),  # a piece lost, and a stray A2
        ("A2:1 A1:4 AM-TMP:5 C-A0:8", PRF(2, 3, 4)),
        ("A2:1 A1:4 AM-TMP:5 C-A2:8", PRF(2, 3, 3)),  # whole, but the wrong role
        ("C-A0:1 A1:4 AM-TMP:5 A0:8", PRF(3, 3, 3)),  # which piece is called C- is no mistake
        ("C-A0:1 A1:4 AM-TMP:5 C-A0:8", PRF(3, 3, 3)),
        ("A2:1 A1:4 AM-TMP:5 C-A1:8", PRF(1, 3, 3)),
        ("A0:1 A1:4 AM-TMP:5", PRF(2, 3, 3)),
    ],
)
def test_a_continued_argument_is_right_as_a_whole(arguments, expected):
    pred = sentence(RUMOURS, (3, "spread.01", arguments))
    counts = score([sentence(RUMOURS, CONTINUED)], [pred], mode="primesrl").counts
    assert counts.arguments == expected


# A reference: "the bridge [A0] that [R-A0] crosses [pred] here the river [A1]".
BRIDGE = "the bridge that crosses the river"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 R-A0:2 A1:5", PRF(3, 3, 3)),
        ("A2:1 R-A0:2 A1:5", PRF(1, 3, 3)),  # the reference lost what it refers to
        ("A0:1 R-A2:2 A1:5", PRF(2, 3, 3)),
        ("A2:1 R-A2:2 A1:5", PRF(1, 3, 3)),
        ("A0:0 R-A0:2 A1:5", PRF(1, 3, 3)),  # it refers to another word
        ("R-A0:1 R-A0:2 A1:5", PRF(1, 3, 3)),
        ("R-A0:1 A0:2 A1:5", PRF(1, 3, 3)),
    ],
)
def test_a_reference_is_right_with_what_it_refers_to(arguments, expected):
    gold = sentence(BRIDGE, (3, "cross.02", "A0:1 R-A0:2 A1:5"))
    pred = sentence(BRIDGE, (3, "cross.02", arguments))
    assert score([gold], [pred], mode="primesrl").counts.arguments == expected
