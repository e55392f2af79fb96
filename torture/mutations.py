"""Change bytes at random, as damage, accidents and attackers do."""

import json
import random
import re
from collections.abc import Sequence
from typing import Any

# What has a meaning in one of the formats, or is at the border of what it allows.
TOKENS = (
    *(bytes([byte]) for byte in b"\x00\t\n\r \"#',-./:;<=>[\\]_{|}&"),
    *(b"\r\n", b'""', b'","', b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"\xcc\x81", b"&#0;", b"&#x110000;", b"\\ud800"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"2147483648", b"9" * 5000),
    *(b"18446744073709551616", b"../", b"/dev/zero", b"=cmd()", b"[" * 2000, b'{"a":' * 2000),
)
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
_CELL = re.compile(rb"[^\s,]+")
_VALUES = (None, True, 0, -1, 1, 2, 3, 7, 1e9, 2**63, 10**400, 0.5, -0.0, 1e308, "", "x", [], {})
_VALUES += ("\ud800", "\x00", "a b", "A0", "😀" * 300, [0], [0, 1], [[]], {"start": 0}, [None])
_NUMBERS = (b"0", b"-1", b"1", b"2", b"255", b"65536", b"2147483647", b"1e308", b"1e999", b"0.5")


def mutate(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    """The data after one to four random changes.

    others  inputs of the same kind, from which slices are taken
    """
    for _ in range(source.choice((1, 1, 1, 2, 3, 4))):
        data = source.choice(_CHANGES)(data, others, source)
    return data


def _flip(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    if not data:
        return data
    at = source.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << source.randrange(8)]) + data[at + 1 :]


def _delete(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    start, end = _slice(data, source)
    return data[:start] + data[end:]


def _repeat(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    start, end = _slice(data, source)
    return data[:end] + data[start:end] * source.choice((1, 1, 2, 50)) + data[end:]


def _zero(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    start, end = _slice(data, source)
    return data[:start] + bytes(end - start) + data[end:]


def _insert(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    at = source.randrange(len(data) + 1)
    return data[:at] + source.choice(TOKENS) + data[at:]


def _overwrite(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    start, end = _slice(data, source, longest=8)
    return data[:start] + source.choice(TOKENS) + data[end:]


def _cut(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    return data[: source.randrange(len(data) + 1)]


def _splice(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    other = source.choice(others)
    start, end = _slice(other, source)
    at = source.randrange(len(data) + 1)
    return data[:at] + other[start:end] + data[at:]


def _number(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    found = _find(_NUMBER, data, source)
    if found is None:
        return _flip(data, others, source)
    return data[: found.start()] + source.choice(_NUMBERS) + data[found.end() :]


def _find(pattern: re.Pattern[bytes], data: bytes, source: random.Random) -> re.Match[bytes] | None:
    """The first match behind a random place."""
    return pattern.search(data, source.randrange(len(data) + 1))


def _lines(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    """Exchange, remove or repeat a line."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return data
    one, other = source.randrange(len(lines)), source.randrange(len(lines))
    kind = source.randrange(3)
    if kind == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 1:
        del lines[one]
    else:
        lines.insert(other, lines[one])
    return b"".join(lines)


def _cell(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    """Replace a cell of a table by another one of the same file."""
    old, new = _find(_CELL, data, source), _find(_CELL, data, source)
    if old is None or new is None:
        return _flip(data, others, source)
    return data[: old.start()] + new[0] + data[old.end() :]


def _json(data: bytes, others: Sequence[bytes], source: random.Random) -> bytes:
    """Change a value in JSON or JSON lines, which most other changes make unreadable."""
    lines = data.splitlines(keepends=True) if len(data) < 1 << 18 else []
    whole = data[:1] == b"[" or len(lines) > 1 and b"}" not in lines[0]
    at = source.randrange(len(lines)) if lines and not whole else None
    try:
        value = json.loads(data if at is None else lines[at])
    except (ValueError, RecursionError):
        return _cell(data, others, source)
    changed = json.dumps(_changed(value, source), ensure_ascii=source.random() < 0.5)
    new = changed.encode(errors="surrogatepass")
    return new if at is None else b"".join([*lines[:at], new + b"\n", *lines[at + 1 :]])


def _changed(value: Any, source: random.Random) -> Any:  # noqa: ANN401
    """A JSON value with a change somewhere inside."""
    if not isinstance(value, dict | list) or not value or source.random() < 0.03:
        return source.choice(_VALUES)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, kind = source.choice(keys), source.random()
    if kind < 0.08:
        del value[key]
    elif kind < 0.16:
        value[key] = value[source.choice(keys)]
    elif kind < 0.2 and isinstance(value, list):
        value.append(value[key])
    elif kind < 0.2:
        value[source.choice(("start", "x", "word", "id"))] = value[key]
    else:
        value[key] = _changed(value[key], source)
    return value


def _slice(data: bytes, source: random.Random, longest: int = 200) -> tuple[int, int]:
    start = source.randrange(len(data) + 1)
    return start, min(len(data), start + source.randrange(longest) + 1)


_CHANGES = (
    *(_flip, _flip, _delete, _repeat, _zero, _insert, _insert),
    *(_overwrite, _cut, _splice, _number, _lines, _cell, _json, _json, _json),
)
