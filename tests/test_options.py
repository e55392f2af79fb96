"""The options of labeling."""

import dataclasses
from typing import get_type_hints

import pytest

import capsrl
from capsrl.errors import ConfigError
from capsrl.options import OptionKeywords, Options, make_options


def test_keywords_are_the_fields():
    assert get_type_hints(OptionKeywords) == get_type_hints(Options)
    assert all(field.metadata["help"] for field in dataclasses.fields(Options))


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("predicates", "given", "auto, marked or found"),
        ("pos", [], "some of verb, noun, adjective"),
        ("pos", 3, "some of verb, noun, adjective"),
        ("iterations", 0, "an integer from 1 to 100"),
        ("iterations", 2.0, "an integer from 1 to 100"),
        ("iterations", True, "an integer from 1 to 100"),
        ("threshold", -0.1, "a number from 0 to 1"),
        ("threshold", float("nan"), "a number from 0 to 1"),
        ("threshold", "0.5", "a number from 0 to 1"),
        ("sense_threshold", 1.1, "a number from 0 to 1"),
        ("proposition_threshold", None, "a number from 0 to 1"),
        ("trace", 1, "True or False"),
        ("html", "yes", "True or False"),
        ("one_sentence_per_line", None, "True or False"),
        ("phrases", None, "True or False"),
        ("uncalibrated", 0, "True or False"),
        ("consistent", 1, "True or False"),
    ],
)
def test_bad_values_are_refused(option, value, expected):
    with pytest.raises(ConfigError) as refused:
        Options(**{option: value})
    assert str(refused.value) == f"{option}: expected {expected}, got {value!r}"


@pytest.mark.parametrize("pos", ["foo", ["foo"], ("foo",)])
def test_an_unknown_part_of_speech_is_named(pos):
    with pytest.raises(ConfigError, match="^pos: expected some of verb, noun, adjective, got foo$"):
        Options(pos=pos)


def test_options_are_hashable_and_normalized():
    assert Options(pos="verb").pos == ("verb",)
    assert Options(pos=["noun", "verb", "noun"]).pos == ("verb", "noun")
    assert hash(Options(pos={"verb"})) == hash(Options(pos=["verb"]))
    assert make_options(Options(trace=True), threshold=0.5) == Options(trace=True, threshold=0.5)


def test_the_labeler_is_a_public_name():
    from capsrl.labeler import Labeler

    assert capsrl.Labeler is Labeler
    with pytest.raises(AttributeError, match="module 'capsrl' has no attribute 'Labeller'"):
        _ = capsrl.Labeller
