"""Consistent arguments, against definitions that try every assignment of roles to words."""

import dataclasses
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset
from capsrl.predict.backend import PropositionScores
from capsrl.predict.consistency import Consistency, separate_phrases
from capsrl.predict.decode import most_probable, softmax
from capsrl.predict.inventory import NO_ROLE, Vocab, build_inventory
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import learn_lemmas
from tests.helpers.tiny_sentences import SENTENCES

PLAIN = (NO_ROLE, "A0", "A1", "A2", "AM-TMP")
PARTS = (NO_ROLE, "A0", "A1", "A2", "R-A1", "C-A0", "R-A2", "AM-LOC", "R-AM-LOC", "C-V")
ROLESET = ("A0", "A1")  # of see.01; see.99 is unknown
FRAMES = FrameIndex.from_rolesets([Roleset("see.01", roles=tuple(map(FrameRole, ROLESET)))])


def rules_of(roles, frames=FRAMES, lemmatizer=None):
    inventory = build_inventory(SENTENCES)
    return Consistency(
        dataclasses.replace(inventory, roles=Vocab(roles), frames=frames, lemmatizer=lemmatizer)
    )


SENSES = st.sampled_from(["see.01", "see.99"])
ENGLISH = learn_lemmas(SENTENCES)
PLAIN_RULES, PART_RULES = (rules_of(roles, lemmatizer=ENGLISH) for roles in (PLAIN, PARTS))


def scores_of(logits, **phrases):
    probs, roles = most_probable(logits)
    none = np.zeros((len(logits), 0), np.float32)
    return PropositionScores(
        roles, probs, lambda rows: logits[rows], senses=none, patterns=none, **phrases
    )


def settle(rules, scores, senses, lengths=None):
    n_words = scores.roles.shape[1]
    lengths = lengths or [n_words] * len(senses)
    is_word = np.arange(n_words) < np.array(lengths)[:, None]
    return rules.settle(scores, senses, lengths, *np.nonzero((scores.roles != 0) & is_word))


def logits_of(roles, n_rows=1, max_words=4):
    def draw(seed, n_words):
        random = np.random.default_rng(seed)
        return random.normal(0, 2, (n_rows, n_words, len(roles))).astype(np.float32)

    return st.builds(draw, st.integers(0, 2**32 - 1), st.integers(1, max_words))


def own(role):
    return role[2:] if role[:2] in ("R-", "C-") else role


def is_outside(role, sense):
    return sense == "see.01" and own(role)[:2] not in ("AM", "V", NO_ROLE, *ROLESET)


def is_consistent(roles, sense):
    """The rules as the documentation has them."""
    found = [role for role in roles if role != NO_ROLE]
    return (
        not any(is_outside(role, sense) for role in found)
        and not any(found.count(role) > 1 for role in ("A0", "A1", "A2"))
        and not any(own(role) not in (*found, "V") for role in found)
    )


def stable_assignments(names, probs, sense):
    """Consistent ones in which a word lacks a more probable role only if it cannot have it.

    It cannot if the roleset does not have the role, or another word has it, more probably.
    """
    for choice in product(range(len(names)), repeat=len(probs)):
        holders = {role: word for word, role in enumerate(choice) if names[role] in PLAIN[1:4]}
        if is_consistent([names[role] for role in choice], sense) and all(
            is_outside(names[role], sense)
            or (role in holders and probs[holders[role], role] > probs[word, role])
            for word, chosen in enumerate(choice)
            for role in np.flatnonzero(probs[word] > probs[word, chosen]).tolist()
        ):
            yield choice


@given(logits_of(PLAIN), SENSES)
def test_words_have_the_best_roles_of_all_stable_assignments(logits, sense):
    probs = softmax(logits[0])
    stable = list(stable_assignments(PLAIN, probs, sense))
    best = [max((c[w] for c in stable), key=row.__getitem__) for w, row in enumerate(probs)]
    settled = settle(PLAIN_RULES, scores_of(logits), [sense])
    assert settled.roles[0].tolist() == best
    np.testing.assert_allclose(settled.probs[0], probs[range(len(best)), best], rtol=1e-5)


@given(logits_of(PARTS, max_words=8), SENSES)
def test_parts_need_what_they_belong_to(logits, sense):
    scores = scores_of(logits)
    settled = settle(PART_RULES, scores, [sense])
    before, after = ([PARTS[role] for role in each.roles[0]] for each in (scores, settled))
    assert is_consistent(after, sense)
    assert (settled is scores) == is_consistent(before, sense)
    assert settle(PART_RULES, settled, [sense]) is settled
    lost = [old for old, new in zip(before, after, strict=True) if old != new]
    # A role is lost for a reason: it is outside, another word has it, or it needed another role.
    assert all(is_outside(old, sense) or old in after or own(old) != old for old in lost)


