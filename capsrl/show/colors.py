"""The color of every role, the same in drawings, tables, HTML, the page and displaCy.

Every color has a contrast of at least 4.5 to its background, as WCAG 2 requires of small text. The
common roles also differ in lightness, so that readers who are color-blind can tell them apart.
"""

import re
import zlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of text, less important text, background, and panels on it."""

    ink: str
    soft: str
    paper: str
    panel: str


LIGHT = Theme(ink="#1f2328", soft="#59636e", paper="#ffffff", panel="#f3f5f8")
DARK = Theme(ink="#e6e6e6", soft="#a3abb5", paper="#16181d", panel="#22262e")

_COLORS = {  # role: (on light paper, on dark paper)
    "A0": ("#0b5fa5", "#6db3f2"),
    "A1": ("#c63808", "#ff7a1f"),
    "A2": ("#01594a", "#4fe3b4"),
    "A3": ("#5c0f85", "#b37bd6"),
    "A4": ("#8b6220", "#f5d94a"),
    "A5": ("#06748c", "#5fd6f0"),
    "AA": ("#7d1a22", "#f3a0a0"),
    "AM-TMP": ("#a1085c", "#f583b0"),
    "AM-LOC": ("#567005", "#c6e86a"),
    "AM-MNR": ("#54300c", "#d9a679"),
    "AM-ADV": ("#3a12b0", "#8a80ff"),
    "AM-DIS": ("#696763", "#a8a5a0"),
    "AM-MOD": ("#05699c", "#c0e6f6"),
    "AM-NEG": ("#910b12", "#ff7f86"),
    "AM-PRP": ("#047a3b", "#9af5a6"),
    "AM-CAU": ("#6d0a63", "#dc8fd2"),
    "AM-DIR": ("#2f6f66", "#38cfc4"),
    "AM-EXT": ("#6b4a02", "#fab256"),
    "AM-ADJ": ("#5b4b33", "#e3c793"),
    "AM-PRD": ("#7d2ee0", "#b39dff"),
    "AM-GOL": ("#6b6504", "#e4e65a"),
    "AM-COM": ("#84163c", "#eaaabc"),
    "AM-LVB": ("#2d5479", "#8fc3f6"),
    "AM-PRR": ("#2f62b0", "#9fc5fe"),
    "AM-CXN": ("#94407a", "#d794c6"),
    "AM-REC": ("#245140", "#90e8c8"),
    "C-V": ("#3b3663", "#b3b0c4"),
}
ROLES = tuple(_COLORS)
_BASE = re.compile(r"(?:[RC]-)*(?:ARG|A)?([0-5A]|M-[A-Z]+|[A-Z]+)(?:-.*)?")


def role_color(role: str, *, dark: bool = False) -> str:
    """The color of a role as #rrggbb, for text and lines on light paper, or on dark.

    References and continuations have the color of their base: R-A0 that of A0. Other spellings
    (ARG0, ARGM-TMP, arg1-pat) count as the same role. An unknown role always has the same color.
    """
    return _COLORS[base_role(role)][dark]


def base_role(role: str) -> str:
    """The role of the palette whose color a role has."""
    if role in _COLORS:
        return role
    found = _BASE.fullmatch(role.upper())
    for known in (f"A{found[1]}", f"AM-{found[1]}") if found else ():
        if known in _COLORS:
            return known
    return ROLES[zlib.crc32(role.encode("utf-8", "replace")) % len(ROLES)]


def role_class(role: str) -> str:
    """The CSS class of a role, which `role_style` gives its color."""
    return f"capsrl-{base_role(role).lower()}"


def role_style() -> str:
    """CSS rules that give elements of a role's class its color, in both themes."""
    light, dark = (
        "".join(f".{role_class(role)}{{color:{colors[n]}}}" for role, colors in _COLORS.items())
        for n in (0, 1)
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
