import pytest

from capsrl.sentence import Sentence
from corpora.held_out import HeldOut

LONG = "The old ferry leaves from the second pier at nine every Sunday ."
SHORT = "Thanks a lot !"


@pytest.fixture
def held_out():
    return HeldOut([Sentence(tuple(LONG.split())), Sentence(tuple(SHORT.split()))])


@pytest.mark.parametrize(
    ("text", "overlaps"),
    [
        (LONG, True),
        ('" THE OLD FERRY leaves , from the second pier "', True),  # seven words, then an eighth
        ("He says ferry leaves from the second pier at nine every week", True),
        ("The old ferry leaves from the second", False),  # seven words
        ("Thanks , a lot", True),
        ("Thanks a lot for the ferry", False),
        ("Thanks a", False),
        ("...", False),
        ("", False),
    ],
)
def test_overlap(held_out, text, overlaps):
    assert held_out.overlaps(text.split()) is overlaps


def test_marks_alone_are_not_compared():
    assert not HeldOut([Sentence(("...",)), Sentence(())]).overlaps(["?!"])
