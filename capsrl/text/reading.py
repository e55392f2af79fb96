"""Turn what a user gives to `Labeler.label` into sentences, and mark known predicates."""

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from capsrl.errors import DataError
from capsrl.sentence import Proposition, Sentence
from capsrl.text import PLAIN, Layout
from capsrl.text.sentences import read_text


def to_sentences(
    text: str | Sentence, layout: Layout = PLAIN, *, position: int | None = None
) -> list[Sentence]:
    """The sentences of raw text; a Sentence, whose words are known, is taken as it is.

    position  of the text in a stream, for the message of the DataError raised for anything else
    """
    if isinstance(text, str):
        return read_text(text, layout)
    where = "text" if position is None else f"text {position}"
    if isinstance(text, Sentence):
        for number, word in enumerate(text.words):
            if not isinstance(word, str) or not word:
                raise DataError(
                    f"{where}: expected words that are strings, got {word!r:.60} as word {number}"
                )
        return [text]
    fix = "; leave out rows without text, or use label_many(texts, missing='empty')"
    fix = fix if is_missing(text) else ""
    raise DataError(f"{where}: expected a string or a Sentence, got {text!r:.60}{fix}")


def check_several(texts: object, expected: str) -> None:
    """Raise DataError for what is not several texts, or would be the names of columns or keys."""
    if hasattr(type(texts), "columns"):
        got = f"a {type(texts).__name__}"
        raise DataError(f'{expected}, got {got}; give one column: frame["review"]')
    is_iterable = isinstance(texts, Iterable) or hasattr(texts, "__getitem__")
    if isinstance(texts, bytes | Mapping) or not is_iterable:
        raise DataError(f"{expected}, got {texts!r:.60}")


def read_pair(item: object, position: int) -> tuple[Any, Any]:
    """An id and a text; raises DataError, naming the position, for anything else."""
    if isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 2:
        return item[0], item[1]
    raise DataError(f"text {position}: expected a pair (id, text), got {item!r:.60}")


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing text: None, NaN, or pandas' NA and NaT."""
    if isinstance(value, numbers.Real):  # also the numbers of numpy
        return bool(value != value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def mark_predicates(sentences: list[Sentence], positions: Iterable[int]) -> list[Sentence]:
    """The sentences of a text with a proposition, without sense, at each of these positions.

    positions  offsets of characters in the text; in a sentence without text, positions of words
    Raises DataError for a position that is not in a word.
    """
    wanted = set(positions)
    if missed := outside(sentences, wanted):
        has_text = any(sentence.offsets for sentence in sentences)
        what = "an offset inside a word" if has_text else "the position of a word"
        raise DataError(f"at: expected {what}, got {min(missed)}")
    return [
        sentence.with_propositions(
            Proposition(word)
            for word, span in enumerate(_spans(sentence))
            if not wanted.isdisjoint(span)
        )
        for sentence in sentences
    ]


def outside(sentences: Iterable[Sentence], positions: Iterable[int]) -> set[int]:
    """The positions that are in no word; see `mark_predicates`."""
    return set(positions).difference(*(span for each in sentences for span in _spans(each)))


def _spans(sentence: Sentence) -> list[range]:
    """The positions in each word."""
    if sentence.offsets:
        return [range(start, end) for start, end in sentence.offsets]
    return [range(word, word + 1) for word in range(len(sentence.words))]
