import pytest

from capsrl.errors import DataError
from corpora.gold_skel import (
    Skeleton,
    SkeletonProposition,
    Span,
    read_gold_skel,
)
from tests.helpers.published_folders import DOGS_SKELETON, RUN_SKELETON, skeleton


def read(*sentences: str) -> list[Skeleton]:
    text = "".join(skeleton("weblog", "x", n, words) for n, words in enumerate(sentences))
    return list(read_gold_skel(text.split("\n"), source="x.gold_skel"))


def test_tags_senses_and_spans():
    dogs, run = read(DOGS_SKELETON, RUN_SKELETON)
    assert dogs.tags == ("NNS", "WDT", "VB", "VBP", "RB", "VBN", "PRP", ".")
    assert dogs.propositions == (
        SkeletonProposition(2, "bark.01", (Span("A0", 0, 0), Span("R-A0", 1, 1))),
        SkeletonProposition(3, "have.01", ()),
        SkeletonProposition(
            5, "bite.01", (Span("A0", 0, 2), Span("AM-TMP", 4, 4), Span("A1", 6, 6))
        ),
    )
    assert run.propositions[0].spans == (Span("C-V", 1, 1), Span("A1", 3, 4))


def test_spans_in_spans():
    (sentence,) = read("DT - - (ARG1(ARGM-TMP*)\nNN go go.01 *)\nRB - - *")
    assert sentence.propositions[0].spans == (Span("AM-TMP", 0, 0), Span("A1", 0, 1))


def test_a_last_sentence_without_its_blank_line():
    lines = skeleton("weblog", "x", 0, "UH - -").rstrip().split("\n")
    assert list(read_gold_skel(lines)) == [Skeleton(("UH",), ())]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "NN - -\nVB go go.01 (V*)",
            r"^x.gold_skel:1: expected 9 columns \(8 fixed \+ 1 for the predicates of this "
            r"sentence\), got 8$",
        ),
        ("VB go go.01 (V*)\nNN -", r"^x.gold_skel:2: expected 9 columns .*, got 7$"),
        ("VB go go.01 (V*)\nNN - - *)", r"^x.gold_skel:2: expected spans .* got '\*\)'$"),
        ("VB go go.01 (V*)\nNN - - A0", r"^x.gold_skel:2: expected spans .* got 'A0'$"),
        (
            "VB go go.01 (V*)\nNN - - (ARG2*\nRB - - *",
            r"^x.gold_skel:2: \(ARG2\* is not closed in its sentence$",
        ),
    ],
)
def test_damaged_files(words, message):
    with pytest.raises(DataError, match=message):
        read(words)
