"""Words as they can be shown: no character that breaks XML or a terminal, and their widths."""

import html
import re
import unicodedata
from collections.abc import Iterable, Mapping

from capsrl.sentence import Argument, Proposition, Sentence

Descriptions = Mapping[str, Mapping[str, str]]
"""Sense -> role -> what the role means there ({"sign.01": {"A0": "signer"}})."""

_HOSTILE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

# Hundredths of the font size: the wider of DejaVu Sans and Arial, since the viewer's font is
# unknown and words must not run into each other in either.
_WIDTHS = {
    character: width
    for width, characters in {
        30: "'Iijl",
        35: ",./:;\\| ",
        40: "!()-[]ft",
        45: "r",
        50: '"*J`',
        55: "csz",
        60: "?L_kvxy",
        70: "ABEKPSVXYZ",
        75: "CNRU",
        80: "&DGHOQ",
        90: "#+<=>^w~M",
        100: "%Wm",
        105: "@",
    }.items()
    for character in characters
}
_LOWER, _UPPER, _WIDE = 65, 80, 105


def visible(text: str) -> str:
    """The text with a visible sign for each character that XML or a terminal cannot take.

    Control characters become their pictures (a tab is U+2409), what has none (lone surrogates,
    noncharacters) becomes U+FFFD.
    """
    return _HOSTILE.sub(_sign, text)


def escaped(text: str) -> str:
    """The text as it may stand in XML or HTML, in an element or in a quoted attribute."""
    return html.escape(visible(text))


def text_width(text: str, size: float) -> float:
    """About how wide a line of sans-serif text of this font size is; rather too wide."""
    return size / 100 * sum(map(_width, visible(text)))


def show_probability(probability: float | None) -> str:
    """Two decimals, or nothing when it is not known."""
    return "" if probability is None else f"{probability:.2f}"


def describe(role: str, sense: str | None, descriptions: Descriptions | None) -> str:
    """What a role means with this sense, or nothing; R-A0 and C-A0 mean what A0 means."""
    roles = (descriptions or {}).get(sense or "", {})
    return roles.get(role) or roles.get(re.sub("^[CR]-", "", role), "")


def show_offsets(part: Argument | Proposition, sentence: Sentence) -> str:
    """Where a word stands in the whole text, `16-24`, or nothing when it is not known."""
    if part.start is None or part.end is None:
        return ""
    before = sentence.start or 0
    return f"{before + part.start}-{before + part.end}"


def check_positions(sentence: Sentence, propositions: Iterable[Proposition]) -> None:
    """Raise ValueError when a proposition speaks of a word that the sentence does not have."""
    n_words = len(sentence)
    for proposition in propositions:
        words = [proposition.predicate, *(argument.word for argument in proposition.arguments)]
        if not all(0 <= word < n_words for word in words):
            name = sentence.id or " ".join(sentence.words[:5])
            raise ValueError(f"sentence {name!r}: {words} are not all among {n_words} words")


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def _width(character: str) -> int:
    known = _WIDTHS.get(character)
    if known is not None:
        return known
    if character < "\x7f":
        return _LOWER
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0  # drawn onto the character before
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _WIDE
    return _LOWER if character.islower() else _UPPER
