"""Senses of the model that ships: they exist, and particles and aliases decide."""

from itertools import islice

import pytest

from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.sentence import Sentence

TAGS = ("DT", "NN", "IN", "DT", "NN", "VBD", "PRP", ".")


def senses(labeler, text):
    return {p.form: p.sense for sentence in labeler.label(text) for p in sentence.propositions}


@pytest.mark.parametrize(
    ("text", "word", "sense"),
    [
        ("The director called off the rehearsal.", "called", "call_off.06"),
        ("She gave in at last.", "gave", "give_in.09"),
        ("The resignation of the mayor surprised everyone.", "resignation", "resign.01"),
        ("Their refusal to sign angered him.", "refusal", "refuse.01"),
        ("This belies his promise.", "belies", "belie.01"),
        ("The evacuation of the island took a week.", "evacuation", "evacuate.01"),
    ],
)
def test_senses_by_particle_and_alias(labeler, text, word, sense):
    assert senses(labeler, text)[word] == sense


@pytest.mark.parametrize("text", ["She called her brother.", "They turned left and stopped."])
def test_no_particle_no_sense_with_one(labeler, text):
    assert not any("_" in sense for sense in senses(labeler, text).values())


def test_a_word_nobody_knows_is_marked_as_a_guess(labeler):
    (sentence,) = labeler.label(Sentence(("They", "zorbled", "the", "cake", ".")), at=[1])
    (proposition,) = sentence.propositions
    assert proposition.guessed
    (sentence,) = labeler.label(Sentence(("They", "baked", "the", "cake", ".")), at=[1])
    assert not sentence.propositions[0].guessed


def test_a_marked_noun_that_nobody_knows_is_labeled(labeler):
    words = ("The", "zorb", "of", "the", "cake", "surprised", "us", ".")
    (marked,) = labeler.label(Sentence(words, tags=TAGS), at=[1])
    assert [p.guessed for p in marked.propositions] == [True]
    (found,) = labeler.label(Sentence(words, tags=TAGS), predicates="found")
    assert 1 not in found.predicates and 5 in found.predicates


def test_every_sense_is_in_the_frames_or_in_training(labeler, shared):
    file = shared / "data" / "en_masc" / "ood.conll09.xz"
    gold = islice(read_conll09(read_lines(file), source=str(file)), 0, None, 40)
    bare = [Sentence(sentence.words) for sentence in gold]
    inventory = labeler.inventory
    known = set(inventory.senses) | {roleset.sense for roleset in inventory.frames}
    found = [
        proposition
        for sentence in labeler.label_sentences(bare, predicates="found")
        for proposition in sentence.propositions
    ]
    assert len(found) > 300
    assert [p.sense for p in found if p.sense not in known and not p.guessed] == []
    # measured on all of en_masc: docs/labeling.md
    assert sum(p.guessed for p in found) <= 0.02 * len(found)
