import copy
import json

import pytest
from jsonschema import Draft202012Validator

from capsrl.errors import DataError
from capsrl.formats.fields import json_schema, schema_components, sentence_from_dict
from capsrl.formats.json_check import shown
from capsrl.sentence import Proposition
from tests.formats.test_jsonl import DOGS

VALIDATOR = Draft202012Validator(json_schema())


def test_whole_floats_are_positions():
    data = {"words": ["Go"], "propositions": [{"predicate": 0.0, "probability": 1}]}
    VALIDATOR.validate(data)
    (proposition,) = sentence_from_dict(data).propositions
    assert proposition == Proposition(0, probability=1.0)
    assert type(proposition.predicate) is int
    assert type(proposition.probability) is float


PROPOSITION = ("propositions", 0)
ARGUMENT = ("propositions", 0, "arguments", 0)
TRACED = ("propositions", 0, "trace")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("words", 1), 5, r"x: words\[1\]: expected a string, got 5"),
        (("lemmas",), ["dog"], r"x: lemmas: expected 3 entries, one per word, got 1"),
        (("tags",), {}, r"x: tags: expected an array, got an object"),
        (("heads", 0), 3, r"x: heads\[0\]: expected a position of one of 3 words.*, got 3"),
        (("heads", 0), -1, r"x: heads\[0\]: expected an integer from 0, got -1"),
        (("heads", 0), True, r"x: heads\[0\]: expected an integer from 0, got true"),
        (("heads", 0), 0.5, r"x: heads\[0\]: expected an integer from 0, got 0.5"),
        (("heads",), [], r"x: heads: expected 3 entries, one per word, got 0"),
        (("relations",), ["a"] * 4, r"x: relations: expected 3 entries, one per word, got 4"),
        (("text",), None, r"x: text: expected a string, got null"),
        (("id",), 7, r"x: id: expected a string, got 7"),
        (("offsets",), [[0, 4]], r"x: offsets: expected 3 entries, one per word, got 1"),
        (("offsets", 1), [5], r"x: offsets\[1\]: expected \[start, end\], got 1 entries"),
        (("offsets", 1), [9, 5], r"x: offsets\[1\]: expected start <= end <= 10, .*, got 9 and 5"),
        (("offsets", 2, 1), 11, r"x: offsets\[2\]: expected start <= end <= 10, .*, got 9 and 11"),
        (("offsets", 2, 0), "9", r"x: offsets\[2\]\[0\]: expected an integer from 0, got '9'"),
        (("columns",), [], r"x: columns: expected an object, got an array"),
        (
            ("columns", "MISC"),
            ["_"],
            r"x: columns\['MISC'\]: expected 3 entries, one per word, got 1",
        ),
        (("columns", "MISC", 0), 1, r"x: columns\['MISC'\]\[0\]: expected a string, got 1"),
        (("comments", 0), False, r"x: comments\[0\]: expected a string, got false"),
        (("propositions",), "p", r"x: propositions: expected an array, got 'p'"),
        ((*PROPOSITION, "predicate"), 3, r"x: propositions\[0\].predicate: .* of 3 words.* got 3"),
        (
            (*PROPOSITION, "form"),
            "barks",
            r"x: propositions\[0\].form: expected 'bark', word 1, got",
        ),
        (
            (*PROPOSITION, "sense"),
            1,
            r"x: propositions\[0\].sense: expected a string or null, got 1",
        ),
        ((*PROPOSITION, "probability"), 1.5, r"\[0\].probability: expected .* 0 to 1, got 1.5"),
        ((*PROPOSITION, "probability"), None, r"\[0\].probability: expected .* 0 to 1, got null"),
        ((*PROPOSITION, "end"), 4, r"x: propositions\[0\]: expected start <= end .* got 5 and 4"),
        (
            (*PROPOSITION, "frame"),
            "x",
            r"x: propositions\[0\]: expected the keys predicate, .*'frame'",
        ),
        (("start",), -1, r"x: start: expected an integer from 0, got -1"),
        ((*TRACED, "roles"), ["_"], r"\.trace.roles: expected 'A0' among them, got \['_'\]"),
        ((*TRACED, "roles"), [], r"\[0\].trace.roles: expected '_' among them, got \[\]"),
        (
            (*TRACED, "roles"),
            ["A0", "_"],
            r"trace.roles\[0\]: expected '_', which means no role, got 'A0'",
        ),
        ((*TRACED, "beliefs"), [], r"trace.beliefs: expected one array per iteration, got none"),
        ((*TRACED, "beliefs", 1), [], r"trace.beliefs\[1\]: expected 3 entries, .*, got 0"),
        (
            (*TRACED, "beliefs", 1, 2),
            [0.5],
            r"trace.beliefs\[1\]\[2\]: expected 2 entries, one per role, got 1",
        ),
        ((*TRACED, "beliefs", 0, 1, 0), 2, r"beliefs\[0\]\[1\]\[0\]: expected .* 0 to 1, got 2"),
        ((*ARGUMENT, "role"), None, r"x: propositions\[0\].arguments\[0\].role: .* got null"),
        ((*ARGUMENT, "word"), "0", r"\.arguments\[0\].word: expected an integer from 0, got '0'"),
        ((*ARGUMENT, "form"), "a" * 99, r"\.form: expected 'Dogs', word 0, got 'a{56}\.\.\.$"),
        (
            (*ARGUMENT, "phrase"),
            {"first": 1, "last": 2},
            r"\.arguments\[0\]\.phrase: expected a phrase that contains word 0, got words 1 to 2",
        ),
        (
            (*ARGUMENT, "phrase"),
            {"first": 1, "last": 0},
            r"\.phrase: expected first <= last, got 1 and 0",
        ),
        ((*ARGUMENT, "phrase"), {"first": 0, "last": 3}, r"\.phrase\.last: .* of 3 words.* got 3"),
        (ARGUMENT, [], r"x: propositions\[0\].arguments\[0\]: expected an object, got an array"),
    ],
)
def test_bad_parts(path, value, message):
    with pytest.raises(DataError, match=message):
        sentence_from_dict(changed(DOGS, path, value), where="x")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ((*PROPOSITION, "predicate"), r"expected the key 'predicate', got 'form', 'sense'"),
        ((*ARGUMENT, "role"), r"expected the key 'role', got 'word'"),
        ((*ARGUMENT, "start"), r"arguments\[0\]: expected start and end together, got one of them"),
        ((*PROPOSITION, "end"), r"propositions\[0\]: expected start and end together, got one"),
    ],
)
def test_missing_parts(path, message):
    data = changed(DOGS, path, None)
    del container(data, path)[path[-1]]
    assert not VALIDATOR.is_valid(data)
    with pytest.raises(DataError, match=message):
        sentence_from_dict(data)


