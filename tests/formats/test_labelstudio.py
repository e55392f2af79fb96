"""Tasks of Label Studio are read back equal, and so are annotations made of them."""

import json
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capsrl.errors import DataError
from capsrl.formats.formats import format_sentences, parse_sentences
from capsrl.formats.labelstudio import LABELING
from capsrl.frames.roles import EVERY
from tests.formats.test_brat import sold
from tests.helpers.annotated_sentences import sentences

# What Label Studio's guide to importing pre-annotations says of a task.
PLACE = {"start": {"type": "integer"}, "end": {"type": "integer"}}
TASK = {
    "type": "object",
    "required": ["data", "predictions"],
    "properties": {
        "data": {"required": ["text"], "properties": {"text": {"type": "string"}}},
        "predictions": {
            "items": {
                "required": ["model_version", "result"],
                "properties": {
                    "score": {"type": "number", "minimum": 0, "maximum": 1},
                    "result": {
                        "items": {
                            "anyOf": [
                                {
                                    "required": ["id", "from_name", "to_name", "value"],
                                    "properties": {
                                        "type": {"enum": ["labels", "textarea"]},
                                        "value": {"required": [*PLACE], "properties": PLACE},
                                    },
                                },
                                {
                                    "required": ["from_id", "to_id", "direction", "labels"],
                                    "properties": {"type": {"const": "relation"}},
                                },
                            ]
                        }
                    },
                },
            }
        },
    },
}


def tasks(found) -> list:
    return json.loads("".join(format_sentences(found, "labelstudio")))


def read(value):
    return list(parse_sentences([json.dumps(value)], "labelstudio", source="x"))


@settings(max_examples=60)
@given(st.lists(sentences(), max_size=3))
def test_read_back_equal(found):
    made = tasks(found)
    jsonschema.validate(made, {"type": "array", "items": TASK})
    assert read(made) == found


def test_a_task():
    [task] = tasks([sold()])
    [prediction] = task["predictions"]
    assert task["data"]["text"] == sold().text and prediction["score"] == 0.5
    kinds = [each["type"] for each in prediction["result"]]
    assert kinds == ["labels", "textarea", "labels", "relation", "labels", "relation"]
    names = {each.get("from_name", "label") for each in prediction["result"]}
    view = ElementTree.fromstring(LABELING)
    assert names <= {each.get("name") for each in view}
    assert "A0" in {each.get("value") for each in view.iter("Label")}


def test_the_configuration_has_every_role():
    """Label Studio refuses predictions with others: relative pronouns are R-A0."""
    view = ElementTree.fromstring(LABELING)
    for tag in ("Label", "Relation"):
        assert {*EVERY} <= {each.get("value") for each in view.iter(tag)}


def test_annotations_come_before_predictions():
    [task] = tasks([sold()])
    result = [each for each in task["predictions"][0]["result"] if each.get("id") != "r2"]
    annotated = [each for each in result if each.get("to_id") != "r2"]
    # A new region, without what capsrl had written of it.
    region = {"id": "n", "type": "labels", "from_name": "label", "to_name": "text"}
    annotated.append(region | {"value": {"start": 22, "end": 29, "labels": ["A2"]}})
    annotated.append({"type": "relation", "from_id": "r0", "to_id": "n", "direction": "right"})
    skipped = {"was_cancelled": True, "result": []}
    [found] = read([task | {"annotations": [skipped, {"result": annotated}]}])
    [proposition] = found.propositions
    assert [(a.role, a.form, a.probability) for a in proposition.arguments] == [
        ("A1", "bicycle", 0.8),
        ("A2", "Omar", None),
    ]
    assert proposition.probability == 0.7 and proposition.joint_probability is None


@pytest.mark.parametrize("change", [{"start": None}, {"end": "9"}, {"end": 9.0}, {"start": -1}])
def test_odd_offsets(change):
    [task] = tasks([sold()])
    task["predictions"][0]["result"][0]["value"].update(change)
    with pytest.raises(DataError, match="x: task 1: expected an object with start and end"):
        read([task])


@pytest.mark.parametrize("text", [None, 7, ["a"], {}])
def test_odd_texts(text):
    with pytest.raises(DataError, match="x: task 1: expected a text, got"):
        read([{"data": {"text": text}}])


def test_text_that_was_annotated_from_the_start():
    span = {"start": 0, "end": 4}
    result = [
        {"id": "a", "type": "labels", "value": {"start": 5, "end": 10, "labels": ["Predicate"]}},
        {"id": "b", "type": "labels", "value": span | {"labels": ["A0"]}},
        {"type": "relation", "from_id": "b", "to_id": "a"},  # drawn the other way
    ]
    [found] = read({"data": {"text": "Dogs bark."}, "annotations": [{"result": result}]})
    assert found.words == ("Dogs", "bark", ".")
    assert [a.form for a in found.propositions[0].arguments] == ["Dogs"]


def test_mistakes():
    for value, message in (
        ("{", "x: expected JSON as Label Studio exports it"),
        ("[1]", "x: task 1: expected a task of Label Studio, got 1"),
        ('[{"data": {}}]', "x: task 1: expected a task of Label Studio, got an object, without"),
    ):
        with pytest.raises(DataError, match=message):
            list(parse_sentences([value], "labelstudio", source="x"))
    bad = {"data": {"text": "a"}, "predictions": [{"result": [{"type": "relation"}]}]}
    with pytest.raises(DataError, match="without 'from_id'"):
        read(bad)
    bad["predictions"][0]["result"][0] |= {"from_id": "x", "to_id": "y"}
    with pytest.raises(DataError, match="expected a relation of a predicate"):
        read(bad)
