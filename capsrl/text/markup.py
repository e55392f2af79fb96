"""Take the text out of HTML and remember where each of its characters was.

Tags, comments and the content of scripts and style sheets are left out, entities such as `&amp;`
are decoded. Markup is told from text as in the HTML standard (section "Tokenization"), with one
exception: after the last `>` of the text a `<` is a character like any other.

`html.parser` is not used: it fails on malformed declarations (`<![ x`), and that of Python 3.11.7
took 98 seconds for 60 kB of `<a <a <a`. Here the time is linear in the length of the text.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

Span = tuple[int, int]  # (start, end), half-open, in characters

# Elements that browsers draw on lines of their own, and cells of tables. Each ends a sentence.
_BLOCKS = frozenset(
    "address article aside blockquote body button caption center dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li "
    "listing main menu nav ol optgroup option p plaintext pre search section select summary table "
    "tbody td textarea tfoot th thead title tr ul xmp".split()
)
_KEEP_LINES = frozenset("listing pre textarea xmp".split())
_BLOCK = re.compile(rf"</?(?:br|{'|'.join(sorted(_BLOCKS))})[\s/>]", re.IGNORECASE)

# A quoted value may hold a `>`. Possessive repetitions keep the time linear.
_ATTRIBUTES = r"""(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[^>])*+(?:>|\Z)"""
_ENTITY = r"&(?:#\d{1,12}|#[xX][0-9a-fA-F]{1,12}|[a-zA-Z][a-zA-Z0-9]{1,31});?|\xad"
_ENTITIES = re.compile(_ENTITY)
_MARKUP = re.compile(
    rf"<(?P<hidden>(?i:script|style))(?=[\s/>]){_ATTRIBUTES}.*?(?=</(?i:(?P=hidden))[\s/>]|\Z)"
    rf"|<(?P<end>/?)(?P<name>[a-zA-Z][^\s/>]*){_ATTRIBUTES}"
    r"|<!--(?:-?>|.*?(?:--!?>|\Z))"
    r"|<[!?/][^>]*+(?:>|\Z)"
    rf"|{_ENTITY}",
    re.DOTALL,
)
_SOFT_HYPHEN = "\xad"  # visible only at the end of a line
_TO_SPACES = str.maketrans(dict.fromkeys("\n\r\v\f\x85\u2028\u2029", " "))


class PlainText:
    """The text of some HTML, and the place of each of its characters there.

    text  with entities decoded. A blank line stands where a block element begins or ends, a line
          break where `<br>` is. If there is any of them, the line breaks of the HTML itself become
          spaces, as in a browser, except in `<pre>`

    keep_lines  let the line breaks of the HTML stay line breaks
    """

    def __init__(self, source: str, *, keep_lines: bool = False) -> None:
        self._parts: list[str] = []
        self._length = 0
        # Runs of characters: where each begins in the text; where it is in the source, with its
        # end there if it was decoded, and None if the characters are those of the source.
        self._begins: list[int] = []
        self._places: list[tuple[int, int | None]] = []
        self._flows = not keep_lines and _BLOCK.search(source) is not None
        self._read(source)
        self.text = "".join(self._parts)

    def find(self, start: int, end: int) -> Span:
        """Return the span in the HTML of the characters from `start` to `end` of the text."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, position: int) -> Span:
        run = bisect_right(self._begins, position) - 1
        start, end = self._places[run]
        if end is not None:
            return start, end
        start += position - self._begins[run]
        return start, start + 1

    def _read(self, source: str) -> None:
        position = depth = 0  # depth: number of open elements that keep their line breaks
        for match in _find_markup(source):
            self._add(source[position : match.start()], position, flows=depth == 0)
            position = match.end()
            if match[0][0] != "<":
                self._add_entity(match)
                continue
            name = (match["name"] or "").lower()
            if name in _KEEP_LINES:
                depth = max(0, depth + (-1 if match["end"] else 1))
            if name in _BLOCKS or name == "br":
                self._append("\n" if name == "br" else "\n\n", *match.span())
        self._add(source[position:], position, flows=depth == 0)

    def _add(self, text: str, start: int, *, flows: bool) -> None:
        self._append(text.translate(_TO_SPACES) if flows and self._flows else text, start)

    def _add_entity(self, match: re.Match[str]) -> None:
        name = match[0]
        text = html.unescape(name).replace(_SOFT_HYPHEN, "")
        n_same = 0  # characters after the entity: &ampsold is &sold
        if len(text) > 2 or not name.endswith(";"):
            while n_same < len(text) and text[-n_same - 1] == name[-n_same - 1]:
                n_same += 1
        cut = len(text) - n_same
        self._append(text[:cut], match.start(), match.end() - n_same)
        self._append(text[cut:], match.end() - n_same)

    def _append(self, text: str, start: int, end: int | None = None) -> None:
        if text:
            self._begins.append(self._length)
            self._places.append((start, end))
            self._parts.append(text)
            self._length += len(text)


def _find_markup(source: str) -> Iterator[re.Match[str]]:
    """Yield tags, comments, scripts, entities and soft hyphens in order."""
    last = source.rfind(">")
    position = 0
    while match := (_MARKUP if position <= last else _ENTITIES).search(source, position):
        if match[0][0] == "<" and match.start() > last:
            position = match.start()
        else:
            yield match
            position = match.end()
