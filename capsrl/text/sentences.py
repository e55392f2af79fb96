"""Split raw text into sentences with exact character offsets, by rules in the manner of EWT.

Every sentence refers to the whole text it was found in (shared, not copied), and its offsets count
into it: `sentence.text[start:end] == word` for every word. Each character belongs to exactly one
word of one sentence, in order, unless it is blank: white space, a control character or an
invisible character (`tokenizer.BLANK`). Time is linear in the length of the text.

A sentence ends at a full stop, question mark, exclamation mark or emoticon unless its context
indicates otherwise, at a blank line, at a line break that does not merely wrap the text
(`_unwrap`), and after `MAX_WORDS` words. EWT also ends sentences where nothing marks it in the
text, such as between a greeting and the letter; those ends are missed.

A `Layout` changes this. In a language other than English sentences end by the rules of sentencex
(`capsrl.text.languages`). With `one_sentence_per_line` sentences end at line breaks and after
`MAX_WORDS` words only. With `html` tags belong to no word, and words have their entities decoded;
offsets still count into the text as it was given.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from capsrl.sentence import Sentence
from capsrl.text import PLAIN, Layout
from capsrl.text.languages import ENGLISH, sentence_spans
from capsrl.text.markup import PlainText, Span
from capsrl.text.tokenizer import BLANK, EMOTICON, word_ends

Break = tuple[Span, Span]  # two lines, one after the other

MAX_PARAGRAPH = 1_000_000  # characters, all of whose sentences are held at a time
MAX_WORDS = 256  # EWT's longest sentence has 159 words; attention is quadratic in this
_WRAPPED = range(40, 121)  # usual widths of text whose lines were broken to fit a page
_MAYBE_WRAPPED = range(20, 200)  # unusual ones, for which all lines of a paragraph must be full
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
_COMPANIES = ("Inc.", "Inc", "Corp.", "Corp", "Co.", "Ltd.", "Ltd", "LLC")  # Yahoo! Inc.
# Words that hardly ever end a sentence, so the next line continues it.
_UNFINISHED = frozenset(
    "the a an my your our their its of and or to with from by than as into between that which "
    "whose because if was were has".split()
)
# Words that hardly ever begin a sentence in lower case, even in a chat without capitals.
_CONTINUING = frozenset("and or of that which who than".split())
_LINE_ENDS = frozenset(".!?…:")  # a line that ends so is complete

_STRETCH = re.compile(f"[^{BLANK}]+")
_ANY_BLANK = re.compile(f"[{BLANK}]")
_LINE = re.compile(r"[^\n\r\v\f\x85\u2028\u2029]+(?:\r\n|.)?|\r\n|.", re.DOTALL)
_BULLET = re.compile(rf"(?:[-*•·–]+|\(?(?:\d{{1,2}}|[a-zA-Z])[.)])[{BLANK}]")
_BEFORE_NUMBER = re.compile(rf"[{BLANK}]+\d")
_ITEM = re.compile(r"\d{1,3}|[a-zA-Z]|[ivxIVX]{1,4}")
_ELLIPSIS = re.compile(r"\.\.+|…+\.*")
_EMOTICON = re.compile(EMOTICON)
# Contractions without their apostrophe that are also words: what shows that they are none.
_NOT_OWNED = (
    "a an the not been so too in on at for from to with because just really simply definitely "
    "probably actually already also still always now gonna gon going getting nothing all my your "
    "his her our their this that these what how where why called like"
)
_INFINITIVES = (
    "add ask be bring buy call check come do explain get give go have help keep let make meet "
    "never pay pick put see send show start stop take talk tell text try wait work write"
)
_APART = {
    "".join(parts): (
        len(parts[0]),
        re.compile(rf"[{BLANK}]+(?:{'|'.join(after.split())})(?![\w-])", re.IGNORECASE),
    )
    for parts, after in (
        (("it", "s"), _NOT_OWNED),
        (("you", "r"), _NOT_OWNED),
        (("who", "se"), "not a the going gonna"),
        (("i", "ll"), _INFINITIVES),
        (("i", "d"), "like love rather say be have never recommend suggest"),
    )
}


def read_text(text: str, layout: Layout = PLAIN) -> list[Sentence]:
    """Return all sentences of a text."""
    return list(split_text(text, layout))


def split_text(text: str, layout: Layout = PLAIN) -> Iterator[Sentence]:
    """Yield the sentences of a text one by one; blank text has none."""
    if not layout.html:
        yield from _split(text, layout)
        return
    plain = PlainText(text, keep_lines=layout.one_sentence_per_line)
    for sentence in _split(plain.text, layout):
        offsets = tuple(plain.find(start, end) for start, end in sentence.offsets or ())
        yield replace(sentence, text=text, offsets=offsets)


def split_lines(lines: Iterable[str], layout: Layout = PLAIN) -> Iterator[list[Sentence]]:
    """Yield the sentences of each paragraph of a file, or of each line if that is the layout.

    Lines come without their ends, as from `files.read_lines`, and count as joined by a newline.
    Each sentence has only its own part of the text, see `Sentence.standalone`.
    One part of the file is held at a time, but HTML, whose elements may be of any length, is read
    whole.
    """
    parts: Iterable[tuple[int, str]]
    if layout.html:
        parts = [(0, "\n".join(lines))]
    else:
        parts = _iter_lines(lines) if layout.one_sentence_per_line else iter_paragraphs(lines)
    for start, text in parts:
        yield [replace(sentence, start=start).standalone() for sentence in split_text(text, layout)]


def iter_paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (start, text) of each paragraph of a file, holding one at a time.

    Blank lines separate paragraphs, so no sentence is cut: splitting each paragraph gives the
    sentences of the whole file. Lines come without their ends, as from `files.read_lines`, and are
    joined by a newline. `start` is the offset of the paragraph in all lines joined that way. One
    without end ends after MAX_PARAGRAPH characters, or with the line that has these.
    """
    paragraph: list[str] = []
    start = end = 0
    for line in lines:
        is_blank = not _STRETCH.search(line)
        if not is_blank:
            start = start if paragraph else end
            paragraph.append(line)
        end += len(line) + 1
        if paragraph and (is_blank or end - start > MAX_PARAGRAPH):
            yield from _pieces(start, "\n".join(paragraph))
            paragraph = []
    if paragraph:
        yield start, "\n".join(paragraph)


