"""English lemmas and the words that senses need; more is in tests/predict/test_candidates.py."""

import pytest

from capsrl.frames.english import (
    Context,
    can_follow,
    context_of,
    nearest_lemma,
    previous_word,
    spellings_of,
)
from capsrl.frames.index import FrameIndex, Roleset
from capsrl.sentence import Sentence

FRAMES = FrameIndex.from_rolesets(
    [
        Roleset("pull_ones_weight.20", (("m", "pull_ones_weight"),), ()),
        Roleset("wheelspin.01", (("v", "wheelspin"),), ()),
        Roleset("make_fun.04", (("l", "make_fun"),), ()),
    ]
)


@pytest.mark.parametrize(
    ("lemma", "spellings"),
    [
        ("walk", {"walk"}),
        ("e-mail", {"e-mail", "email"}),
        ("organisation", {"organisation", "organization"}),
        ("analyse", {"analyse", "analyze"}),
        ("favour", {"favour", "favor"}),
        ("fulfill", {"fulfill", "fulfil"}),
        ("catalogue", {"catalogue", "catalog"}),
        ("surfing", {"surfing", "surf"}),
    ],
)
def test_spellings(lemma, spellings):
    found = list(spellings_of(lemma))
    assert found[0] == lemma and set(found) == spellings


def test_nearest_lemma():
    known = ["infer", "influence", "inform"]
    assert nearest_lemma("influnce", known) == "influence"  # misspelled
    assert nearest_lemma("informal", known) == "inform"  # derived
    assert nearest_lemma("inept", known) is None
    assert nearest_lemma("inept", []) is None


def test_context_of_a_sense():
    weight = context_of("pull_ones_weight.20", "pull", FRAMES, is_listed=True)
    assert weight == Context(after=("weight",))  # whose weight it is may vary
    assert context_of("wheelspin.01", "spin", FRAMES, is_listed=False) == Context(before="wheel")
    assert context_of("wheelspin.01", "wheelspin", FRAMES, is_listed=True) == Context()
    # The verb is not always the word before: *made endless fun of it*.
    assert context_of("make_fun.04", "fun", FRAMES, is_listed=False) == Context()


def test_distance_of_the_first_word():
    words = Sentence(tuple("they put up with the noise".split()))
    assert Context(after=("up", "with")).distance(words, 1) == 1
    assert Context(after=("with", "up")).distance(words, 1) is None
    assert Context(before="they").distance(words, 1) == 0
    assert Context(before="we").distance(words, 1) is None


def test_words_around_a_predicate():
    sentence = Sentence(("Wheel", "-", "SPIN", "It", "Up"))
    assert previous_word(sentence, 2) == "wheel"
    assert previous_word(sentence, 0) == ""
    assert can_follow({"up"}, sentence, 2)
    assert not can_follow({"up"}, sentence, 4)
    assert not can_follow(frozenset(), sentence, 2)
