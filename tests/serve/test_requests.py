"""Bodies of /label: what they mean, and why others are refused."""

import dataclasses
import re

import pytest

from capsrl.options import Options
from capsrl.serve.requests import BadRequest, LabelRequest, TextRequest, TextsRequest, parse_body


@pytest.mark.parametrize(
    ("body", "request_"),
    [
        (b'{"text": "a"}', LabelRequest(("a",), False, Options(predicates="found"))),
        (
            b'{"texts": ["a", ""], "iterations": 2.0, "threshold": 1, "trace": true}',
            LabelRequest(
                ("a", ""),
                True,
                Options(predicates="found", iterations=2, threshold=1.0, trace=True),
            ),
        ),
        (
            b'{"text": "a b", "at": [0, 2.0], "pos": ["noun", "verb", "noun"]}',
            LabelRequest(
                ("a b",), False, Options(predicates="marked", pos=("verb", "noun")), (0, 2)
            ),
        ),
        (
            b'{"text": "a", "at": [], "iterations": null}',
            LabelRequest(("a",), False, Options(predicates="marked"), ()),
        ),
        (
            b'{"text": "a", "at": null, "pos": null}',
            LabelRequest(("a",), False, Options(predicates="found")),
        ),
    ],
)
def test_parse(body, request_):
    assert parse_body(body) == request_


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "body: expected JSON, got an error: EOF while parsing a value at line 1 column 0"),
        ('{"text": "\\ud800"}', "body: expected JSON, got an error: unexpected end of hex escape"),
        ('{"text": "a", "threshold": NaN}', "body: expected JSON, got an error: expected value"),
        ("[" * 5000, "body: expected JSON, got an error: recursion limit exceeded"),
        ('["a"]', 'body: expected an object such as {"text": "..."}, got [\'a\']'),
        ('"a"', 'body: expected an object such as {"text": "..."}, got \'a\''),
        ("{}", "body: expected either text or texts, got neither"),
        ('{"text": "a", "texts": []}', "body: expected either text or texts, got both"),
        (
            '{"texts": ["a"], "at": [0]}',
            "at: expected with text only, got texts; send them one by one",
        ),
        ('{"text": 5}', "text: expected a string, got 5"),
        ('{"text": null}', "text: expected a string, got None"),
        ('{"texts": "a"}', "texts: expected a list, got 'a'"),
        ('{"texts": ["a", []]}', "texts.1: expected a string, got []"),
        ('{"text": "a", "at": ["0"]}', "at.0: expected an integer, got '0'"),
        ('{"text": "a", "at": [1.5]}', "at.0: expected an integer, got 1.5"),
        ('{"text": "a", "at": [true]}', "at.0: expected an integer, got True"),
        ('{"text": "a", "iterations": 11}', "iterations: expected at most 10, got 11"),
        (
            '{"text": "a", "iteration": 2}',
            "iteration: expected a field named at, html, iterations, one_sentence_per_line, "
            "phrases, pos, proposition_threshold, raw, sense_threshold, text, texts, threshold, "
            "trace, got another",
        ),
        (
            '{"text": "a", "predicates": "found"}',
            "predicates: expected a field named at, html, iterations, ",
        ),
    ],
)
def test_refusals(body, message):
    with pytest.raises(BadRequest, match="^" + re.escape(message)):
        parse_body(body.encode())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("iterations", value) for value in ("true", "1.5", "0", '"2"')),
        *(("threshold", value) for value in ('"0.5"', "1.5", "null", "1" + "0" * 4000)),
        *(("pos", value) for value in ('["adverb"]', "[]", "5", '[["verb"]]', '{"verb": 1}')),
        ("trace", "1"),
    ],
)
def test_options_are_refused_by_the_library(option, value):
    with pytest.raises(BadRequest, match=f"^{option}: expected .*, got") as refused:
        parse_body(f'{{"text": "a", "{option}": {value}}}'.encode())
    assert len(str(refused.value)) <= 300


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"texts": [' + b'"", ' * 100 + b'""]}', "texts: expected at most 100 items"),
        (b'{"text": "a", "at": [' + b"0, " * 1000 + b"0]}", "at: expected at most 1,000 items"),
        (b'{"text": "\xff"}', "body: expected JSON, got an error: invalid unicode code point"),
    ],
)
def test_too_many_items_and_invalid_text(body, message):
    with pytest.raises(BadRequest, match=message):
        parse_body(body)


@pytest.mark.parametrize("model", [TextRequest, TextsRequest])
def test_every_option_of_the_library_is_described(model):
    schema = model.model_json_schema()
    names = {field.name for field in dataclasses.fields(Options)} - {"predicates"}
    assert names == schema["properties"].keys() - {"text", "texts", "at"}
    assert schema["additionalProperties"] is False
    assert schema["properties"]["threshold"] == {
        **{"type": "number", "minimum": 0, "maximum": 1, "default": 0.0},
        "description": "Leave out arguments that are less probable than this.",
    }
