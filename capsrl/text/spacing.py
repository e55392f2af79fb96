"""Guess which words are preceded by a space, from the characters alone.

Subword tokenizers need the spaces, which many corpora do not have. Straight quotes, dashes and
similar marks get a space on both sides, since the words do not tell.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from capsrl.sentence import Sentence, has_markup

# Thai, Lao, Burmese, Khmer; Han, Kana and their punctuation, full width. Korean has spaces.
# `re` compiles it at the first use: that takes 2 ms.
_UNSPACED = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u3190-\u9fff"
    r"\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
# it's, don't; l'eau, dell'arte. A single apostrophe is a quote.
_JOINS_LEFT = re.compile(r"['’]\w|n['’]t$", re.IGNORECASE)
_JOINS_RIGHT = re.compile(r"\w['’]$")


def spaces_before(words: Sequence[str]) -> list[bool]:
    """Return for each word whether a space precedes it; never before the first."""
    spaces = [_is_space_between(left, right) for left, right in zip(words, words[1:], strict=False)]
    return [False, *spaces][: len(words)]


def spaces_of(sentence: Sentence) -> list[bool]:
    """Whether a space precedes each word: as in the text, or guessed if there is none."""
    text, offsets = sentence.text, sentence.offsets
    if text is None or offsets is None:
        return spaces_before(sentence.words)
    gaps = (text[left[1] : right[0]] for left, right in pairwise(offsets))
    return [False, *(any(map(str.isspace, gap)) for gap in gaps)][: len(offsets)]


def text_of(sentence: Sentence) -> str:
    """The text of a sentence for reading: without HTML tags, or the words if it has no text."""
    words, extent = sentence.words, sentence.extent
    if sentence.text is None:
        return " ".join(words)
    text = sentence.text if extent is None else sentence.text[slice(*extent)]
    if not has_markup(text, words):
        return text
    spaces = spaces_before(words)
    return "".join(" " * space + word for space, word in zip(spaces, words, strict=True))


def _is_space_between(left: str, right: str) -> bool:
    end, start = left[-1:], right[:1]
    if re.match(_UNSPACED, end) or re.match(_UNSPACED, start):
        return False
    if start and (start in ".,;:!?%…" or unicodedata.category(start) in ("Pe", "Pf")):
        return False
    if end and (end in "¿¡" or unicodedata.category(end) in ("Ps", "Pi")):
        return False
    return not (_JOINS_LEFT.match(right) or _JOINS_RIGHT.search(left))
