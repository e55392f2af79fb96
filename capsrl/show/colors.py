"""The color and the general meaning of every role, the same wherever roles are shown.

Every color has a contrast of at least 4.5 to its background, as WCAG 2 requires of small text. The
common roles also differ in lightness, so that readers who are color-blind can tell them apart.
"""

import re
import zlib

from capsrl.frames.roles import ANSWERED, MODIFIERS, NUMBERED

INK = ("#1f2328", "#e6e6e6")  # text on light and on dark paper
PAPER = ("#ffffff", "#16181d")

# Of a role on light and on dark paper.
_COLORS = {
    "A0": ("#0b5fa5", "#6db3f2"),
    "A1": ("#c63808", "#ff7a1f"),
    "A2": ("#01594a", "#4fe3b4"),
    "A3": ("#5c0f85", "#b37bd6"),
    "A4": ("#8b6220", "#f5d94a"),
    "A5": ("#c800be", "#fbc0fa"),
    "AA": ("#6a0020", "#c69188"),
    "AM-TMP": ("#a1085c", "#f583b0"),
    "AM-LOC": ("#567005", "#c6e86a"),
    "AM-MNR": ("#743400", "#d9a679"),
    "AM-ADV": ("#3a12b0", "#8a80ff"),
    "AM-DIS": ("#696763", "#a8a5a0"),
    "AM-MOD": ("#695dd9", "#bbe6f9"),
    "AM-NEG": ("#000000", "#ffffff"),
    "AM-PRP": ("#047a3b", "#9af5a6"),
    "AM-CAU": ("#06748c", "#5fd6f0"),
    "AM-DIR": ("#003cfa", "#38cfc4"),
    "AM-EXT": ("#374000", "#fab256"),
    "AM-ADJ": ("#615434", "#e6d39d"),
    "AM-PRD": ("#8720da", "#b9a9ff"),
    "AM-GOL": ("#8c563b", "#b3b82c"),
    "AM-COM": ("#8f4048", "#f1b5c3"),
    "AM-LVB": ("#4c5571", "#3398be"),
    "AM-PRR": ("#474797", "#81b1c0"),
    "AM-CXN": ("#9c4d89", "#fa87f0"),
    "AM-REC": ("#07491a", "#b3ffec"),
    "C-V": ("#3a3562", "#aeaac9"),
}
ROLES = tuple(_COLORS)
_BASE = re.compile(r"(?:[RC]-)*(?:ARG|A)?([0-5A]|M-[A-Z]+|[A-Z]+)(?:-.*)?")


def role_color(role: str, *, dark: bool = False) -> str:
    """The color of a role as #rrggbb, for text and lines on light paper, or on dark.

    References and continuations have the color of their base: R-A0 that of A0. Other spellings
    (ARG0, ARGM-TMP, arg1-pat) count as the same role. An unknown role always has the same color.
    """
    return _COLORS[base_role(role)][dark]


def role_meaning(role: str) -> str:
    """What a role means for most predicates; nothing for roles that are not PropBank's."""
    base = _known_base(role)
    if base is None:
        return ""
    meaning = NUMBERED.get(base) or MODIFIERS[base.removeprefix("C-")]
    if base in ANSWERED:
        meaning = f"{meaning}: {ANSWERED[base]}"
    kind = "" if role == base else {"R": "refers to ", "C": "continues "}.get(role[0], "")
    return f"{kind}{base}: {meaning}" if kind else meaning


def short_meaning(role: str) -> str:
    """What a modifier means in a word or two: time; nothing for other roles."""
    base = _known_base(role) or role
    return MODIFIERS.get(base.removeprefix("C-"), "") if base not in NUMBERED else ""


def base_role(role: str) -> str:
    """The role of the palette whose color a role has."""
    return _known_base(role) or ROLES[zlib.crc32(role.encode("utf-8", "replace")) % len(ROLES)]


def _known_base(role: str) -> str | None:
    found = _BASE.fullmatch(role.upper())
    spellings = (role, f"A{found[1]}", f"AM-{found[1]}") if found else ()
    return next((each for each in spellings if each in _COLORS), None)


def role_class(role: str) -> str:
    """The CSS class of a role, which `role_style` gives its color."""
    return f"capsrl-{base_role(role).lower()}"


def role_style() -> str:
    """CSS rules that give elements of a role's class its color, in both themes."""
    rules = ["".join(f".{role_class(r)}{{color:{_COLORS[r][n]}}}" for r in ROLES) for n in (0, 1)]
    return f"{rules[0]}@media (prefers-color-scheme:dark){{{rules[1]}}}"
