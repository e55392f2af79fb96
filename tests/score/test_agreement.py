"""Kappa against its definition by brute force, and an example worked by hand."""

from collections import Counter
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.score import score
from capsrl.score.agreement import Agreement, Kappa
from capsrl.score.matching import match_sentence
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


def only_one(role_words):
    """The first role of each word: what is compared word by word below."""
    return {word: role for role, [word] in sorted(role_words, reverse=True)}


@st.composite
def two_annotators(draw):
    words = tuple("abcdef"[: draw(st.integers(1, 6))])
    return [draw(labeled(words)) for _ in range(2)]


@given(st.lists(two_annotators(), max_size=3))
def test_items_by_brute_force(sentences):
    agreement, words, predicates, senses = Agreement(), Counter(), Counter(), Counter()
    for first, second in sentences:
        matches = match_sentence(first, second)
        for match in matches:
            for side in (match.gold, match.pred):
                if side is not None:
                    roles = only_one(side.arguments)
                    side.arguments = {(role, (word,)) for word, role in roles.items()}
        agreement.add(len(first), matches)
        at = {match.predicate: match for match in matches}
        for word in range(len(first)):
            match = at.get(word)
            ours, theirs = (match and match.gold), (match and match.pred)
            predicates[ours is not None, theirs is not None] += 1
            if ours is None or theirs is None:
                continue
            senses[ours.key, theirs.key] += 1
            for other in range(len(first)):
                roles = [only_one(side.arguments).get(other) for side in (ours, theirs)]
                words[tuple(roles)] += 1
    assert +agreement.predicates == predicates
    assert agreement.senses == senses
    assert +agreement.words == words


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
    agreement = score(first, second, agreement=True).agreement
    assert agreement is not None
    kappas = agreement.kappas()
    # 2 of 12 words are predicates for both: chance (2 · 2 + 10 · 10) / 144.
    assert kappas["predicates"] == Kappa(1.0, 104 / 144, 12)
    # The first has the numbers 1, 1, the second 1, 2.
    assert kappas["senses"] == Kappa(0.5, 0.5, 2)
    # 6 and 5 of 12 words are arguments; all agree but Omar, A2 of sold.
    assert kappas["arguments"] == Kappa(11 / 12, (6 * 5 + 6 * 7) / 144, 12)
    # A0 A1 AM-TMP A0 AM-TMP and A0 A1 AM-TMP A0 AM-MNR: 4 of 5 alike, chance (4 + 1 + 2) / 25.
    assert kappas["roles"] == Kappa(0.8, 7 / 25, 5)
    assert kappas["roles"].kappa == pytest.approx(0.52 / 0.72)
    # 10 of 12 alike; A0 2 and 2, A1 1 and 1, AM-TMP 2 and 1, none 6 and 7.
    assert kappas["arguments and roles"] == Kappa(10 / 12, (4 + 1 + 2 + 42) / 144, 12)


def test_the_mode_says_which_senses_are_the_same():
    first = [sentence("a b", (0, "a.01", ""), (1, "b.01", ""))]
    second = [sentence("a b", (0, "c.01", ""), (1, "b.01", ""))]
    official = score(first, second, agreement=True).agreement
    strict = score(first, second, agreement=True, mode="strict").agreement
    assert official.kappas()["senses"] == Kappa(1.0, 1.0, 2)
    assert official.kappas()["senses"].kappa is None
    assert strict.kappas()["senses"] == Kappa(0.5, 0.25, 2)


def test_nobody_asked():
    assert score([sentence("a")], [sentence("a")]).agreement is None
