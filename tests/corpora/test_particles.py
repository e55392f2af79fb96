"""Particles are moved behind short objects, with the roles of all words."""

from dataclasses import replace

import pytest

from capsrl.sentence import Argument, Proposition, Sentence
from corpora.particles import move_particles

#        0      1     2    3       4    5  6     7
WORDS = "Later  Ann   took off    her  wet coat  outside".split()
TAGS = "RB      NNP   VBD  RP     PRP$ JJ  NN    RB".split()
HEADS = (2, 2, None, 2, 6, 6, 2, 2)
TOOK = Proposition(
    2,
    "take_off.07",
    (Argument("AM-TMP", 0), Argument("A0", 1), Argument("A1", 6), Argument("AM-LOC", 7)),
)
COAT = Sentence(
    tuple(WORDS),
    (TOOK, Proposition(5, "wet.01")),
    lemmas=tuple(word.lower() for word in WORDS),
    tags=tuple(TAGS),
    heads=HEADS,
    relations=("dep",) * 8,
)


def test_the_particle_is_behind_the_object():
    (moved,) = move_particles([COAT])
    assert " ".join(moved.words) == "Later Ann took her wet coat off outside"
    assert moved.tags == ("RB", "NNP", "VBD", "PRP$", "JJ", "NN", "RP", "RB")
    assert moved.lemmas is not None and moved.lemmas[6] == "off"
    (took,) = moved.propositions
    assert (took.predicate, took.sense) == (2, "take_off.07")
    roles = {each.role: moved.words[each.word] for each in took.arguments}
    assert roles == {
        "AM-TMP": "Later",
        "A0": "Ann",
        "A1": "coat",
        "C-V": "off",
        "AM-LOC": "outside",
    }


@pytest.mark.parametrize(
    "sentence",
    [
        COAT.with_propositions([replace(TOOK, sense="take.01")]),  # off is not part of the sense
        replace(COAT, tags=(*TAGS[:3], "IN", *TAGS[4:])),  # a preposition
        replace(COAT, tags=(*TAGS[:5], "VBG", *TAGS[6:])),  # more than a noun and its modifiers
        replace(COAT, heads=(2, 2, None, 2, 6, 2, 2, 2)),  # the object begins later
        replace(COAT, heads=None, relations=None),  # its phrase is not known
        COAT.with_propositions([replace(TOOK, arguments=TOOK.arguments[:2])]),  # no object
        Sentence(("Take", "off"), (Proposition(0, "take_off.07"),), tags=("VB", "RP")),
        Sentence(("Take",), (Proposition(0, "take_off.07"),), tags=("VB",)),
    ],
)
def test_other_sentences_are_left_out(sentence):
    assert list(move_particles([sentence])) == []


def test_long_objects_stay():
    words = (*WORDS[:4], "her", "old", "red", "wool", "coat")
    tags = (*TAGS[:4], "PRP$", "JJ", "JJ", "NN", "NN")
    took = Proposition(2, "take_off.07", (Argument("A1", 8),))
    sentence = Sentence(words, (took,), tags=tags, heads=(2, 2, None, 2, 8, 8, 8, 8, 2))
    assert list(move_particles([replace(sentence, relations=("dep",) * 9)])) == []
