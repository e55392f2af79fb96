from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.score import MODES, PRF, score
from capsrl.score.counts import Counts
from capsrl.score.matching import match_sentence
from tests.helpers.score_sentences import pairs, sentence

NUMBERS = st.integers(0, 50)


@given(NUMBERS, NUMBERS, NUMBERS)
def test_f1_is_the_dice_coefficient(correct, missed, spurious):
    scores = PRF(correct, gold=correct + missed, pred=correct + spurious)
    total = scores.gold + scores.pred
    assert scores.f1 == pytest.approx(200 * correct / total if total else 0)


@given(st.lists(pairs(), max_size=5), st.sampled_from(MODES))
def test_counts_of_a_corpus_are_sums_over_its_sentences(sentences, mode):
    matches = [match_sentence(gold, pred, mode) for gold, pred in sentences]
    together, alone = Counts(), [Counts() for _ in matches]
    arcs = [together.add(each) for each in matches]
    for counts, each in zip(alone, matches, strict=True):
        counts.add(each)
    for field in fields(Counts):
        assert getattr(together, field.name) == sum(getattr(one, field.name) for one in alone)
    labeled = (together.labeled.correct, together.labeled.gold, together.labeled.pred)
    assert labeled == tuple(map(sum, zip((0, 0, 0), *arcs, strict=True)))


@given(st.lists(pairs(), max_size=5), st.sampled_from(MODES))
def test_core_arguments_are_those_with_a_number(sentences, mode):
    counts, core, others = Counts(), PRF(), PRF()
    for gold, pred in sentences:
        matches = match_sentence(gold, pred, mode)
        counts.add(matches)
        for match in matches:
            for side in ("correct", "gold", "pred"):
                found = getattr(match, side)
                for role, _ in getattr(found, "arguments", found) or ():
                    kind = core if any(letter.isdigit() for letter in role) else others
                    setattr(kind, side, getattr(kind, side) + 1)
    assert (counts.core_arguments, counts.context_arguments) == (core, others)


def test_senses_and_roles_are_judged_where_they_were_found():
    gold = sentence("a b c", (0, "x.01", "A0:1 A1:2"), (1, "x.02", "A0:0"))
    pred = sentence("a b c", (0, "x.01", "A1:1"))
    counts = score([gold], [pred]).counts
    assert (counts.sense_accuracy, counts.role_accuracy) == (100, 0)
    assert (counts.senses.recall, counts.argument_positions.recall) == (50, 100 / 3)
    assert counts.predicates.f1 == pytest.approx(200 / 3)


def test_repeated_roles_are_counted_on_both_sides():
    gold = sentence("a b c d", (0, "x.01", "A0:1 A0:2"), (1, "x.01", "A0:0 C-A0:2 R-A0:3"))
    pred = sentence("a b c d", (0, "x.01", "A0:1 A0:2"), (1, "x.01", "A1:0 A1:2 A1:3"))
    counts = score([gold], [pred]).counts
    assert (counts.gold_repeated, counts.pred_repeated) == (1, 2)
