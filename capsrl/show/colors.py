"""The color and the general meaning of every role, the same wherever roles are shown.

Every color has a contrast of at least 4.5 to its background, as WCAG 2 requires of small text. The
common roles also differ in lightness, so that readers who are color-blind can tell them apart.
"""

import re
import zlib
from pathlib import Path

INK = ("#1f2328", "#e6e6e6")  # text on light and on dark paper
PAPER = ("#ffffff", "#16181d")

# Role: its color on light and on dark paper, and what it means for most predicates.
_LINES = (Path(__file__).parent / "roles.tsv").read_text(encoding="utf-8").splitlines()[1:]
_ROLES = {role: values for role, *values in (line.split("\t") for line in _LINES)}
ROLES = tuple(_ROLES)
_BASE = re.compile(r"(?:[RC]-)*(?:ARG|A)?([0-5A]|M-[A-Z]+|[A-Z]+)(?:-.*)?")


def role_color(role: str, *, dark: bool = False) -> str:
    """The color of a role as #rrggbb, for text and lines on light paper, or on dark.

    References and continuations have the color of their base: R-A0 that of A0. Other spellings
    (ARG0, ARGM-TMP, arg1-pat) count as the same role. An unknown role always has the same color.
    """
    return _ROLES[base_role(role)][dark]


def role_meaning(role: str) -> str:
    """What a role means for most predicates; nothing for roles that are not PropBank's."""
    base = _known_base(role)
    if base is None:
        return ""
    kind = "" if role == base else {"R": "refers to ", "C": "continues "}.get(role[0], "")
    return f"{kind}{base}: {_ROLES[base][2]}" if kind else _ROLES[base][2]


def base_role(role: str) -> str:
    """The role of the palette whose color a role has."""
    return _known_base(role) or ROLES[zlib.crc32(role.encode("utf-8", "replace")) % len(ROLES)]


def _known_base(role: str) -> str | None:
    found = _BASE.fullmatch(role.upper())
    spellings = (role, f"A{found[1]}", f"AM-{found[1]}") if found else ()
    return next((each for each in spellings if each in _ROLES), None)


def role_class(role: str) -> str:
    """The CSS class of a role, which `role_style` gives its color."""
    return f"capsrl-{base_role(role).lower()}"


def role_style() -> str:
    """CSS rules that give elements of a role's class its color, in both themes."""
    rules = ["".join(f".{role_class(r)}{{color:{_ROLES[r][n]}}}" for r in ROLES) for n in (0, 1)]
    return f"{rules[0]}@media (prefers-color-scheme:dark){{{rules[1]}}}"
