"""Kappa against its definition by brute force, and an example worked by hand."""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.score.agreement import Kappa, score_agreement
from capsrl.score.matching import EMPTY, _strict_key
from tests.helpers.score_sentences import labeled, sentence

ITEMS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), max_size=12)


@given(ITEMS)
def test_kappa_by_its_definition(items):
    """Chance: how often a label of the first equals one of the second, of any two items."""
    found = Kappa.of(Counter(items))
    assert found.items == len(items)
    if not items:
        assert found.kappa is None
        return
    any_two = list(product(items, items))
    observed = sum(ours == theirs for ours, theirs in items) / len(items)
    chance = sum(one[0] == other[1] for one, other in any_two) / len(any_two)
    assert (found.observed, found.chance) == pytest.approx((observed, chance))
    if chance == 1:
        assert found.kappa is None
    else:
        assert found.kappa == pytest.approx((observed - chance) / (1 - chance))


@st.composite
def two_annotators(draw):
    """Two annotations of a sentence in which no word has two roles for a predicate."""
    words = tuple("abcdef"[: draw(st.integers(1, 6))])
    return [with_one_role(draw(labeled(words))) for _ in range(2)]


def with_one_role(found):
    propositions = []
    for each in found.propositions:
        first = {argument.word: argument for argument in reversed(each.arguments)}
        propositions.append(replace(each, arguments=tuple(first.values())))
    return replace(found, propositions=tuple(propositions))


@given(st.lists(two_annotators(), max_size=3))
def test_items_by_brute_force(sentences):
    words, predicates, senses = [], [], []
    for first, second in sentences:
        known = [
            {p.predicate: p for p in each.propositions if p.sense not in EMPTY}
            for each in (first, second)
        ]
        for word in range(len(first)):
            ours, theirs = (each.get(word) for each in known)
            predicates.append((ours is None, theirs is None))
            if ours is None or theirs is None:
                continue
            senses.append((_strict_key(ours.sense), _strict_key(theirs.sense)))
            roles = [{a.word: a.role for a in each.arguments} for each in (ours, theirs)]
            words += [tuple(each.get(other) for each in roles) for other in range(len(first))]
    expected = {
        "predicates": predicates,
        "senses": senses,
        "arguments": [(ours is None, theirs is None) for ours, theirs in words],
        "roles": [pair for pair in words if None not in pair],
        "arguments and roles": words,
    }
    found = score_agreement(*([pair[n] for pair in sentences] for n in (0, 1)), "strict")
    assert found == {name: Kappa.of(Counter(items)) for name, items in expected.items()}


def test_a_worked_example():
    text, other = "Mira sold her bicycle to Omar yesterday .", "Omar left early ."
    first = [
        sentence(text, (1, "sell.01", "A0:0 A1:3 A2:5 AM-TMP:6")),
        sentence(other, (1, "leave.01", "A0:0 AM-TMP:2")),
    ]
    second = [
        sentence(text, (1, "sell.01", "A0:0 A1:3 AM-TMP:6")),
        sentence(other, (1, "leave.02", "A0:0 AM-MNR:2")),
    ]
    kappas = score_agreement(first, second)
    # 2 of 12 words are predicates for both: chance (2 · 2 + 10 · 10) / 144.
    assert kappas["predicates"] == Kappa(1.0, 104 / 144, 12, 1.0)
    # The first has the numbers 1, 1, the second 1, 2.
    assert kappas["senses"] == Kappa(0.5, 0.5, 2, 0.0)
    # 6 and 5 of 12 words are arguments; all agree but Omar, A2 of sold.
    assert kappas["arguments"] == Kappa(11 / 12, (6 * 5 + 6 * 7) / 144, 12, 60 / 72)
    # A0 A1 AM-TMP A0 AM-TMP and A0 A1 AM-TMP A0 AM-MNR: 4 of 5 alike, chance (4 + 1 + 2) / 25.
    assert kappas["roles"] == Kappa(0.8, 7 / 25, 5, 13 / 18)
    # 10 of 12 alike; A0 2 and 2, A1 1 and 1, AM-TMP 2 and 1, none 6 and 7.
    assert kappas["arguments and roles"] == Kappa(10 / 12, (4 + 1 + 2 + 42) / 144, 12, 71 / 95)


def test_the_mode_says_which_senses_are_the_same():
    first = [sentence("a b", (0, "a.01", ""), (1, "b.01", ""))]
    second = [sentence("a b", (0, "c.01", ""), (1, "b.01", ""))]
    assert score_agreement(first, second)["senses"] == Kappa(1.0, 1.0, 2, None)
    assert score_agreement(first, second, "strict")["senses"] == Kappa(0.5, 0.25, 2, 1 / 3)
