"""Process raw text: sentences, words, spacing, lemmas and phrases."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Layout:
    """What a text looks like.

    html                   it has HTML tags and entities, which are not words
    one_sentence_per_line  every line is a sentence, whatever marks it has
    language               its code: sentences end by the rules of that language, English if empty
    """

    html: bool = False
    one_sentence_per_line: bool = False
    language: str = ""


PLAIN = Layout()
