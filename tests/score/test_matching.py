import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.score import MODES, score
from capsrl.score.matching import EMPTY, match_sentence, split_sense
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
