"""Raw text in, Sentences with exact character offsets out, by rules in the manner of EWT.

Every sentence holds the whole text it was found in (shared, not copied), and its offsets count
into that: `sentence.text[start:end] == word` for every word, always. Each character belongs to
exactly one word of one sentence, in order, unless it is blank: white space, a control character
or an invisible mark (`words.BLANK`). Time is linear in the length of the text.

A sentence ends at a full stop, question or exclamation mark or emoticon unless what surrounds it
says otherwise, at a blank line, at a line break that was meant (`_blocks` says which are), and
after `MAX_WORDS` words. EWT also ends sentences where nothing shows in the text (between a
greeting and the letter, say); those are missed.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from capsrl.sentence import Sentence
from capsrl.text.tokenizer import BLANK, EMOTICON, word_ends

Span = tuple[int, int]  # (start, end), half-open, in characters of the text

MAX_WORDS = 256  # EWT's longest sentence has 159 words; attention is quadratic in this
_WRAPPED = range(40, 121)  # the widths of text whose lines were broken to fit a page

_TERMINATORS = frozenset(".!?…。！？｡؟۔।॥‼⁇⁈⁉")
_CLOSERS = frozenset((")", "]", "}", '"', "'", "''", "’’", "”", "’", "»"))
_NO_START = frozenset(",;:)]}%/&=+|”»") | _TERMINATORS
# After an abbreviation only a word that often begins a sentence shows that one ended.
_STARTERS = frozenset(
    "The This That These Those There It He She We You They I My Our Your His Her Their In On "
    "At As If When While But And So Please What Who Why How After Before For No Not Is Are Do "
    "Does Did Can Could Would Will Also However Then Thanks Just Now One Some All Any To From "
    "With".split()
)
_TITLES = frozenset(
    "Mr. Mrs. Ms. Dr. Drs. Prof. Rev. Fr. Gen. Col. Capt. Cmdr. Maj. Lt. Sgt. Cpl. Pvt. Gov. "
    "Sen. Sens. Rep. Reps. Hon. Pres. St. Mt. Ft. vs. eg. ie. i.e. e.g. No. Nos. cf. P.S. PS. "
    "Fig. fig.".split()
)


def read_text(text: str) -> list[Sentence]:
    """All sentences of a text."""
    return list(split_text(text))


def split_text(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text one by one; blank text has none."""
    for start, end in _blocks(text):
        words = _words(text, start, end)
        first = 0
        while first < len(words):
            last = _last_word(text, words, first)
            spans = words[first : last + 1]
            if _is_abbreviation(text[slice(*spans[-1])]):
                # EWT gives the dot that does both duties to the sentence.
                begin, end = spans.pop()
                spans += [(begin, end - 1), (end - 1, end)]
            yield Sentence(tuple(text[a:b] for a, b in spans), text=text, offsets=tuple(spans))
            first = last + 1


