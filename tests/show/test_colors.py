"""Colors of roles: readable on their paper, and the same for every form of a role."""

import math
import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capsrl.show.colors import (
    INK,
    PAPER,
    ROLES,
    base_role,
    role_class,
    role_color,
    role_meaning,
    role_style,
)
from capsrl.show.html_page import show_style


def linear(color: str) -> list[float]:
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(color: str, paper: str) -> float:
    def luminance(each: str) -> float:
        red, green, blue = linear(each)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted(map(luminance, (color, paper)))
    return (high + 0.05) / (low + 0.05)


def test_contrast():
    """WCAG 2 requires a contrast of 4.5 for small text."""
    for dark, theme in enumerate(themes()):
        assert (theme["ink"], theme["paper"]) == (INK[dark], PAPER[dark])
        roles = [role_color(role, dark=bool(dark)) for role in ROLES]
        for color in (theme["ink"], theme["soft"], *roles):
            assert contrast(color, theme["paper"]) >= 4.5, color
            assert contrast(color, theme["panel"]) >= 4.5, color


def themes() -> list[dict[str, str]]:
    """The colors of the style sheet, in light and in dark."""
    found = re.findall(r"\.capsrl \{\s*(--ink: [^\n]*)", show_style())
    return [dict(re.findall(r"--(\w+): (#\w{6});", line)) for line in found[:2]]


def test_every_role_has_its_own_color():
    for dark in (False, True):
        assert len({role_color(role, dark=dark) for role in ROLES}) == len(ROLES)


@pytest.mark.parametrize(
    ("role", "base"),
    [
        ("R-A0", "A0"),
        ("R-AM-TMP", "AM-TMP"),
        ("C-V", "C-V"),
        ("C-ARGM-LOC", "AM-LOC"),
        ("arg1-pat", "A1"),
        ("TMP", "AM-TMP"),
        ("ARGA", "AA"),
    ],
)
def test_base(role, base):
    assert base_role(role) == base
    assert role_color(role) == role_color(base)


@given(st.text(st.characters(codec=None)))
def test_any_string_has_a_color(role):
    assert re.fullmatch("#[0-9a-f]{6}", role_color(role))
    assert re.fullmatch("capsrl-[a-z0-9-]+", role_class(role))
    assert role_class(role) == role_class(role_class(role).removeprefix("capsrl-").upper())


def test_style_has_both_colors():
    light, dark = role_style().split("@media")
    for role in ROLES:
        assert f".{role_class(role)}{{color:{role_color(role)}}}" in light
        assert f".{role_class(role)}{{color:{role_color(role, dark=True)}}}" in dark


def test_meanings():
    assert role_meaning("AM-TMP") == role_meaning("ARGM-TMP") == "time: when"
    assert role_meaning("R-A0") == f"refers to A0: {role_meaning('A0')}"
    assert role_meaning("C-AM-LOC") == "continues AM-LOC: location: where"
    assert role_meaning("C-V") == "part of the predicate"
    assert role_meaning("LIMITATION") == role_meaning("") == ""
    assert all(role_meaning(role) for role in ROLES)


def difference(first: str, second: str) -> float:
    """The distance of two colors in CIELAB, where the smallest that people notice is about 2."""

    def lab(color: str) -> tuple[float, float, float]:
        red, green, blue = linear(color)
        x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
        y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
        z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
        a, b, c = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
        return 116 * b - 16, 500 * (a - b), 200 * (b - c)

    return math.dist(lab(first), lab(second))


@pytest.mark.parametrize("dark", [False, True])
def test_colors_can_be_told_apart(dark):
    colors = {role: role_color(role, dark=dark) for role in ROLES}
    assert min(difference(*pair) for pair in combinations(colors.values(), 2)) > 18
    for first, second in (("A1", "AM-NEG"), ("AM-TMP", "AM-CAU"), ("A0", "A1"), ("A1", "A2")):
        assert difference(colors[first], colors[second]) > 50, (first, second)
