"""Bodies of /label: what they mean, and why others are refused."""

import codecs
import dataclasses
import gzip

import pytest
from fastapi.exceptions import RequestValidationError

from capsrl.options import Options
from capsrl.serve.requests import LabelRequest, TextRequest, TextsRequest, explain, parse_body


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


def refusal(body):
    with pytest.raises(RequestValidationError) as refused:
        parse_body(body)
    return explain(refused.value.errors()[0])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "the body must be JSON; it is empty"),
        ('{"text": "\\ud800"}', "the body must be JSON; unexpected end of hex escape"),
        ('{"text": ', "the body must be JSON; it ends too soon at line 1 column 9"),
        ('{"text":\n "a', "the body must be JSON; it ends too soon at line 2 column 3"),
        ('{"text": "a", "at": [1', "the body must be JSON; it ends too soon at line 1 column 22"),
        ('{"text": hello}', "the body must be JSON; there is no JSON value at line 1 column 10"),
        (
            '{"text": "a", "threshold": NaN}',
            "the body must be JSON; there is no JSON value at line 1 column 28",
        ),
        ("{'text': 'a'}", "the body must be JSON; key must be a string at line 1 column 2"),
        ("[" * 5000, "the body must be JSON; recursion limit exceeded"),
        ('["a"]', 'the body must be an object such as {"text": "..."}; you sent ["a"]'),
        ('"a"', 'the body must be an object such as {"text": "..."}; you sent "a"'),
        ("{}", 'text is missing; send {"text": "..."} or {"texts": ["...", "..."]}'),
        ('{"text": "a", "texts": []}', "only one of text and texts may be given; you sent both"),
        ('{"texts": ["a"], "at": [0]}', "at is not a field of this request; see /docs"),
        ('{"text": 5}', "text must be a string; you sent 5"),
        ('{"text": null}', "text must be a string; you sent null"),
        ('{"texts": "a"}', 'texts must be a list; you sent "a"'),
        ('{"texts": ["a", []]}', "texts.1 must be a string; you sent []"),
        ('{"text": "a", "at": ["0"]}', 'at.0 must be an integer; you sent "0"'),
        ('{"text": "a", "at": [1.5]}', "at.0 must be an integer; you sent 1.5"),
        ('{"text": "a", "at": [true]}', "at.0 must be an integer; you sent true"),
        ('{"text": "a", "at": [-1]}', "at.0 must be at least 0; you sent -1"),
        ('{"text": "a", "iterations": 11}', "iterations must be at most 10; you sent 11"),
        ('{"text": "a", "iterations": 0}', "iterations must be at least 1; you sent 0"),
        ('{"text": "a", "iterations": true}', "iterations must be an integer; you sent true"),
        ('{"text": "a", "iterations": "2"}', 'iterations must be an integer; you sent "2"'),
        ('{"text": "a", "threshold": 2}', "threshold must be at most 1; you sent 2"),
        ('{"text": "a", "threshold": "0.5"}', 'threshold must be a number; you sent "0.5"'),
        ('{"text": "a", "threshold": null}', "threshold must be a number; you sent null"),
        ('{"text": "a", "pos": []}', "pos must have at least 1 item; you sent []"),
        ('{"text": "a", "pos": 5}', "pos must be a list; you sent 5"),
        ('{"text": "a", "pos": {"verb": 1}}', 'pos must be a list; you sent {"verb": 1}'),
        (
            '{"text": "a", "pos": ["adverb"]}',
            "pos.0 must be 'verb', 'noun' or 'adjective'; you sent \"adverb\"",
        ),
        ('{"text": "a", "trace": 1}', "trace must be true or false; you sent 1"),
        ('{"text": "a", "iteration": 2}', "iteration is not a field of this request; see /docs"),
        ('{"text": "a", "query": 2}', "query is not a field of this request; see /docs"),
        ('{"text": "a", "predicates": "found"}', "predicates is not a field of this request"),
        ('{"texts": [' + '"", ' * 100 + '""]}', 'texts must have at most 100 items; you sent ["",'),
        ('{"text": "a", "at": [' + "0, " * 1000 + "0]}", "at must have at most 1,000 items; you"),
    ],
)
def test_refusals(body, message):
    assert refusal(body.encode()).startswith(message)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"text": "\xff"}', "it is not UTF-8: byte 0xff at offset 10"),
        ('{"text": "a"}'.encode("utf-16"), "it is not UTF-8: byte 0xff at offset 0"),
        (gzip.compress(b'{"text": "a"}', mtime=0), "it is gzip"),
        (b"", "it is empty"),
    ],
)
def test_bodies_that_are_not_utf8(body, told):
    assert refusal(body) == f"the body must be JSON; {told}"


def test_a_byte_order_mark_is_dropped():
    assert parse_body(codecs.BOM_UTF8 + b'{"text": "a"}').texts == ("a",)


@pytest.mark.parametrize("value", ["1" + "0" * 4000, '"' + "x" * 4000 + '"'])
def test_messages_are_short(value):
    for field in ("threshold", "at", "x" * 4000):
        assert len(refusal(f'{{"text": "a", "{field}": {value}}}'.encode())) <= 200


@pytest.mark.parametrize("model", [TextRequest, TextsRequest])
def test_every_option_of_the_library_is_described(model):
    schema = model.model_json_schema()
    names = {field.name for field in dataclasses.fields(Options)} - {"predicates"}
    assert names == schema["properties"].keys() - {"text", "texts", "at"}
    assert schema["additionalProperties"] is False
    assert schema["properties"]["threshold"] == {
        **{"type": "number", "minimum": 0, "maximum": 1, "default": 0.0, "title": "Threshold"},
        "description": "Minimum probability of an argument.",
    }
