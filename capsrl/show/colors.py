"""The color and the general meaning of every role, the same wherever roles are shown.

Every color has a contrast of at least 4.5 to its background, as WCAG 2 requires of small text. The
common roles also differ in lightness, so that readers who are color-blind can tell them apart.
"""

import re
import zlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Theme:
    """The colors of text and background."""

    ink: str
    paper: str


LIGHT = Theme(ink="#1f2328", paper="#ffffff")
DARK = Theme(ink="#e6e6e6", paper="#16181d")

# Role, its color on light and on dark paper, and what it means for most predicates.
_TABLE = """
A0      #0b5fa5 #6db3f2 usually who or what acts
A1      #c63808 #ff7a1f usually who or what is acted on
A2      #01594a #4fe3b4 depends on the predicate: often recipient, instrument or result
A3      #5c0f85 #b37bd6 depends on the predicate: often starting point or beneficiary
A4      #8b6220 #f5d94a depends on the predicate: often end point
A5      #06748c #5fd6f0 depends on the predicate
AA      #7d1a22 #f3a0a0 who makes the agent act
AM-TMP  #a1085c #f583b0 time: when
AM-LOC  #567005 #c6e86a place: where
AM-MNR  #54300c #d9a679 manner: how
AM-ADV  #3a12b0 #8a80ff circumstance: if, although, ...
AM-DIS  #696763 #a8a5a0 discourse: however, and, please, ...
AM-MOD  #05699c #c0e6f6 modal verb
AM-NEG  #910b12 #ff7f86 negation
AM-PRP  #047a3b #9af5a6 purpose: what for
AM-CAU  #6d0a63 #dc8fd2 cause: why
AM-DIR  #2f6f66 #38cfc4 direction
AM-EXT  #6b4a02 #fab256 extent: how much
AM-ADJ  #5b4b33 #e3c793 adjective of a noun predicate
AM-PRD  #7d2ee0 #b39dff state of a participant
AM-GOL  #6b6504 #e4e65a goal: where to or for whom
AM-COM  #84163c #eaaabc companion: with whom
AM-LVB  #2d5479 #8fc3f6 light verb of a noun predicate
AM-PRR  #2f62b0 #9fc5fe predicate that a light verb goes with
AM-CXN  #94407a #d794c6 construction: as ... as, more than, ...
AM-REC  #245140 #90e8c8 reciprocal: each other
C-V     #3b3663 #b3b0c4 another part of the predicate
"""
_ROLES = {line.split()[0]: line.split(maxsplit=3)[1:] for line in _TABLE.strip().splitlines()}
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
    light, dark = (
        "".join(f".{role_class(role)}{{color:{_ROLES[role][n]}}}" for role in ROLES) for n in (0, 1)
    )
    return f"{light}@media (prefers-color-scheme:dark){{{dark}}}"