def iter_paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (start, text) of each paragraph of a file, holding one at a time.

    Paragraphs are parted by blank lines, so no sentence is cut: splitting each gives the
    sentences of the whole. Lines come without their ends, as `files.read_lines` gives them, and
    are joined by a newline. `start` is where the paragraph begins in all the lines so joined.
    """
    paragraph: list[str] = []
    start = end = 0
    for line in lines:
        if _stretches().search(line):
            start = start if paragraph else end
            paragraph.append(line)
        elif paragraph:
            yield start, "\n".join(paragraph)
            paragraph = []
        end += len(line) + 1
    if paragraph:
        yield start, "\n".join(paragraph)


def _blocks(text: str) -> Iterator[Span]:
    """Stretches of text within which a line break is no more than a space."""
    lines: list[Span] = []
    for match in _lines().finditer(text):
        visible = _stretches().search(text, match.start(), match.end())
        if visible is not None:
            lines.append((visible.start(), match.start() + len(match[0].rstrip())))
        elif lines:
            yield from _unwrapped(text, lines)
            lines = []
    if lines:
        yield from _unwrapped(text, lines)


def _unwrapped(text: str, lines: list[Span]) -> Iterator[Span]:
    """Join the lines of a paragraph that were broken only because the next word did not fit."""
    # A line of one long address could not have been broken, so it tells nothing of the width.
    widths = (end - start for start, end in lines if _blank().search(text, start, end))
    width = max(widths, default=0)
    start, end = lines[0]
    filled = end - start
    for next_start, next_end in lines[1:]:
        next_word = _stretches().match(text, next_start)
        assert next_word is not None  # a line begins at its first visible character
        fits = filled + 1 + len(next_word[0]) <= width
        # A dash that happens to begin a wrapped line is no bullet unless the block has one too.
        item = _bullet().match(text, start) and _bullet().match(text, next_start)
        if width not in _WRAPPED or fits or item:
            yield start, end
            start = next_start
        end = next_end
        filled = next_end - next_start
    yield start, end


def _words(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for match in _stretches().finditer(text, start, end):
        begin = match.start()
        if match[0] in ("No.", "Nos.") and _number().match(text, match.end(), end):
            spans.append(match.span())  # number five, not a refusal
            continue
        for cut in word_ends(match[0]):
            spans.append((begin, match.start() + cut))
            begin = match.start() + cut
    return spans


def _last_word(text: str, words: list[Span], first: int) -> int:
    """The position of the word that ends the sentence which begins at `first`."""
    limit = min(len(words), first + MAX_WORDS - 1)  # one to spare for the dot of an abbreviation
    position = first
    while position < limit:
        last = _with_closers(text, words, position, limit)
        if last + 1 >= len(words):
            break
        if _ends(text, words, first, position, last):
            return last
        position = last + 1
    if limit == len(words):
        return limit - 1
    return _best_cut(text, words, first, limit)


def _with_closers(text: str, words: list[Span], position: int, limit: int) -> int:
    """Brackets and quotes that touch a terminator belong to the sentence it ends."""
    last = position
    if text[words[position][0]] in _TERMINATORS:
        while (
            last + 1 < limit
            and words[last + 1][0] == words[last][1]
            and text[slice(*words[last + 1])] in _CLOSERS
        ):
            last += 1
    return last


def _ends(text: str, words: list[Span], first: int, position: int, last: int) -> bool:
    word = text[slice(*words[position])]
    following = text[slice(*words[last + 1])]
    if _is_abbreviation(word):
        return word not in _TITLES and following in _STARTERS
    if not _TERMINATORS.issuperset(word):
        return _emoticon().fullmatch(word) is not None and following[0].isupper()
    if following[0] in _NO_START:
        return False
    if following[0].islower():
        # "Really?" she said. I was ... surprised, and . . . pleased.
        before = text[slice(*words[position - 1])] if position > first else ""
        return last == position and before != "." and not _ellipsis().fullmatch(word)
    if word == "." and position == first + 1:  # 1. The first of a list
        return _item().fullmatch(text[slice(*words[first])]) is None
    return True


def _best_cut(text: str, words: list[Span], first: int, limit: int) -> int:
    """Cut a sentence that is too long at the last of the best marks in its second half."""
    for marks in (";:", ",", "-–—|"):
        for position in range(limit - 1, first + MAX_WORDS // 2, -1):
            if text[words[position][0]] in marks:
                return position
    return limit - 1


def _is_abbreviation(word: str) -> bool:
    return len(word) > 1 and word[-1] == "." and word[-2].isalpha()


@cache
def _stretches() -> re.Pattern[str]:
    return re.compile(f"[^{BLANK}]+")


@cache
def _blank() -> re.Pattern[str]:
    return re.compile(f"[{BLANK}]")


@cache
def _lines() -> re.Pattern[str]:
    return re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+(?:\r\n|.)?|\r\n|.", re.DOTALL)


@cache
def _bullet() -> re.Pattern[str]:
    return re.compile(rf"(?:[-*•·–]+|\(?(?:\d{{1,2}}|[a-zA-Z])[.)])[{BLANK}]")


@cache
def _number() -> re.Pattern[str]:
    return re.compile(rf"[{BLANK}]+\d")


@cache
def _item() -> re.Pattern[str]:
    return re.compile(r"\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4}")


@cache
def _ellipsis() -> re.Pattern[str]:
    return re.compile(r"\.\.+|…+\.*")


@cache
def _emoticon() -> re.Pattern[str]:
    return re.compile(EMOTICON)
