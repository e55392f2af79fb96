"""Split raw text into sentences with exact character offsets, by rules in the manner of EWT.

Every sentence refers to the whole text it was found in (shared, not copied), and its offsets count
into it: `sentence.text[start:end] == word` for every word. Each character belongs to exactly one
word of one sentence, in order, unless it is blank: white space, a control character or an
invisible character (`tokenizer.BLANK`). Time is linear in the length of the text.

A sentence ends at a full stop, question mark, exclamation mark or emoticon unless its context
indicates otherwise, at a blank line, at a line break that does not merely wrap the text
(`_unwrap`), and after `MAX_WORDS` words. EWT also ends sentences where nothing marks it in the
text, such as between a greeting and the letter; those ends are missed.
"""

import re
from collections.abc import Iterable, Iterator

from capsrl.sentence import Sentence
from capsrl.text.tokenizer import BLANK, EMOTICON, word_ends

Span = tuple[int, int]  # (start, end), half-open, in characters of the text

MAX_WORDS = 256  # EWT's longest sentence has 159 words; attention is quadratic in this
_WRAPPED = range(40, 121)  # widths of text whose lines were broken to fit a page
_NARROW = 15  # lines of a list may all be narrower; lines of prose are not

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
# Abbreviations that never end a sentence.
_TITLES = frozenset(
    "Mr. Mrs. Ms. Dr. Drs. Prof. Rev. Fr. Gen. Col. Capt. Cmdr. Maj. Lt. Sgt. Cpl. Pvt. Gov. "
    "Sen. Sens. Rep. Reps. Hon. Pres. St. Mt. Ft. vs. eg. ie. i.e. e.g. No. Nos. cf. P.S. PS. "
    "Fig. fig.".split()
)
_NUMBERS = ("No.", "Nos.")  # at the end of a line more often a refusal
_COMPANIES = ("Inc.", "Corp.", "Co.", "Ltd.")  # Yahoo! Inc.
# Words that hardly ever end a sentence, so the next line continues it.
_UNFINISHED = frozenset("the a an my your our their its of and or".split())
_LINE_ENDS = frozenset(".!?…:")  # a line that ends so is complete

_STRETCH = re.compile(f"[^{BLANK}]+")
_ANY_BLANK = re.compile(f"[{BLANK}]")
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+(?:\r\n|.)?|\r\n|.", re.DOTALL)
_BULLET = re.compile(rf"(?:[-*•·–]+|\(?(?:\d{{1,2}}|[a-zA-Z])[.)])[{BLANK}]")
_BEFORE_NUMBER = re.compile(rf"[{BLANK}]+\d")
_ITEM = re.compile(r"\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4}")
_ELLIPSIS = re.compile(r"\.\.+|…+\.*")
_EMOTICON = re.compile(EMOTICON)


def read_text(text: str) -> list[Sentence]:
    """Return all sentences of a text."""
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
                # EWT splits off the dot that also ends the sentence.
                begin, end = spans.pop()
                spans += [(begin, end - 1), (end - 1, end)]
            yield Sentence(tuple(text[a:b] for a, b in spans), text=text, offsets=tuple(spans))
            first = last + 1