@given(logits_of(PARTS, n_rows=3, max_words=6), st.lists(SENSES, min_size=3, max_size=3), st.data())
def test_alone_is_as_in_a_batch(logits, senses, data):
    n_words = logits.shape[1]
    lengths = [n_words, *(data.draw(st.integers(1, n_words)) for _ in range(2))]
    together = settle(PART_RULES, scores_of(logits), senses, lengths)
    for row, (sense, length) in enumerate(zip(senses, lengths, strict=True)):
        alone = settle(PART_RULES, scores_of(logits[row : row + 1, :length]), [sense])
        np.testing.assert_array_equal(alone.roles[0], together.roles[row, :length])
        np.testing.assert_array_equal(alone.probs[0], together.probs[row, :length])


@pytest.mark.parametrize(
    ("frames", "lemmatizer"), [(NO_FRAMES, ENGLISH), (FRAMES, None), (NO_FRAMES, None)]
)
@given(logits_of(PARTS, max_words=8))
def test_without_english_frames_no_role_is_changed(frames, lemmatizer, logits):
    """Universal PropBank repeats numbered roles, and has references without what they refer to."""
    scores = scores_of(logits)
    assert settle(rules_of(PARTS, frames, lemmatizer), scores, ["see.01"]) is scores


def test_words_in_each_others_phrases_are_one_argument():
    """Once upon a time: both words are the time, and have the same phrase."""
    odds = {"Once": (0.1, 0.3, 0.0, 0.0, 0.6), "upon": (0.9,), "a": (0.9,), "time": (0.2,)}
    table = np.full((1, 4, len(PLAIN)), 1e-6)
    for word, values in enumerate(odds.values()):
        table[0, word, : len(values)] = np.maximum(values, 1e-6)
    table[0, 3, PLAIN.index("AM-TMP")] = 0.8
    logits = np.log(table).astype(np.float32)
    apart = {"firsts": np.arange(4)[None], "lasts": np.arange(4)[None]}
    same = {"firsts": np.array([[0, 1, 2, 0]]), "lasts": np.array([[3, 1, 2, 3]])}
    for rules in (PLAIN_RULES, rules_of(PLAIN, NO_FRAMES)):
        settled = settle(rules, scores_of(logits, **same), ["see.01"])
        assert [PLAIN[role] for role in settled.roles[0]] == [NO_ROLE, NO_ROLE, NO_ROLE, "AM-TMP"]
        assert settled.probs[0, 0] == pytest.approx(0.1, abs=1e-4)  # of having no role
        scores = scores_of(logits, **apart)
        assert settle(rules, scores, ["see.01"]) is scores


def cut(phrases, heads, words="abcdefghij", owners=None):
    sentence = Sentence(tuple(words))
    owners = owners or [0] * len(heads)
    return separate_phrases(phrases, heads, owners, [sentence] * (max(owners, default=0) + 1))


@pytest.mark.parametrize(
    ("phrases", "heads", "expected"),
    [
        ([(0, 0), (0, 3)], [0, 3], [(0, 0), (1, 3)]),  # late | late on Saturday
        ([(0, 9), (4, 6)], [1, 5], [(0, 3), (4, 6)]),  # the second phrase is in the first
        ([(0, 3), (0, 3)], [0, 3], [(0, 2), (3, 3)]),  # the same phrase
        ([(0, 2), (3, 5)], [1, 4], [(0, 2), (3, 5)]),
        ([(0, 9), (2, 9), (2, 7)], [1, 3, 5], [(0, 1), (2, 4), (5, 7)]),
    ],
)
def test_phrases_are_cut(phrases, heads, expected):
    assert cut(phrases, heads) == expected


def test_phrases_are_cut_without_punctuation():
    assert cut([(0, 6), (4, 6)], [1, 5], "ab,–efg") == [(0, 1), (4, 6)]
    assert cut([(0, 1), (0, 6)], [1, 5], "ab,–efg") == [(0, 1), (4, 6)]


def test_phrases_of_two_propositions_may_overlap():
    assert cut([(0, 3), (0, 3)], [1, 2], owners=[0, 1]) == [(0, 3), (0, 3)]


@st.composite
def arguments(draw):
    heads = sorted(draw(st.sets(st.integers(0, 9), min_size=1, max_size=5)))
    edges = [(draw(st.integers(0, head)), draw(st.integers(head, 9))) for head in heads]
    return edges, heads


def overlap(one, other):
    return one[0] <= other[1] and other[0] <= one[1]


@given(arguments())
def test_cut_phrases_are_as_long_as_possible(given):
    phrases, heads = given
    found = cut(phrases, heads)
    assert not any(overlap(one, other) for one, other in combinations(found, 2))
    for number, ((first, last), head, (old_first, old_last)) in enumerate(
        zip(found, heads, phrases, strict=True)
    ):
        assert old_first <= first <= head <= last <= old_last
        others = found[:number] + found[number + 1 :]
        for longer in ((first - 1, last), (first, last + 1)):
            is_old = old_first <= longer[0] and longer[1] <= old_last
            assert not is_old or any(overlap(longer, other) for other in others)
