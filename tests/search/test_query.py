"""Queries: what they say of one row, and mistakes in them."""

import pytest

from capsrl.errors import ConfigError
from capsrl.search.query import match, parse_query, quote

duckdb = pytest.importorskip("duckdb")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "^query: expected a term, got none; [*] is any predicate$"),
        ("  ", "got none"),
        ('sell "wrong', "^query: expected a term, with its quotes in pairs, got '\"wrong'$"),
        ("sell A0:", "quotes in pairs, got 'A0:'$"),
        ('sell A0:"a"b', "quotes in pairs, got"),
        ("sell buy", "got sell and buy; for either write sell|buy, for an argument A0:sell$"),
        ("sell FOOD", r"^query: FOOD: not a role of PropBank; write FOOD:\* for your own$"),
        ("A7", r"A7: not a role"),
        ("-", "quotes in pairs, got '-'$"),
    ],
)
def test_mistakes(query, message):
    with pytest.raises(ConfigError, match=message):
        parse_query(query)


def test_roles_in_either_spelling():
    query = parse_query("ARG0 ARGM-TMP:now -R-A1 FOOD:soup A2|ARG3")
    assert query.roles == ("A0", "AM-TMP", "R-A1", "FOOD", "A2", "A3")
    assert query.having.endswith("bool_or((role IN ('A2', 'A3')) AND true)")


def holds(sql: str, **values: str | None) -> bool:
    columns = ", ".join(f"{'NULL' if v is None else quote(v)} AS {k}" for k, v in values.items())
    [(found,)] = duckdb.execute(f"SELECT {sql} FROM (SELECT {columns})").fetchall()
    return bool(found)


@pytest.mark.parametrize(
    ("pattern", "value", "found"),
    [
        ("sell", "sell", True),
        ("sell", "seller", False),
        ("sell*", "seller", True),
        ("buy|sell", "sell", True),
        ("b*|s*", "sell", True),
        ("a.b", "axb", False),
        ("a.*", "a.01", True),
        ("it's", "it's", True),
        ("o'*", "o'clock", True),
        ("a[b]*", "a[b]c", True),
        ("x') OR ('1'='1", "y", False),
    ],
)
def test_match(pattern, value, found):
    assert holds(match("value", pattern), value=value) is found


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        ("wrong soup", "The Wrong Soup came.", True),
        ("wrong soup", "the wrong soups", False),
        ("wrong s*", "the wrong soups", True),
        ("soup", "(soup)", True),
        ("c++", "in C++, mostly", True),
        ("é", "café", False),
        ("café", "Le CAFÉ!", True),
        ("it's", "so it's fine", True),
    ],
)
def test_words_of_a_text(words, text, found):
    assert holds(parse_query(f'"{words}"').where, text=text) is found


def test_a_head_or_words_where_there_is_none():
    inside = parse_query("A1:soup").having.removeprefix("true AND ").replace("bool_or", "")
    assert holds(inside, role="A1", head="Soup", phrase="the soup")
    assert not holds(inside, role="A1", head="waiter", phrase="the soup waiter")
    assert holds(inside, role="A1", head=None, phrase="the soup")
    assert not holds(inside, role="A2", head="soup", phrase="the soup")