def iter_paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (start, text) of each paragraph of a file, holding one at a time.

    Blank lines separate paragraphs, so no sentence is cut: splitting each paragraph gives the
    sentences of the whole file. Lines come without their ends, as from `files.read_lines`, and are
    joined by a newline. `start` is the offset of the paragraph in all lines joined that way.
    """
    paragraph: list[str] = []
    start = end = 0
    for line in lines:
        if _STRETCH.search(line):
            start = start if paragraph else end
            paragraph.append(line)
        elif paragraph:
            yield start, "\n".join(paragraph)
            paragraph = []
        end += len(line) + 1
    if paragraph:
        yield start, "\n".join(paragraph)


def _blocks(text: str) -> Iterator[Span]:
    """Yield the parts of a text within which a line break is no more than a space."""
    lines: list[Span] = []
    for match in _LINE.finditer(text):
        visible = _STRETCH.search(text, match.start(), match.end())
        if visible is not None:
            lines.append((visible.start(), match.start() + len(match[0].rstrip())))
        elif lines:
            yield from _unwrap(text, lines)
            lines = []
    if lines:
        yield from _unwrap(text, lines)


def _unwrap(text: str, lines: list[Span]) -> Iterator[Span]:
    """Join the lines of a paragraph that were broken in the middle of a sentence."""
    # A line of one long address could not have been broken, so it says nothing about the width.
    widths = (end - start for start, end in lines if _ANY_BLANK.search(text, start, end))
    width = max(widths, default=0)
    is_prose = width >= _NARROW and _is_prose(text, lines)
    block = lines[0][0]
    for line, following in zip(lines, lines[1:], strict=False):
        # A dash that happens to begin a wrapped line is not a bullet unless the block has one too.
        is_item = _BULLET.match(text, block) and _BULLET.match(text, following[0])
        joins = is_prose or _is_unfinished(text, line) or _is_full(text, line, following, width)
        if is_item or not joins:
            yield block, line[1]
            block = following[0]
    yield block, lines[-1][1]


def _is_prose(text: str, lines: list[Span]) -> bool:
    """Whether a third of the line breaks are inside sentences, so that all are mere spaces.

    Such a break is before a lower-case letter, and not after a mark that ends a sentence or after
    a greeting (Dear Anna,). Where the first line begins in lower case too, as in chats and some
    lists, lower case means nothing.
    """
    if text[lines[0][0]].islower():
        return False
    pairs = list(zip(lines, lines[1:], strict=False))
    n_inside = sum(_breaks_sentence(text, line, following) for line, following in pairs)
    return 0 < n_inside and 3 * n_inside >= len(pairs)


def _breaks_sentence(text: str, line: Span, following: Span) -> bool:
    if not text[following[0]].islower() or _BULLET.match(text, following[0]):
        return False
    last = text[line[1] - 1]
    if last == ",":
        return len(text[slice(*line)].split()) > 4
    return last not in _LINE_ENDS


def _is_unfinished(text: str, line: Span) -> bool:
    """Whether a line ends in a title (Mr.) or a word such as *the*."""
    last = text[slice(*line)].rsplit(maxsplit=1)[-1]
    return last.lower() in _UNFINISHED or (last in _TITLES and last not in _NUMBERS)


def _is_full(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether the text is wrapped and the first word of the next line did not fit in this one."""
    first = _STRETCH.match(text, following[0])
    assert first is not None  # a line begins at its first visible character
    return width in _WRAPPED and line[1] - line[0] + 1 + len(first[0]) > width


def _words(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for match in _STRETCH.finditer(text, start, end):
        begin = match.start()
        if match[0] in _NUMBERS and _BEFORE_NUMBER.match(text, match.end(), end):
            spans.append(match.span())  # number five, not a refusal
            continue
        for cut in word_ends(match[0]):
            spans.append((begin, match.start() + cut))
            begin = match.start() + cut
    return spans


def _last_word(text: str, words: list[Span], first: int) -> int:
    """Return the position of the last word of the sentence that begins at `first`."""
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
    """Return the position after brackets and quotes that touch a terminator."""
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
    """Whether the word at `position` ends its sentence, with closing marks up to `last`."""
    word = text[slice(*words[position])]
    following = text[slice(*words[last + 1])]
    if _is_abbreviation(word):
        return word not in _TITLES and following in _STARTERS
    if not _TERMINATORS.issuperset(word):
        return _EMOTICON.fullmatch(word) is not None and following[0].isupper()
    if following[0] in _NO_START or following in _COMPANIES:
        return False
    if following[0].islower():
        # "Really?" she said. I was ... surprised, and . . . pleased.
        before = text[slice(*words[position - 1])] if position > first else ""
        return last == position and before != "." and not _ELLIPSIS.fullmatch(word)
    if word == "." and position == first + 1:  # 1. The first of a list
        return _ITEM.fullmatch(text[slice(*words[first])]) is None
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
