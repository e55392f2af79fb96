"""Format words and probabilities for display, and estimate the width of text."""

import html
import re
import unicodedata

from capsrl.sentence import Argument, Proposition, Sentence

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# In hundredths of the font size: the wider of DejaVu Sans and Arial, since the viewer's font is
# unknown and words must not overlap in either.
_WIDTHS = dict.fromkeys("'Iijl,./:;\\| ", 35) | dict.fromkeys('!()-[]ftr"*J`', 48)
_WIDTHS |= dict.fromkeys("cszkvxyL?_", 60) | dict.fromkeys("#+<=>^w~M%Wm@", 105)
_LOWER, _UPPER, _WIDE = 65, 80, 105
GUESS_NOTE = "A sense with ? is a guess: its lemma is in neither PropBank nor the training corpus."


def show_sense(proposition: Proposition) -> str:
    """The sense, with a question mark if it is a guess; only that if there is none."""
    sense = visible(proposition.sense or "")
    return f"{sense}?" if proposition.guessed or not sense else sense


def visible(text: str) -> str:
    """The text with a visible symbol for each character that would break XML or a terminal.

    Control characters become control pictures (a tab is U+2409); lone surrogates and
    noncharacters become U+FFFD.
    """
    return _UNPRINTABLE.sub(_symbol, text)


def escaped(text: str) -> str:
    """The text escaped for XML or HTML, for an element or a quoted attribute."""
    return html.escape(visible(text))


def text_width(text: str, size: float) -> float:
    """A generous estimate of the width of sans-serif text of this font size."""
    return size / 100 * sum(map(_width, visible(text)))


def show_probability(probability: float | None) -> str:
    """Two decimals, or nothing if unknown."""
    return "" if probability is None else f"{probability:.2f}"


def show_offsets(part: Argument | Proposition, sentence: Sentence) -> str:
    """The offsets of a word in the whole text, `16-24`, or nothing if unknown."""
    if part.start is None or part.end is None:
        return ""
    before = sentence.start or 0
    return f"{before + part.start}-{before + part.end}"


def _symbol(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else "\ufffd"


def _width(character: str) -> int:
    if character in _WIDTHS:
        return _WIDTHS[character]
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0  # combines with the character before
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _WIDE
    return _LOWER if character.islower() or character.isdecimal() else _UPPER
