import pytest

from capsrl.score import PRF, score
from capsrl.score.primesrl import is_core, merge_arguments
from tests.helpers.score_sentences import sentence


def merged(arguments):
    return merge_arguments(
        sentence("a b c d e f", (0, "x.01", arguments)).propositions[0].arguments
    )


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 C-A0:3", {("A0", (1, 3))}),
        ("C-A0:1 A0:3", {("A0", (1, 3))}),
        ("C-A0:1 C-A0:3", {("A0", (1, 3))}),
        ("C-A0:1", {("A0", (1,))}),
        ("A0:1 A1:2 C-A1:4 C-A1:5", {("A0", (1,)), ("A1", (2, 4, 5))}),
        ("A0:1 A0:2 C-A0:3", {("A0", (1, 3)), ("A0", (2,))}),
        ("A0:1 R-A0:2", {("A0", (1,)), ("R-A0", (2, 1))}),
        ("R-A0:1 A0:2", {("A0", (2,)), ("R-A0", (1, 2))}),
        ("R-A0:1", {("R-A0", (1,))}),
        ("A0:1 R-A0:2 C-A0:3", {("A0", (1, 3)), ("R-A0", (2, 1))}),
        ("C-V:1 AM-TMP:2", {("AM-TMP", (2,))}),
        ("COND:1 REG:2 _:3 -:4", {("COND", (1,)), ("REG", (2,))}),
    ],
)
def test_pieces_are_merged(arguments, expected):
    assert merged(arguments) == expected


def test_core_roles_are_the_numbered_ones():
    assert [role for role in ("A0", "R-A1", "arg2-atr", "AM-TMP", "AA", "GA") if is_core(role)] == [
        "A0",
        "R-A1",
        "arg2-atr",
    ]


SOLD = "Last week Mary sold the boat"
TRUE = (3, "sell.01", "AM-TMP:1 A0:2 A1:5")


@pytest.mark.parametrize("sense", ["sell.02", "buy.01", "buy.02"])
def test_core_arguments_fall_with_a_wrong_sense(sense):
    pred = sentence(SOLD, (3, sense, "AM-TMP:1 A0:2 A1:5"))
    counts = score([sentence(SOLD, TRUE)], [pred], mode="primesrl").counts
    assert counts.arguments == PRF(correct=1, gold=3, pred=3)
    assert counts.core_arguments == PRF(correct=0, gold=2, pred=2)
    assert counts.context_arguments == PRF(correct=1, gold=1, pred=1)
    assert counts.labeled == PRF(correct=1, gold=4, pred=4)
    assert counts.predicates.f1 == 100 and counts.sense_accuracy == 0


# A continued argument: "Some rumours [A0] have spread [pred] lately about the merger [C-A0]".
RUMOURS = "Some rumours have spread fear lately about the merger"
CONTINUED = (3, "spread.01", "A0:1 A1:4 AM-TMP:5 C-A0:8")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 A1:4 AM-TMP:5 C-A0:8", PRF(3, 3, 3)),
        ("A0:1 A1:4 AM-TMP:5 C-A2:8", PRF(2, 3, 4)),  # a piece lost, and a stray A2
        ("A2:1 A1:4 AM-TMP:5 C-A0:8", PRF(2, 3, 4)),
        ("A2:1 A1:4 AM-TMP:5 C-A2:8", PRF(2, 3, 3)),  # whole, but the wrong role
        ("C-A0:1 A1:4 AM-TMP:5 A0:8", PRF(3, 3, 3)),  # which piece is called C- is no mistake
        ("C-A0:1 A1:4 AM-TMP:5 C-A0:8", PRF(3, 3, 3)),
        ("A2:1 A1:4 AM-TMP:5 C-A1:8", PRF(1, 3, 3)),
        ("A0:1 A1:4 AM-TMP:5", PRF(2, 3, 3)),
    ],
)
def test_a_continued_argument_is_right_as_a_whole(arguments, expected):
    pred = sentence(RUMOURS, (3, "spread.01", arguments))
    counts = score([sentence(RUMOURS, CONTINUED)], [pred], mode="primesrl").counts
    assert counts.arguments == expected


# A reference: "the bridge [A0] that [R-A0] crosses [pred] here the river [A1]".
BRIDGE = "the bridge that crosses the river"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("A0:1 R-A0:2 A1:5", PRF(3, 3, 3)),
        ("A2:1 R-A0:2 A1:5", PRF(1, 3, 3)),  # the reference lost what it refers to
        ("A0:1 R-A2:2 A1:5", PRF(2, 3, 3)),
        ("A2:1 R-A2:2 A1:5", PRF(1, 3, 3)),
        ("A0:0 R-A0:2 A1:5", PRF(1, 3, 3)),  # it refers to another word
        ("R-A0:1 R-A0:2 A1:5", PRF(1, 3, 3)),
        ("R-A0:1 A0:2 A1:5", PRF(1, 3, 3)),
    ],
)
def test_a_reference_is_right_with_what_it_refers_to(arguments, expected):
    gold = sentence(BRIDGE, (3, "cross.02", "A0:1 R-A0:2 A1:5"))
    pred = sentence(BRIDGE, (3, "cross.02", arguments))
    assert score([gold], [pred], mode="primesrl").counts.arguments == expected
