"""Find where sentences end in languages other than English, by the rules of sentencex.

It knows abbreviations and ordinals: *z. B.*, *am 3. Mai*. The rules for English are our own.
"""

import re
from collections.abc import Iterator

from capsrl.errors import ConfigError, install_hint

ENGLISH = ("", "en", "xx")  # also what is not stated, and what spaCy calls any language
_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")  # which UTF-8 does not have


def sentence_spans(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of a part of a text begin and end; raises ConfigError."""
    try:
        from sentencex import get_sentence_boundaries  # an extra
    except ImportError:
        raise ConfigError(
            f"text: splitting text of the language {language!r} into sentences needs sentencex: "
            f"{install_hint('languages')}; or give one sentence per line"
        ) from None
    part = _HALF_CHARACTERS.sub("?", text[start:end])
    for each in get_sentence_boundaries(language, part):
        yield start + each["start_index"], start + each["end_index"]