def container(data, path):
    for key in path[:-1]:
        data = data[key]
    return data


def changed(data, path, value):
    data = copy.deepcopy(data)
    container(data, path)[path[-1]] = value
    return data


def paths(data, path=()):
    """Every place in a JSON value but the root."""
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


def accepted(data):
    try:
        sentence_from_dict(json.loads(json.dumps(data)))
    except DataError:
        return False
    return True


# Where the kind is another than before, schema and reader must say the same. Where it is not, the
# reader also checks what a schema cannot: positions, lengths, forms.
VALUES = [None, True, False, -1, 0.5, 2, "x", {}, {"words": []}, [None], [True]]


@pytest.mark.parametrize("path", list(paths(DOGS)), ids=repr)
def test_schema_and_reader_agree(path):
    for value in VALUES:
        data = changed(DOGS, path, value)
        if type(container(DOGS, path)[path[-1]]) is type(value):
            # The schema may accept what the reader has more reasons to refuse, never the reverse.
            assert VALIDATOR.is_valid(data) or not accepted(data), value
        else:
            assert VALIDATOR.is_valid(data) == accepted(data), value


@pytest.mark.parametrize("path", list(paths(DOGS)), ids=repr)
def test_schema_and_reader_want_the_same_keys(path):
    data = copy.deepcopy(DOGS)
    holder = container(data, path)
    if isinstance(holder, dict):
        del holder[path[-1]]
        assert VALIDATOR.is_valid(data) == accepted(data)
        unknown = changed(DOGS, (*path[:-1], "unknown"), ["a", "b", "c"])
        assert VALIDATOR.is_valid(unknown) == accepted(unknown)


@pytest.mark.parametrize("pair", [[], [5], [5, 9, 9]])
def test_schema_and_reader_want_pairs(pair):
    data = changed(DOGS, ("offsets", 1), pair)
    assert not VALIDATOR.is_valid(data)
    assert not accepted(data)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"), (True, "true"), ([1], "an array"), ({}, "an object"), (1.5, "1.5"),
        ("a\n", r"'a\n'"), ("a" * 99, "'" + "a" * 56 + "..."),
    ],
)  # fmt: skip
def test_values_in_messages_are_short_and_on_one_line(value, text):
    assert shown(value) == text


def test_components_accept_and_refuse_the_same():
    schemas = schema_components("#/components/{model}")
    whole = Draft202012Validator({"$ref": "#/components/Sentence", "components": schemas})
    wrong = {"words": ["Go"], "propositions": [{"predicate": 0, "arguments": [{"word": 0}]}]}
    whole.validate({"words": ["Go"], "propositions": [{"predicate": 0}]})
    assert not whole.is_valid(wrong) and not VALIDATOR.is_valid(wrong)
    assert {name: each["title"] for name, each in schemas.items()} == {
        name: name for name in schemas
    }
    assert schemas.keys() >= {"Sentence", "Proposition", "Argument", "Phrase", "Trace"}
