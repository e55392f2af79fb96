"""The decoder of the control, against the rules of capsrl and by hand."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.frames.index import FrameIndex, Roleset
from capsrl.predict.backend import PropositionScores
from capsrl.predict.consistency import Consistency
from capsrl.predict.decode import most_probable, softmax
from capsrl.predict.inventory import NO_ROLE, Vocab, build_inventory
from capsrl.text.lemmatizer import learn_lemmas
from reproduce.decoder import count_slips, is_core, settle
from reproduce.results import Slips
from tests.helpers.tiny_sentences import SENTENCES, sentence

ROLES = (NO_ROLE, "A0", "A1", "A2", "R-A1", "AM-LOC", "R-AM-LOC")
# PropBank's rules without a roleset: no sense of it is known.
RULES = Consistency(
    dataclasses.replace(
        build_inventory(SENTENCES),
        roles=Vocab(ROLES),
        frames=FrameIndex.from_rolesets([Roleset("other.01")]),
        lemmatizer=learn_lemmas(SENTENCES),
    )
)


@given(st.integers(0, 2**32 - 1), st.integers(1, 7))
def test_the_rules_are_those_of_capsrl_without_frames(seed, n_words):
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, (1, n_words, len(ROLES))).astype(np.float32)
    probs, roles = most_probable(logits)
    none = np.zeros((1, 0), np.float32)
    scores = PropositionScores(roles, probs, lambda rows: logits[rows], none, none)
    wanted = RULES.settle(scores, ["see.99"], [n_words], *np.nonzero(roles))
    assert settle(softmax(logits)[0], ROLES).tolist() == wanted.roles[0].tolist()


def test_the_most_probable_word_keeps_a_core_role():
    beliefs = np.array(
        [
            [0.1, 0.6, 0.3, 0, 0, 0, 0],  # A0, then A1
            [0.0, 0.8, 0.2, 0, 0, 0, 0],  # A0
            [0.3, 0.0, 0.0, 0, 0.7, 0, 0],  # R-A1: the first word takes A1
            [0.1, 0.0, 0.0, 0, 0, 0.9, 0],  # AM-LOC
            [0.2, 0.0, 0.0, 0, 0, 0.8, 0],  # AM-LOC may be repeated
        ],
        dtype=np.float32,
    )
    assert [ROLES[i] for i in settle(beliefs, ROLES)] == ["A1", "A0", "R-A1", "AM-LOC", "AM-LOC"]
    assert [ROLES[i] for i in settle(beliefs[1:], ROLES)] == ["A0", NO_ROLE, "AM-LOC", "AM-LOC"]
    assert beliefs[0, 1] == np.float32(0.6)  # what is given stays as it is


@pytest.mark.parametrize(
    ("role", "expected"),
    [("A0", True), ("arg1-pat", True), ("R-A0", False), ("C-A1", False), ("AM-TMP", False)],
)
def test_core_roles(role, expected):
    assert is_core(role) == expected


def test_slips():
    gold = [sentence("he sees me here", (1, "see.01", {0: "A0", 2: "A1", 3: "AM-LOC"}))]
    bad = {0: "A1", 1: "A1", 2: "A1", 3: "R-A0"}
    pred = [sentence("he sees me here", (1, "see.01", bad))]
    assert count_slips(gold, pred) == Slips(0, 2, 0, 1)
    assert count_slips(pred, gold) == Slips(2, 0, 1, 0)
