"""Change bytes at random, as damage, accidents and attackers do."""

import random
import re
from collections.abc import Sequence

# What has a meaning in one of the formats, or is at the border of what it allows.
TOKENS = (
    *(bytes([byte]) for byte in b"\x00\t\n\r \"#',-./:;<=>[\\]_{|}&"),
    *(b"\r\n", b'""', b'","', b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe"),
    *(b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80", b"\xcc\x81", b"&#0;", b"&#x110000;", b"\\ud800"),
    *(b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"-1", b"0", b"2147483648", b"9" * 5000),
    *(b"18446744073709551616", b"../", b"/dev/zero", b"=cmd()", b"[" * 2000, b'{"a":' * 2000),
)
_NUMBER = re.compile(rb"-?\d+(\.\d+)?")
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
    found = list(_NUMBER.finditer(data[: 1 << 20]))
    if not found:
        return _flip(data, others, source)
    start, end = source.choice(found).span()
    return data[:start] + source.choice(_NUMBERS) + data[end:]


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


def _slice(data: bytes, source: random.Random, longest: int = 200) -> tuple[int, int]:
    start = source.randrange(len(data) + 1)
    return start, min(len(data), start + source.randrange(longest) + 1)


_CHANGES = (
    *(_flip, _flip, _delete, _repeat, _zero, _insert, _insert),
    *(_overwrite, _cut, _splice, _number, _lines),
)
