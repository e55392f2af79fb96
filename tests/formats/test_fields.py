"""One description of a field is enough for JSON, its checks, its schema, tables and spaCy."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from jsonschema import Draft202012Validator

from capsrl.errors import DataError
from capsrl.formats import fields
from capsrl.formats.fields import describe, json_schema, sentence_from_dict, to_plain
from capsrl.sentence import About, Argument, Phrase, Proposition, Sentence, Trace
from capsrl.tables.cells import make_cells
from capsrl.tables.columns import Column, derive_columns


@dataclass(frozen=True, slots=True)
class LongArgument(Argument):
    animate: Annotated[bool, About("flag", 50, (9, "animate")), "it is alive"] = False


@dataclass(frozen=True, slots=True)
class LongProposition(Proposition):
    arguments: Annotated[
        tuple[LongArgument, ...], About("objects", 60, always=True), "one per word and role"
    ] = ()
    tense: Annotated[str | None, About("text", 50, (12, "tense")), "past, present"] = None


@dataclass(frozen=True, slots=True)
class LongSentence(Sentence):
    propositions: Annotated[
        tuple[LongProposition, ...], About("objects", 60, always=True), "predicates"
    ] = ()


PROPOSITION = LongProposition(1, "bark.01", (LongArgument("A0", 0, animate=True),), tense="past")
SENTENCE = LongSentence(("Dogs", "barked"), (PROPOSITION,))


def test_the_committed_schema_is_the_derived_one():
    file = Path(fields.__file__).with_name("schema.json")
    assert json.loads(file.read_text(encoding="utf-8")) == json_schema()


def test_a_new_field_is_in_json():
    data = to_plain(SENTENCE)
    [proposition] = data["propositions"]
    assert list(proposition) == ["predicate", "form", "sense", "tense", "arguments"]
    assert proposition["tense"] == "past"
    assert proposition["arguments"] == [{"role": "A0", "word": 0, "form": "Dogs", "animate": True}]
    assert sentence_from_dict(data, kind=LongSentence) == SENTENCE
    Draft202012Validator(json_schema(LongSentence)).validate(data)
    assert not Draft202012Validator(json_schema()).is_valid(data)


def test_a_new_field_is_checked():
    data = to_plain(SENTENCE)
    data["propositions"][0]["arguments"][0]["animate"] = 1
    with pytest.raises(DataError, match=r"arguments\[0\].animate: expected true or false, got 1"):
        sentence_from_dict(data, kind=LongSentence)
    with pytest.raises(DataError, match=r"propositions\[0\]: expected the keys .*, got 'tense'"):
        sentence_from_dict(data)


def test_a_new_field_has_a_column():
    assert derive_columns(LongProposition)[-1] == Column("tense", "string", "past, present")
    assert derive_columns(LongArgument)[-1] == Column("animate", "bool", "it is alive")
    assert make_cells(LongProposition, PROPOSITION)["tense"] == "past"
    assert make_cells(LongArgument, None)["animate"] is None


def test_a_new_field_is_kept_when_forms_and_offsets_are_filled_in():
    sentence = Sentence(("Dogs", "barked"), offsets=((0, 4), (5, 11)))
    [found] = sentence.with_propositions([PROPOSITION]).propositions
    assert (found.tense, found.start, found.arguments[0].animate) == ("past", 5, True)


def test_a_new_field_is_documented():
    assert "joint_probability      that the sense and all arguments" in Proposition.__doc__


@pytest.mark.parametrize("described", [Sentence, Proposition, Argument, Phrase, Trace])
def test_places_are_unique(described):
    found = describe(described)
    assert len({each.about.json for each in found}) == len(found)
    columns = [each.about.column for each in found if each.about.column]
    assert len({place for place, _ in columns}) == len(columns)
