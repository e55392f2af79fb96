"""Settings are described, checked and built from annotated dataclass fields."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import pytest

from capsrl.settings import (
    ABOVE_1_OR_0,
    AT_LEAST_1,
    COSMETIC,
    FACTOR,
    FRACTION,
    NOT_NEGATIVE,
    PATH,
    POSITIVE,
    REQUIRED,
    Setting,
    build,
    find_mistakes,
    flatten,
    list_settings,
)


@dataclass(frozen=True, kw_only=True)
class Inner:
    size: Annotated[int, AT_LEAST_1, "how large"] = 3
    rate: Annotated[float, POSITIVE] = 0.5
    shape: Literal["round", "flat"] = "round"


@dataclass(frozen=True, kw_only=True)
class Outer:
    file: Annotated[str, PATH, COSMETIC]
    name: str | None = None
    on: bool = False
    paths: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    inner: Inner = field(default_factory=Inner)


def test_list_settings():
    settings = {setting.key: setting for setting in list_settings(Outer)}
    assert list(settings) == [
        "file",
        "name",
        "on",
        "paths",
        "words",
        "inner.size",
        "inner.rate",
        "inner.shape",
    ]
    assert settings["inner.size"] == Setting("inner.size", int, 3, "how large", AT_LEAST_1)
    assert settings["file"].marks == {PATH, COSMETIC}
    assert settings["file"].default is REQUIRED
    assert settings["paths"].default == {}
    assert settings["file"].is_path and not settings["name"].is_path


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"inner": {"size": 1.0}}, "inner.size: expected a whole number, got 1.0"),
        ({"inner": {"size": True}}, "inner.size: expected a whole number, got true"),
        ({"inner": {"size": 0}}, "inner.size: expected at least 1, got 0"),
        ({"inner": {"rate": "1"}}, 'inner.rate: expected a number, got "1"'),
        ({"inner": {"rate": float("nan")}}, "inner.rate: expected above 0, got nan"),
        ({"inner": {"rate": float("inf")}}, "inner.rate: expected above 0, got inf"),
        ({"inner": {"shape": "flt"}}, "inner.shape: expected 'round' or 'flat', got \"flt\""),
        ({"inner": {"shape": []}}, "inner.shape: expected 'round' or 'flat', got []"),
        ({"inner": 3}, "inner: expected a table, got 3"),
        ({"on": 0}, "on: expected true or false, got 0"),
        ({"name": 3}, "name: expected a string, got 3"),
        ({"paths": "x"}, 'paths: expected a table, got "x"'),
        ({"paths": {"a": 1}}, "paths.a: expected a string, got 1"),
        ({"words": "x"}, 'words: expected a list of strings, got "x"'),
        ({"words": ["x", 1]}, 'words: expected a list of strings, got ["x", 1]'),
        ({"file": None}, "file: expected a string, got null"),
        ({"inner": {"siz": 1}}, "unknown key inner.siz; did you mean inner.size?"),
        ({"size": 1}, "unknown key size; did you mean inner.size?"),
        ({"xyzzy": 1}, "unknown key xyzzy"),
    ],
)
def test_mistakes(values, message):
    assert list(find_mistakes(Outer, {"file": "x", **values}).values()) == [message]


def test_missing_key():
    assert find_mistakes(Outer, {}) == {"file": "file is missing"}


def test_valid_values():
    values = {"file": "x", "name": None, "paths": {"a": "b"}, "words": ["c"], "inner": {"rate": 1}}
    assert find_mistakes(Outer, values) == {}
    built = Outer(file="x", paths={"a": "b"}, words=["c"], inner=Inner(rate=1))
    assert build(Outer, values) == built


@pytest.mark.parametrize(
    ("allowed", "inside", "outside"),
    [
        (NOT_NEGATIVE, (0, 7), (-1, float("inf"))),
        (POSITIVE, (1e-9, 7), (0, float("inf"))),
        (AT_LEAST_1, (1, 7), (0, 0.9)),
        (ABOVE_1_OR_0, (0, 1.1, 7), (-1, 0.5, 1, float("inf"))),
        (FRACTION, (0, 0.99), (-0.1, 1)),
        (FACTOR, (0.01, 1), (0, 1.1)),
    ],
)
def test_ranges(allowed, inside, outside):
    assert all(allowed.allows(value) for value in inside)
    assert not any(allowed.allows(value) for value in (*outside, float("nan")))


def test_flatten():
    assert flatten({"a": 1, "b": {"c": {"d": 2}, "e": 3}}) == {"a": 1, "b.c.d": 2, "b.e": 3}
