"""Phrases from the parse of a Doc."""

import pytest
import spacy
from spacy.tokens import Doc

from capsrl.spacy.parse import Parse

# As spaCy's English pipelines parse it: prepositions are the heads of their objects.
WORDS = "She walked in the dark of night with people who left after leaving it .".split()
HEADS = [1, 1, 1, 4, 2, 4, 5, 1, 7, 10, 8, 1, 11, 12, 1]
DEPS = "nsubj ROOT prep det pobj prep pobj prep pobj nsubj relcl prep pcomp dobj punct".split()


def parse(deps=DEPS, heads=HEADS):
    doc = Doc(spacy.blank("en").vocab, words=WORDS, heads=heads, deps=deps)
    [sentence] = doc.sents
    return doc, Parse(sentence)


def phrase(predicate, word, **changes):
    doc, tree = parse(**changes)
    first, last = tree.phrase(doc[predicate], "A1", doc[word])
    return doc[first : last + 1].text


@pytest.mark.parametrize(
    ("predicate", "word", "expected"),
    [
        (1, 4, "in the dark of night"),  # the model names the object of a preposition
        (1, 2, "in the dark of night"),  # or the preposition itself
        (1, 12, "after leaving it"),
        (4, 6, "of night"),
        (1, 8, "with people who left"),
        (10, 8, "people"),  # the predicate is below the word: *with* is not part of its argument
        (12, 13, "it"),
        (1, 0, "She"),
    ],
)
def test_prepositions(predicate, word, expected):
    assert phrase(predicate, word) == expected


def test_the_predicate_is_not_part_of_its_phrase():
    assert phrase(2, 4) == "the dark of night"


def test_a_root_called_object():
    """Relations may be anything; the search for a preposition ends."""
    assert phrase(0, 1, deps=["pobj"] * len(DEPS)).endswith("leaving it")


def test_other_sentences():
    doc, tree = parse()
    other = Doc(doc.vocab, words=["Go"] * 20, heads=[0] * 20, deps=["dep"] * 20)
    assert tree.phrase(doc[1], "A1", other[19]) is None
    assert tree.phrase(other[19], "A1", doc[1]) is None
