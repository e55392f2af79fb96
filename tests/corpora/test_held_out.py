import pytest

from capsrl.sentence import Argument, Proposition, Sentence
from corpora.held_out import HeldOut, HeldOutPairs

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


@pytest.mark.parametrize(
    ("text", "lemmas", "overlap"),
    [
        ("She feeds cats", "she feed cat", True),  # feed and cat
        ("He fed cats", "he feed cat", True),
        ("She feeds dogs", "she feed dog", False),
        ("She calls cats", "she call cat", False),  # of two sentences
    ],
)
def test_pairs(text, lemmas, overlap):
    held_out = [Sentence(tuple(each.split())) for each in ("She fed a cat", "She called him")]
    sentence = Sentence(
        tuple(text.split()),
        (Proposition(1, "x.01", (Argument("A0", 0), Argument("A1", 2))),),
        lemmas=tuple(lemmas.split()),
        tags=("PRP", "VBZ", "NNS"),
    )
    assert HeldOutPairs(held_out).overlap(sentence) is overlap
