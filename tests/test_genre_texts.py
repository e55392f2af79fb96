"""The texts by genre are well formed, and answers to them are counted right."""

from collections import Counter
from dataclasses import replace

import pytest

from benchmarks.challenge import Case, Fact, answer, read_challenge
from benchmarks.genre_texts import TEXTS, judge, parts_of, table
from capsrl.frames.index import FrameIndex
from capsrl.sentence import Argument, Proposition
from capsrl.text.sentences import read_text
from tests.test_challenge import CASES as CHALLENGE
from tests.test_challenge import FRAMES, MODIFIERS, named, perfect

CASES = read_challenge(TEXTS)
# More modifiers, and the particle of a verb that stands apart.
OTHERS = {"AM-DIS", "AM-EXT", "C-V", *(f"AM-{name}" for name in MODIFIERS)}


def test_size():
    genres = Counter(case.phenomenon for case in CASES)
    assert genres == dict.fromkeys("headlines chat instructions sports medical".split(), 40)
    texts = {case.text.lower() for case in CASES}
    assert len(texts) == len(CASES)
    assert not texts & {case.text.lower() for case in CHALLENGE}


def test_parts():
    parts = Counter(
        (case.phenomenon, part) for case, part in zip(CASES, parts_of(CASES), strict=True)
    )
    assert set(parts.values()) == {20}


@pytest.mark.parametrize("case", CASES, ids=named)
def test_words_are_found_and_all_is_needed(case):
    assert {fact.kind for fact in case.facts} <= {"predicate", "sense", "role"}
    words = answer(read_text(case.text))
    for fact in case.facts:
        assert words.position(fact.predicate) is not None
        assert fact.kind != "role" or words.position(fact.value) is not None
    (sentence,) = perfect(case)
    assert judge(case, [sentence]).is_right
    for proposition in sentence.propositions:
        others = [each for each in sentence.propositions if each != proposition]
        assert not judge(case, [sentence.with_propositions(others)]).is_right
        for argument in proposition.arguments:
            rest = tuple(each for each in proposition.arguments if each != argument)
            poorer = sentence.with_propositions([*others, replace(proposition, arguments=rest)])
            assert not judge(case, [poorer]).is_right


def test_senses_and_roles_are_those_of_the_frames():
    frames = FrameIndex.load(FRAMES)
    for case in CASES:
        senses = {fact.predicate: fact.value for fact in case.facts if fact.kind == "sense"}
        assert all(map(frames.has, senses.values())), named(case)
        for fact in case.facts:
            if fact.kind == "role":
                names = {role.name for role in frames.roles_of(senses[fact.predicate])}
                assert fact.role.removeprefix("R-") in names | OTHERS, f"{named(case)}: {fact}"


CASE = Case(
    "chat",
    "she sold it after work",
    (
        Fact("predicate", "sold"),
        Fact("sense", "sold", value="sell.01"),
        Fact("role", "sold", "A0", "she"),
        Fact("role", "sold", "A1", "it"),
    ),
)


def labeled(*propositions, tags=("PRP", "VBD", "PRP", "IN", "NN")):
    (sentence,) = read_text(CASE.text)
    return [sentence.with_tags(tags).with_propositions(propositions)]


SOLD = Proposition(1, "sell.01", (Argument("A0", 0), Argument("A1", 2)))
WORK = Proposition(4, "work.01", (Argument("A0", 0),))


def test_other_verbs_count_and_nouns_do_not():
    assert judge(CASE, labeled(SOLD)).is_right
    assert judge(CASE, labeled(SOLD, WORK)).is_right
    wrong = judge(CASE, labeled(SOLD, WORK, tags=("PRP", "VBD", "PRP", "IN", "VB")))
    assert list(wrong.differences()) == ["+work = work.01", "+work: A0 she"]


def test_differences():
    wrong = replace(SOLD, sense="sell.02", arguments=(Argument("A0", 0), Argument("A2", 2)))
    assert list(judge(CASE, labeled(wrong)).differences()) == [
        "-sold = sell.01",
        "-sold: A1 it",
        "+sold = sell.02",
        "+sold: A2 it",
    ]


def test_table():
    half = replace(SOLD, arguments=(Argument("A0", 0), Argument("A2", 2), Argument("A3", 4)))
    results = [judge(CASE, labeled(SOLD)), judge(CASE, labeled(half))]
    assert [line.split() for line in table(results)] == [
        ["genre", "texts", "right", "%", "arguments", "precision", "recall", "F1"],
        ["chat", "2", "1", "50.0", "4", "60.0", "75.0", "66.7"],
        ["all", "2", "1", "50.0", "4", "60.0", "75.0", "66.7"],
    ]
