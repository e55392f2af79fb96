"""The head rule: by parse, by tags, by words."""

import pytest

from capsrl import Sentence
from capsrl.text.heads import find_head

TAGGED = [
    ("with/IN my/PRP$ friends/NNS from/IN Oslo/NNP", "friends"),
    ("the/DT continued/VBN growth/NN of/IN towns/NNS", "growth"),
    ("to/TO use/VB Gmail/NNP", "use"),
    ("me/PRP know/VB", "know"),
    ("because/IN she/PRP had/VBD left/VBN early/RB", "left"),
    ("very/RB satisfied/JJ with/IN it/PRP", "satisfied"),
    ("the/DET old/ADJ bicycle/NOUN that/PRON broke/VERB", "bicycle"),
    ("they/PRP are/VBP cool/JJ", "are"),
    ("of/IN the/DT", "the"),
    ("right/RB now/RB", "now"),
    ("her/PRP$ ``/`` naive/JJ ''/'' brother/NN", "brother"),
]


@pytest.mark.parametrize(("tagged", "head"), TAGGED)
def test_by_tags(tagged, head):
    words, tags = zip(*(each.split("/") for each in tagged.split()), strict=True)
    sentence = Sentence(words, tags=tags)
    assert words[find_head(sentence, 0, len(words) - 1)] == head


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("her old bicycle", "bicycle"),
        ("by the House of Lords", "House"),
        ("to close the factory", "close"),
        ("to the shop , later", "shop"),
        ("Mira , who left", "Mira"),
        ("not early", "early"),
        ("of the", "the"),
    ],
)
def test_by_words(text, head):
    words = tuple(text.split())
    assert words[find_head(Sentence(words), 0, len(words) - 1)] == head


def test_by_parse():
    words = (",", "her", "old", "bicycle", "sold")
    sentence = Sentence(words, heads=(4, 3, 3, 4, None), tags=("NN",) * 5)
    assert find_head(sentence, 0, 3) == 3
    assert find_head(sentence, 1, 2) == 1
    assert find_head(sentence, 2, 2) == 2
