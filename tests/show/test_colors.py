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

COMMON = ("A0", "A1", "A2", "A3", "AM-TMP", "AM-LOC", "AM-MNR", "AM-ADV")
# Those that one proposition often has several of.
TOGETHER = (*COMMON, "A4", "AM-MOD", "AM-NEG", "AM-DIS", "AM-CAU", "AM-DIR", "AM-EXT", "AM-PRP")
# Machado, Oliveira and Fernandes (2009), severity 1: linear RGB as color-blind readers see it.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def linear(color: str) -> list[float]:
    parts = [int(color[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def dot(row, column) -> float:
    return sum(a * b for a, b in zip(row, column, strict=True))


def contrast(color: str, paper: str) -> float:
    low, high = sorted(dot((0.2126, 0.7152, 0.0722), linear(each)) for each in (color, paper))
    return (high + 0.05) / (low + 0.05)


def oklab(color: str, vision: str) -> list[float]:
    seen = [min(max(dot(row, linear(color)), 0), 1) for row in VISION[vision]]
    to_cones = (
        (0.4122214708, 0.5363325363, 0.0514459929),
        (0.2119034982, 0.6806995451, 0.1073969566),
        (0.0883024619, 0.2817188376, 0.6299787005),
    )
    to_lab = (
        (0.2104542553, 0.7936177850, -0.0040720468),
        (1.9779984951, -2.4285922050, 0.4505937099),
        (0.0259040371, 0.7827717662, -0.8086757660),
    )
    cones = [dot(row, seen) ** (1 / 3) for row in to_cones]
    return [dot(row, cones) for row in to_lab]


def cielab(color: str) -> list[float]:
    to_xyz = (  # of the white point D65
        (0.4124564, 0.3575761, 0.1804375),
        (0.2126729, 0.7151522, 0.0721750),
        (0.0193339, 0.1191920, 0.9503041),
    )
    relative = [dot(row, linear(color)) / sum(row) for row in to_xyz]
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in relative)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


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


@pytest.mark.parametrize("dark", [False, True])
def test_colors_differ(dark):
    """By the Euclidean distance in CIELAB, from each other and from the text."""
    colors = {role: cielab(role_color(role, dark=dark)) for role in ROLES}
    for a, b in combinations(ROLES, 2):
        least = 20 if {a, b} <= set(TOGETHER) else 15
        assert math.dist(colors[a], colors[b]) >= least, (a, b)
    assert min(math.dist(color, cielab(INK[dark])) for color in colors.values()) >= 15


def test_colors_on_light_paper_are_not_almost_black():
    ink = cielab(INK[0])
    colors = {role: cielab(role_color(role)) for role in ROLES}
    assert min(color[0] for color in colors.values()) >= 20  # lightness
    assert min(math.dist(colors[role], ink) for role in TOGETHER) >= 30
    assert min(math.dist(colors[role], ink) for role in ("AM-CAU", "AM-DIR", "AM-MNR")) >= 50


def test_cielab():
    """The white and the blue of sRGB."""
    assert [round(each, 1) for each in cielab("#ffffff")] == [100.0, 0.0, 0.0]
    assert [round(each, 1) for each in cielab("#0000ff")] == [32.3, 79.2, -107.9]


@pytest.mark.parametrize("vision", VISION)
def test_common_roles_can_be_told_apart(vision):
    for dark in (False, True):
        colors = {role: oklab(role_color(role, dark=dark), vision) for role in COMMON}
        for a, b in combinations(COMMON, 2):
            # Some five just noticeable differences.
            assert math.dist(colors[a], colors[b]) > 0.05, (a, b, dark)


@pytest.mark.parametrize(
    ("role", "base"),
    [
        ("A0", "A0"),
        ("R-A0", "A0"),
        ("C-A1", "A1"),
        ("R-AM-TMP", "AM-TMP"),
        ("C-V", "C-V"),
        ("ARG2", "A2"),
        ("ARGM-LOC", "AM-LOC"),
        ("C-ARGM-LOC", "AM-LOC"),
        ("arg1-pat", "A1"),
        ("argM-tmp", "AM-TMP"),
        ("TMP", "AM-TMP"),
        ("ARGA", "AA"),
        ("AA", "AA"),
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
    assert role_meaning("AM-TMP") == role_meaning("ARGM-TMP") == "time"
    assert role_meaning("R-A0") == f"refers to A0: {role_meaning('A0')}"
    assert role_meaning("C-AM-LOC") == "continues AM-LOC: location"
    assert role_meaning("C-V") == "part of the predicate"
    assert role_meaning("LIMITATION") == role_meaning("") == ""
    assert all(role_meaning(role) for role in ROLES)