def _pieces(start: int, text: str) -> Iterator[tuple[int, str]]:
    """A text in pieces that end at blanks, if it is much too long."""
    while len(text) > 2 * MAX_PARAGRAPH:
        end = text.rfind(" ", 1, MAX_PARAGRAPH) + 1 or MAX_PARAGRAPH
        yield start, text[:end]
        start, text = start + end, text[end:]
    yield start, text


def _iter_lines(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield (start, line), where `start` is the offset of the line in all of them joined."""
    start = 0
    for line in lines:
        yield start, line
        start += len(line) + 1


def _split(text: str, layout: Layout) -> Iterator[Sentence]:
    parts = _lines(text) if layout.one_sentence_per_line else _blocks(text)
    by_marks = not layout.one_sentence_per_line
    if by_marks and layout.language not in ENGLISH:
        parts = chain.from_iterable(sentence_spans(text, *each, layout.language) for each in parts)
        by_marks = False
    for start, end in parts:
        words = _words(text, start, end)
        first = 0
        while first < len(words):
            last = _last_word(text, words, first, ends=by_marks)
            spans = words[first : last + 1]
            if _is_abbreviation(text[slice(*spans[-1])]):
                # EWT splits off the dot that also ends the sentence.
                begin, end = spans.pop()
                spans += [(begin, end - 1), (end - 1, end)]
            yield Sentence(tuple(text[a:b] for a, b in spans), text=text, offsets=tuple(spans))
            first = last + 1


def _blocks(text: str) -> Iterator[Span]:
    """Yield the parts of a text within which a line break is no more than a space."""
    lines: list[Span] = []
    for line in _all_lines(text):
        if line is not None:
            lines.append(line)
        elif lines:
            yield from _unwrap(text, lines)
            lines = []
    if lines:
        yield from _unwrap(text, lines)


def _lines(text: str) -> Iterator[Span]:
    return (line for line in _all_lines(text) if line is not None)


def _all_lines(text: str) -> Iterator[Span | None]:
    """Yield the visible part of each line, None for a blank line."""
    for match in _LINE.finditer(text):
        visible = _STRETCH.search(text, match.start(), match.end())
        end = match.start() + len(match[0].rstrip())
        yield None if visible is None else (visible.start(), end)


def _unwrap(text: str, lines: list[Span]) -> Iterator[Span]:
    """Join the lines of a paragraph that were broken in the middle of a sentence."""
    breaks = list(zip(lines, lines[1:], strict=False))
    # A line of one long address could not have been broken, so it says nothing about the width.
    widths = (end - start for start, end in lines if _ANY_BLANK.search(text, start, end))
    width = max(widths, default=0)
    is_wide = width >= _NARROW
    # Where the first line begins in lower case too, as in chats, lower case says little.
    has_capitals = not text[lines[0][0]].islower()
    is_prose = has_capitals and _is_prose(text, breaks) or _is_wrapped(text, breaks, width)
    block = lines[0][0]
    for line, following in breaks:
        # A dash that happens to begin a wrapped line is not a bullet unless the block has one too.
        is_item = _BULLET.match(text, block) and _BULLET.match(text, following[0])
        continues = has_capitals or _first_word(text, following) in _CONTINUING
        joins = (
            (is_wide and (is_prose or (continues and _breaks_sentence(text, line, following))))
            or _is_unfinished(text, line)
            or (width in _WRAPPED and _is_full(text, line, following, width))
        )
        if is_item or not joins:
            yield block, line[1]
            block = following[0]
    yield block, lines[-1][1]


def _is_prose(text: str, breaks: list[Break]) -> bool:
    """Whether a third of the line breaks are inside sentences, so that all are mere spaces."""
    n_inside = sum(_breaks_sentence(text, *each) for each in breaks)
    return 0 < n_inside and 3 * n_inside >= len(breaks)


def _is_wrapped(text: str, breaks: list[Break], width: int) -> bool:
    """Whether all of several lines are full, and one of them ends inside a sentence."""
    return (
        len(breaks) > 1
        and width in _MAYBE_WRAPPED
        and all(_is_full(text, *each, width) for each in breaks)
        and any(_breaks_sentence(text, *each) for each in breaks)
    )


def _breaks_sentence(text: str, line: Span, following: Span) -> bool:
    """Whether a line begins in lower case, after no mark that ends a sentence or a greeting."""
    if not text[following[0]].islower() or _BULLET.match(text, following[0]):
        return False
    words = text[slice(*line)].split()
    if words[-1][-1] == ",":
        return len(words) > 4  # not Dear Anna,
    if words[-1][-1] == ".":
        return _is_abbreviation(_last_part(words[-1]))  # at 5 p.m.
    return words[-1][-1] not in _LINE_ENDS


def _is_unfinished(text: str, line: Span) -> bool:
    """Whether a line ends in a title (Mr.) or a word such as *the*."""
    last = text[slice(*line)].rsplit(maxsplit=1)[-1]
    return last.lower() in _UNFINISHED or (last in _TITLES and last not in _NUMBERS)


def _is_full(text: str, line: Span, following: Span, width: int) -> bool:
    """Whether the first word of the next line did not fit in this one."""
    return line[1] - line[0] + 1 + len(_first_word(text, following)) > width


def _first_word(text: str, line: Span) -> str:
    first = _STRETCH.match(text, line[0])
    assert first is not None  # a line begins at its first visible character
    return first[0]


def _last_part(stretch: str) -> str:
    """The last word of text without blanks."""
    *others, _ = word_ends(stretch)
    return stretch[others[-1] :] if others else stretch


def _words(text: str, start: int, end: int) -> list[Span]:
    spans: list[Span] = []
    for match in _STRETCH.finditer(text, start, end):
        begin = match.start()
        if match[0] in _NUMBERS and _BEFORE_NUMBER.match(text, match.end(), end):
            spans.append(match.span())  # number five, not a refusal
            continue
        at, before = _APART.get(match[0].lower(), (0, None))
        if before and before.match(text, match.end(), end):
            spans.append((begin, begin + at))
            begin += at
        for cut in word_ends(match[0]):
            spans.append((begin, match.start() + cut))
            begin = match.start() + cut
    return spans


def _last_word(text: str, words: list[Span], first: int, *, ends: bool) -> int:
    """Return the position of the last word of the sentence that begins at `first`.

    ends  whether marks end sentences; otherwise only the end of the words does
    """
    limit = min(len(words), first + MAX_WORDS - 1)  # one to spare for the dot of an abbreviation
    position = first if ends else limit
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
