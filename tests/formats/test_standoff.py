"""Spans without head words, and text with offsets instead of words, in JSON lines."""

import json
import re

import pytest

from capsrl import Argument, Proposition, Sentence
from capsrl.errors import DataError
from capsrl.formats.jsonl import read_jsonl
from capsrl.formats.standoff import mark

TEXT = "We met. Mira sold her old bicycle to Omar."
SOLD = {"start": 13, "end": 17, "sense": "sell.01"}
ROLES = [{"role": "A0", "start": 8, "end": 12}, {"role": "A1", "start": 18, "end": 33}]


def read(value):
    return list(read_jsonl([json.dumps(value)], source="f"))


def heads(sentence):
    [proposition] = sentence.propositions
    return proposition.form, [(a.role, a.form, a.phrase.text) for a in proposition.arguments]


def test_text_and_offsets():
    met, sold = read({"id": "d", "text": TEXT, "propositions": [SOLD | {"arguments": ROLES}]})
    assert (met.words, met.id, sold.id) == (("We", "met", "."), "d-1", "d-2")
    assert heads(sold) == ("sold", [("A0", "Mira", "Mira"), ("A1", "bicycle", "her old bicycle")])
    assert sold.propositions[0].start == 5 and sold.start == 8
    [alone] = read({"id": "d", "text": "We met.", "propositions": []})
    assert alone.id == "d"


@pytest.mark.parametrize("phrase", [[2, 4], {"first": 2, "last": 4}])
def test_phrases_without_heads(phrase):
    words = ["Mira", "sold", "her", "old", "bicycle"]
    arguments = [{"role": "A0", "word": 0, "probability": 0.5}, {"role": "A1", "phrase": phrase}]
    value = {"words": words, "propositions": [{"predicate": 1, "arguments": arguments}]}
    [found] = read(value)
    [proposition] = found.propositions
    assert [(a.role, a.word) for a in proposition.arguments] == [("A0", 0), ("A1", 4)]
    assert proposition.arguments[0].probability == 0.5 and proposition.arguments[0].phrase is None


def test_words_and_offsets():
    value = {"words": ["Dogs", "bark"], "text": "Dogs bark", "offsets": [[0, 4], [5, 9]]}
    span = {"start": 5, "end": 9, "arguments": [{"role": "A0", "start": 0, "end": 4}]}
    [found] = read(value | {"propositions": [span]})
    assert heads(found) == ("bark", [("A0", "Dogs", "Dogs")])


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"role": "A0", "start": 0, "end": 12}, "f:1: expected a span inside one sentence"),
        ({"role": "A0", "start": 12, "end": 13}, "'A0' at 12 to 13"),
        ({"role": "A0"}, "f:1: expected words, or start and end, of"),
        ({"role": "A0", "phrase": [7, 90]}, "f:1: expected a phrase of first and last word among"),
    ],
)
def test_mistakes(argument, message):
    with pytest.raises(DataError, match=message):
        read({"text": TEXT, "propositions": [SOLD | {"arguments": [argument]}]})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": None}, "f:1: expected an object with start and end, got {'start': None"),
        ({"start": "13"}, "got {'start': '13'"),
        ({"end": 17.0}, "'end': 17.0"),
        ({"end": True}, "'end': True"),
        ({"start": -1}, "'start': -1"),
        ({"arguments": 3}, "'arguments': 3"),
        ({"arguments": [7]}, "got 7"),
        ({"arguments": [{"role": "A0", "start": [], "end": 4}]}, "got {'role': 'A0', 'start': "),
        ({"details": "x"}, "'details': 'x'"),
    ],
)
def test_odd_spans(change, message):
    with pytest.raises(DataError, match=re.escape(message)):
        list(read_jsonl([json.dumps({"text": TEXT, "propositions": [SOLD | change]})], source="f"))


def test_nothing_is_left_out():
    for propositions in ([SOLD, 7], [SOLD, None]):
        with pytest.raises(DataError, match="f:1: expected an object with start and end"):
            read({"text": TEXT, "propositions": propositions})
    with pytest.raises(DataError, match="f:1: id: expected a string, got 7"):
        read({"id": 7, "text": TEXT, "propositions": [SOLD]})


@pytest.mark.parametrize("phrase", [3, "ab", [1, 2, 3], {"first": "a", "last": 2}])
def test_odd_phrases(phrase):
    argument = {"role": "A0", "phrase": phrase}
    words = {"words": ["a", "b", "c"], "propositions": [{"predicate": 0, "arguments": [argument]}]}
    with pytest.raises(DataError, match="f:1: expected a phrase of first and last word"):
        read(words)


def test_empty_words_have_no_span():
    with pytest.raises(DataError, match="a word of a proposition is empty; use JSONL"):
        mark([Sentence(("a", ""), (Proposition(0, "a.01", (Argument("A0", 1),)),))])
