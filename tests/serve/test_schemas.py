import re

import pytest

from capsrl.labeler import Options
from capsrl.serve.requests import BadOrder, Order
from capsrl.serve.schemas import parse_order


@pytest.mark.parametrize(
    ("body", "order"),
    [
        (
            b'{"text": "a"}',
            Order(("a",), False, Options("predicted", None, None, 0.0, False)),
        ),
        (
            b'{"texts": ["a", ""], "iterations": 2.0, "threshold": 1, "trace": true}',
            Order(("a", ""), True, Options("predicted", None, 2, 1.0, True)),
        ),
        (
            b'{"text": "a b", "predicates": [0, 2.0], "kinds": ["verb", "noun", "verb"]}',
            Order(("a b",), False, Options("given", ("noun", "verb"), None, 0.0, False), (0, 2)),
        ),
        (
            b'{"text": "a", "predicates": [], "kinds": [], "iterations": null}',
            Order(("a",), False, Options("given", (), None, 0.0, False), ()),
        ),
        (
            b'{"text": "a", "predicates": null, "kinds": null}',
            Order(("a",), False, Options("predicted", None, None, 0.0, False)),
        ),
    ],
)
def test_bodies_become_orders(body, order):
    assert parse_order(body) == order


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "body: expected JSON, got EOF while parsing a value at line 1 column 0"),
        ('{"text": "\\ud800"}', "body: expected JSON, got unexpected end of hex escape"),
        ('{"text": "a", "threshold": NaN}', "body: expected JSON, got expected value"),
        ("[" * 5000, "body: expected JSON, got recursion limit exceeded"),
        ('["a"]', 'body: expected an object such as {"text": "..."}, got an array'),
        ('"a"', 'body: expected an object such as {"text": "..."}, got \'a\''),
        ("{}", "body: expected either text or texts, got neither"),
        ('{"text": "a", "texts": []}', "body: expected either text or texts, got both"),
        (
            '{"texts": ["a"], "predicates": [0]}',
            "predicates: expected them with text alone, got texts; send one at a time",
        ),
        ('{"text": 5}', "text: expected a valid string, got 5"),
        ('{"text": null}', "text: expected a valid string, got null"),
        ('{"texts": "a"}', "texts: expected a valid list, got 'a'"),
        ('{"texts": ["a", []]}', "texts.1: expected a valid string, got an array"),
        (
            '{"text": "a", "iterations": 11}',
            "iterations: expected less than or equal to 10, got 11",
        ),
        ('{"text": "a", "iterations": true}', "iterations: expected a valid integer, got true"),
        ('{"text": "a", "iterations": 1.5}', "iterations: expected a valid integer, got 1.5"),
        ('{"text": "a", "threshold": "0.5"}', "threshold: expected a valid number, got '0.5'"),
        ('{"text": "a", "threshold": 1.5}', "threshold: expected less than or equal to 1, got 1.5"),
        ('{"text": "a", "trace": 1}', "trace: expected a valid boolean, got 1"),
        (
            '{"text": "a", "kinds": ["verb", "adverb"]}',
            "kinds.1: expected 'verb', 'noun' or 'adjective', got 'adverb'",
        ),
        ('{"text": "a", "predicates": ["0"]}', "predicates.0: expected a valid integer, got '0'"),
        (
            '{"text": "a", "iteration": 2}',
            "iteration: expected one of iterations, kinds, predicates, text, texts, threshold, "
            "trace, got a field of another name",
        ),
    ],
)
def test_other_bodies_are_refused_by_a_message(body, message):
    with pytest.raises(BadOrder, match="^" + re.escape(message)):
        parse_order(body.encode())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"texts": [' + b'"", ' * 100 + b'""]}', "texts: expected at most 100 items"),
        (b'{"text": "a", "predicates": [' + b"0, " * 1000 + b"0]}", "predicates: .* 1000 items"),
        (b'{"text": "\xff"}', "body: expected JSON, got invalid unicode code point"),
    ],
)
def test_too_many_of_anything_and_what_is_no_text(body, message):
    with pytest.raises(BadOrder, match=message):
        parse_order(body)
