"""Candidate senses; rolesets and sentences were written for the tests."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.frames.english import OTHER_PARTICLE_ODDS, PARTICLE_ODDS, WINDOW
from capsrl.frames.index import NO_FRAMES, FrameIndex, FrameRole, Roleset
from capsrl.predict.candidates import (
    UNTRAINED_ODDS,
    CandidateFinder,
    Candidates,
    Untrained,
    guess_sense,
    probability_of,
    score_senses,
)
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Sentence
from capsrl.text.lemmatizer import Lemmatizer
from tests.helpers.tiny_sentences import sentence


def roleset(sense, aliases, roles="A0 A1"):
    pairs = tuple(tuple(alias.split(":")) for alias in aliases.split())
    return Roleset(sense, pairs, tuple(map(FrameRole, roles.split())))


FRAMES = FrameIndex.from_rolesets(
    [
        roleset("call.01", "v:call n:calling"),
        roleset("call.02", "v:call n:call", "A0 A1 A2"),
        roleset("call_off.06", "v:call_off"),
        roleset("call_off.09", "v:call_off"),
        roleset("call_up.08", "v:call_up"),
        roleset("come_to_terms.14", "m:come_to_terms"),
        roleset("resign.01", "v:resign n:resignation"),
        roleset("walk.01", "v:walk n:walk l:take_walk"),
        roleset("spin.01", "v:spin"),
        roleset("wheelspin.01", "v:wheelspin n:wheelspin"),
        roleset("boob_out.01", "v:boob_out"),
        roleset("email.01", "v:email n:email"),
        roleset("sympathize.01", "v:sympathize"),
        roleset("surf.01", "v:surf"),
        roleset("laugh.01", "v:laugh"),
        roleset("say.01", "v:say"),
        roleset("take_over.12", "v:take_over n:takeover"),
    ]
)
TRAINING = [
    *[sentence("he calls", (1, "call.01", {0: "A0"}), lemmas="he call")] * 3,
    sentence("he calls up", (1, "call_up.08", {0: "A0"}), lemmas="he call up"),
    sentence("he takes a walk", (1, "take.LV", {}), (3, "walk.01", {}), lemmas="he take a walk"),
    sentence("they spin", (1, "wheelspin.01", {}), lemmas="they spin"),
    sentence("they resign", (1, "resign.01", {}), lemmas="they resign"),
    sentence("they frobnicate", (1, "frobnicate.01", {}), lemmas="they frobnicate"),
]
BARE = build_inventory(TRAINING)
ENGLISH = dataclasses.replace(BARE, lemmatizer=Lemmatizer(), frames=FRAMES)


def tagged(text):
    """A sentence from word/tag pairs; the predicate is in capitals."""
    words, tags = zip(*(pair.split("/") for pair in text.split()), strict=True)
    position = next(i for i, word in enumerate(words) if word.isupper())
    return Sentence(tuple(word.lower() for word in words), tags=tags), position


def find(text, lemma, inventory=ENGLISH, frames=FRAMES):
    inventory = dataclasses.replace(inventory, frames=frames)
    return CandidateFinder(inventory).find(*tagged(text), lemma)


def trained(candidates, inventory=ENGLISH):
    return [inventory.senses[i] for i in candidates.ids]


def untrained(candidates):
    return [sense.sense for sense in candidates.untrained]


def test_senses_of_training_and_of_the_frames():
    found = find("he/PRP CALLS/VBZ her/PRP", "call")
    assert trained(found) == ["call.01"]
    assert untrained(found) == ["call.02"]
    assert not found.guessed


def test_an_alias_has_the_senses_of_its_verb():
    """The network scores resign.01, which it knows from *resign*."""
    found = find("the/DT RESIGNATION/NN", "resignation")
    assert (trained(found), untrained(found)) == (["resign.01"], [])
    assert not found.guessed


def test_light_verbs_keep_their_sense_and_get_no_other():
    found = find("he/PRP TAKES/VBZ a/DT walk/NN", "take")
    assert trained(found) == ["take.LV"]
    assert untrained(found) == []


def test_frames_that_were_used_in_training_add_no_light_verbs():
    inventory = build_inventory(TRAINING, frames=FRAMES)
    assert inventory.senses.index("walk.01") in inventory.candidates_of("take")
    inventory = dataclasses.replace(inventory, lemmatizer=Lemmatizer())
    assert trained(find("he/PRP TAKES/VBZ a/DT walk/NN", "take", inventory), inventory) == [
        "take.LV"
    ]
    assert trained(find("he/PRP CALLS/VBZ", "call", inventory), inventory) == ["call.01", "call.02"]


def test_a_part_of_speech_that_the_frames_know_leaves_out_the_others():
    assert untrained(find("a/DT CALL/NN", "call")) == ["call.02"]
    assert trained(find("a/DT CALL/NN", "call")) == []  # call.01 is a sense of the verb only
    assert trained(find("a/DT SPIN/NN", "spin")) == []
    assert untrained(find("a/DT SPIN/NN", "spin")) == ["spin.01"]  # no alias is a noun


@pytest.mark.parametrize(
    ("text", "has_off"),
    [
        ("he/PRP CALLED/VBD off/RP the/DT trip/NN", True),
        ("he/PRP CALLED/VBD the/DT trip/NN off/RP", True),
        ("he/PRP CALLED/VBD the/DT trip/NN Off/RP", True),
        ("off/IN he/PRP CALLED/VBD", False),
        ("he/PRP CALLED/VBD the/DT trip/NN", False),
        ("he/PRP CALLED/VBD to/TO put/VB off/RP", False),  # the particle of another verb
        ("CALL/VB " + "the/DT " * (WINDOW - 1) + "off/RP", True),
        ("CALL/VB " + "the/DT " * WINDOW + "off/RP", False),
    ],
)
def test_a_particle_must_follow(text, has_off):
    found = find(text, "call")
    assert ("call_off.06" in untrained(found)) == has_off
    assert "call_up.08" not in trained(found)


def test_the_particle_of_a_trained_sense_must_follow_too():
    assert "call_up.08" in trained(find("he/PRP CALLS/VBZ her/PRP up/RP", "call"))


def test_all_words_of_an_expression_must_follow():
    assert untrained(find("we/PRP COME/VBP to/IN some/DT terms/NNS", "come")) == [
        "come_to_terms.14"
    ]
    # It is the only sense of the lemma, so it is kept where nothing fits.
    assert untrained(find("we/PRP COME/VBP home/RB", "come")) == ["come_to_terms.14"]


def test_a_noun_made_of_verb_and_particle_needs_no_particle():
    assert untrained(find("a/DT TAKEOVER/NN", "takeover")) == ["take_over.12"]


@pytest.mark.parametrize(
    ("text", "fits"),
    [("they/PRP SPIN/VBP", False), ("wheel/NN SPIN/VBP", True), ("wheel/NN -/HYPH SPIN/VBP", True)],
)
def test_the_first_part_of_a_compound_must_precede(text, fits):
    assert ("wheelspin.01" in trained(find(text, "spin"))) == fits


@pytest.mark.parametrize(
    ("text", "odds"),
    [
        ("CALL/VB off/RP", PARTICLE_ODDS["RP", 1]),
        ("CALL/VB it/PRP off/RP", PARTICLE_ODDS["RP", 2]),
        ("CALL/VB off/RB", PARTICLE_ODDS["RB", 1]),
        ("CALL/VB off/IN", OTHER_PARTICLE_ODDS),
    ],
)
def test_tag_and_distance_of_the_particle_give_the_odds(text, odds):
    found = {sense.sense: sense.odds for sense in find(text, "call").untrained}
    assert found == {"call.02": UNTRAINED_ODDS, "call_off.06": odds, "call_off.09": odds}


def test_a_particle_that_a_trained_sense_has_gives_no_odds():
    frames = FrameIndex.from_rolesets([*FRAMES, roleset("call_up.20", "v:call_up")])
    found = find("CALL/VB up/RP", "call", frames=frames)
    assert {sense.sense: sense.odds for sense in found.untrained} == {
        "call.02": UNTRAINED_ODDS,
        "call_up.20": UNTRAINED_ODDS,
    }


def test_words_without_tags_have_all_parts_of_speech():
    finder = CandidateFinder(ENGLISH)
    found = finder.find(Sentence(("call", "off")), 0, "call")
    assert trained(found) == ["call.01"]
    assert untrained(found) == ["call.02", "call_off.06", "call_off.09"]


@pytest.mark.parametrize(
    ("lemma", "sense"),
    [
        ("e-mail", "email.01"),
        ("sympathise", "sympathize.01"),
        ("surfing", "surf.01"),
        ("said", "say.01"),
    ],
)
def test_other_spellings_and_forms_of_a_known_lemma(lemma, sense):
    found = find("it/PRP X/NN", lemma)
    assert untrained(found) == [sense]
    assert not found.guessed


@pytest.mark.parametrize(
    ("lemma", "found"),
    [
        ("laughter", ["laugh.01"]),  # derived
        ("resigm", ["resign.01"]),  # misspelled
        ("sympathetic", ["sympathize.01"]),
        ("sympetric", []),
        ("lau", []),
        ("zygote", []),
    ],
)
def test_an_unknown_lemma_is_a_guess_by_those_spelled_like_it(lemma, found):
    candidates = find("X/NN", lemma)
    assert trained(candidates) + untrained(candidates) == found
    assert candidates.guessed


@pytest.mark.parametrize(
    ("text", "lemma", "frames", "is_predicate"),
    [
        ("a/DT ZYGOTE/NN", "zygote", FRAMES, False),
        ("it/PRP ZYGOTES/VBZ", "zygote", FRAMES, True),
        ("it/PRP RE-ZYGOTES/VBZ", "re-zygote", FRAMES, True),
        ("it/PRP X/VBZ", "<pause>", FRAMES, False),
        ("the/DT LAUGHTER/NN", "laughter", FRAMES, False),
        ("the/DT RESIGNATION/NN", "resignation", FRAMES, True),
        ("a/DT ZYGOTE/NN", "zygote", NO_FRAMES, True),
    ],
)
def test_only_verbs_can_be_predicates_that_nobody_knows(text, lemma, frames, is_predicate):
    finder = CandidateFinder(dataclasses.replace(ENGLISH, frames=frames))
    where = tagged(text)
    assert finder.is_predicate(*where, finder.find(*where, lemma)) == is_predicate


def test_a_lemma_of_training_alone_is_known():
    found = find("they/PRP FROBNICATE/VBP", "frobnicate")
    assert (trained(found), untrained(found), found.guessed) == (["frobnicate.01"], [], False)


def test_frames_are_not_used_for_other_languages():
    found = find("CALL/NN off/RP", "call", BARE)
    assert trained(found, BARE) == ["call.01", "call_up.08"]
    assert untrained(found) == []
    assert find("X/NN", "laughter", BARE).guessed


def test_particles_are_looked_for_without_frames():
    assert trained(find("CALL/VB her/PRP", "call", frames=NO_FRAMES)) == ["call.01"]


def test_what_is_kept_for_a_lemma_does_not_depend_on_the_sentence():
    finder = CandidateFinder(ENGLISH)
    texts = ["CALL/VB off/RP", "CALL/VB it/PRP", "a/DT CALL/NN", "CALL/VB off/RP"]
    shared = [finder.find(*tagged(text), "call") for text in texts]
    assert shared == [find(text, "call") for text in texts]


def scores_of(values):
    return np.array(values, dtype=np.float32)


def softmax(logits):
    powers = np.exp(np.array(logits, dtype=np.float64))
    return powers / powers.sum()


floats = st.floats(-8, 8, width=32)


@given(
    st.lists(floats, min_size=1, max_size=4),
    st.lists(floats, min_size=2, max_size=2),
    st.lists(st.sampled_from([UNTRAINED_ODDS, 3.0, -0.2]), max_size=5),
)
def test_senses_with_the_same_odds_share_them(logits, patterns, odds):
    """Of three groups, each has its odds against all that come before it."""
    more = tuple(Untrained(f"s{n}.01", n % 2, each) for n, each in enumerate(odds))
    candidates = Candidates(tuple(range(len(logits))), more, "s", False)
    names, scored = score_senses(
        candidates, scores_of(logits), scores_of(patterns), frozenset(), FRAMES
    )
    probs = softmax(scored)
    assert sorted(names) == sorted(sense.sense for sense in more)
    before = probs[: len(logits)].sum()
    np.testing.assert_allclose(
        probs[: len(logits)] / before, softmax(scores_of(logits)), rtol=1e-4, atol=1e-7
    )
    of_sense = {sense.sense: sense.odds for sense in more}
    position = len(logits)
    while position < len(probs):
        own = of_sense[names[position - len(logits)]]
        size = odds.count(own)
        group = probs[position : position + size].sum()
        assert math.log(group / before) == pytest.approx(own, abs=1e-3)
        before, position = before + group, position + size


@given(st.lists(floats, min_size=1, max_size=5))
def test_probability_of_a_class(logits):
    for best, expected in enumerate(softmax(logits)):
        assert probability_of(best, scores_of(logits)) == pytest.approx(expected, rel=1e-4)


def test_a_probability_near_1_is_not_rounded_to_it():
    assert 1 - probability_of(0, scores_of([20, 0])) == pytest.approx(math.exp(-20), rel=1e-3)


def test_patterns_and_roles_divide_the_odds():
    """call.02 has A2, call.01 has not; both numbers are equally probable otherwise."""
    candidates = Candidates((), (Untrained("call.01", 0), Untrained("call.02", 1)), "call", False)
    flat, two = scores_of([0, 0]), scores_of([0, 2])
    none = scores_of([])
    names, scored = score_senses(candidates, none, flat, frozenset({"A0", "A2"}), FRAMES)
    assert names == ("call.01", "call.02")
    np.testing.assert_allclose(softmax(scored), softmax(scores_of([0, 1])))
    _, scored = score_senses(candidates, none, two, frozenset({"A0"}), FRAMES)
    np.testing.assert_allclose(softmax(scored), softmax(two))


def test_a_sense_without_pattern_scores_like_the_least_probable_pattern():
    candidates = Candidates((), (Untrained("call.01", 0), Untrained("x.77", None)), "x", False)
    _, scored = score_senses(candidates, scores_of([]), scores_of([3, -2]), frozenset(), FRAMES)
    np.testing.assert_allclose(scored, [3, -2])


def test_a_guess_is_the_first_sense_of_an_english_lemma():
    first, light = (ENGLISH.patterns.id(pattern) for pattern in ("{}.01", "{}.LV"))
    patterns = np.zeros(len(ENGLISH.patterns), dtype=np.float32)
    patterns[light] = 2
    sense, probability = guess_sense("zygote", patterns, ENGLISH)
    assert (sense, probability) == ("zygote.01", pytest.approx(float(softmax(patterns)[first])))
    sense, probability = guess_sense("zygote", patterns, BARE)
    assert (sense, probability) == ("zygote.LV", pytest.approx(float(softmax(patterns)[light])))
