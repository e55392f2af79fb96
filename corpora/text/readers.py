"""Read the sentences of a file, one function per kind of file.

A reader takes the content of a file and yields its sentences, cut by capsrl unless the file has
words. Those with parameters are made by a function: `table("text")` reads a column of a CSV file.
"""

import ast
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from xml.etree import ElementTree

from capsrl.formats.conllu import read_conllu
from capsrl.sentence import Sentence
from capsrl.text.sentences import split_text
from corpora.text.markup import read_comment, read_html, read_markdown, without_formulas

Reader = Callable[[str], Iterator[Sentence]]
Clean = Callable[[str], str]

_INGREDIENTS = re.compile(
    r"^#+ *(?:ingredients|utensils|you.ll need).*?(?=^#|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_LABEL = re.compile(r"__label__\S+\s*")
_DATE_LINE = re.compile(r"^\s*\w+day, \w+ \d{1,2}, \d{4}\s*$", re.MULTILINE)
_CREDIT = re.compile(
    r"^\s*(?:—|Image:|File:|Correction|This (?:article|interview)).*$", re.MULTILINE
)
_INTERVIEWED = re.compile(r"\(\(.{1,60}?\)\)[: ]*")
_SPEAKER = re.compile(
    r"^(?:\[?(?:doctor|patient|guest\w*)[^:\]\n]{0,12}[:\]])\s*", re.IGNORECASE | re.MULTILINE
)
_HEADING = re.compile(r"^[A-Z][A-Z /&-]+:?$", re.MULTILINE)
_BULLET = re.compile(r"^\s*[•-]\s*")
_FINDING = re.compile(r"^(\n?)[A-Z]\w+(?: \w+)?: ")  # the name of what was examined
_NEWSPAPERS = re.compile(
    r"\s*[\[(](?:[A-Z0-9][^()]*|via [^()]*|[a-z]+\.[a-z]+[^()]*)[\])][,;.]?\s*$"
)
_SPORT = re.compile(
    r"sport|olympic|\bcup\b|championship|league|football|cricket|tennis|basketball", re.IGNORECASE
)
_LONGEST_DAY = (
    10_000  # characters; longer files of current events were expanded by a language model
)


def lines(text: str) -> Iterator[Sentence]:
    """Read a text on each line; labels as of fastText are dropped."""
    for line in text.splitlines():
        yield from split_text(_LABEL.sub("", line))


def markdown(text: str) -> Iterator[Sentence]:
    """Read a page in Markdown, without the ingredients of a recipe."""
    yield from split_text(read_markdown(_INGREDIENTS.sub("", text)))


def words(text: str) -> Iterator[Sentence]:
    """Read CoNLL-U with its own words."""
    yield from read_conllu(text.split("\n"))


def table(column: str, clean: Clean = str) -> Reader:
    """Make a reader of one column of a CSV file."""

    def read(text: str) -> Iterator[Sentence]:
        for row in csv.DictReader(io.StringIO(text)):
            yield from split_text(clean(row[column]))

    return read


def records(*keys: str) -> Reader:
    """Make a reader of JSON: the texts that the keys lead to, in lists and objects."""

    def read(text: str) -> Iterator[Sentence]:
        found = [json.loads(text)]
        for key in keys:
            inside = [
                each for item in found for each in (item if isinstance(item, list) else [item])
            ]
            found = [each[key] for each in inside]
        for each in found:
            yield from split_text(each)

    return read


def stack_exchange(text: str) -> Iterator[Sentence]:
    """Read Posts.xml or Comments.xml of a data dump: titles, questions, answers, comments."""
    for row in ElementTree.fromstring(text.encode()).iter("row"):
        yield from split_text(without_formulas(row.get("Title", "")))
        if row.get("PostTypeId") in ("1", "2"):  # no descriptions of tags
            paragraphs = re.split(r"\n\s*\n", read_html(row.get("Body", "")))
            unwrapped = "\n\n".join(" ".join(each.split()) for each in paragraphs)
            yield from split_text(without_formulas(unwrapped))
        yield from split_text(without_formulas(read_comment(row.get("Text", ""))))


def self_dialogue(text: str) -> Iterator[Sentence]:
    """Read the turns of self-dialogues that were not rejected, each by itself."""
    for row in csv.DictReader(io.StringIO(text)):
        if row["Reject"] or row["AssignmentStatus"] == "Rejected":
            continue
        turns = [key for key in row if key and key.startswith("Answer.sentence")]
        for key in sorted(turns, key=lambda key: int(re.sub(r"\D", "", key))):
            if row[key] and row[key] != "{}":
                yield from split_text(row[key])


def medical_answers(text: str) -> Iterator[Sentence]:
    """Read the answers of MedQuAD; dashes begin the items of lists."""
    for answer in ElementTree.fromstring(text).iter("Answer"):
        items = re.sub(r"\s+- ", "\n\n", answer.text or "")
        yield from split_text(re.sub(r"[ \t]+", " ", items))


def current_events(*, sport: bool) -> Reader:
    """Make a reader of a day of Wikipedia's current events: the news under sport, or all others."""

    def read(text: str) -> Iterator[Sentence]:
        if "Source_URI: Portal:Current events" not in text[:200] or len(text) > _LONGEST_DAY:
            return
        for category, item in _items(text):
            lead = _without_newspapers(item)
            # The name of a topic names no newspaper and has no full stop, or is short.
            is_lead = lead != item or item.endswith((".", "!", "?"))
            if is_lead and len(lead.split()) > 5 and bool(_SPORT.search(category)) is sport:
                yield from split_text(lead)

    return read


def clean_article(text: str) -> str:
    """Return an article of Wikinews without date, credits and the names of those who speak."""
    return _INTERVIEWED.sub("\n\n", _CREDIT.sub("", _DATE_LINE.sub("", text)))


def clean_dialogue(text: str) -> str:
    """Return each turn as a paragraph, without the speaker; blanks as usual before marks."""
    text = re.sub(r" ([,.?!;:])", r"\1", _SPEAKER.sub("\n", text))
    return re.sub(r"\b(gon|wan) na\b", r"\1na", re.sub(r" ('\w+|n't)\b", r"\1", text))


def clean_note(text: str) -> str:
    """Return the findings of a note, each as a paragraph, without headings."""
    items = (_BULLET.sub("\n", line) for line in _HEADING.sub("\n", text).split("\n"))
    return "\n".join(_FINDING.sub(r"\1", item) for item in items)


def _items(text: str) -> Iterator[tuple[str, str]]:
    """Yield category and text of each item, from YAML of this one form."""
    category, item = "", ""
    for line in [*text.partition("Intelligence_Payload:")[2].splitlines(), ""]:
        if line.startswith("    ") and item:
            item += f" {line.strip()}"
            continue
        if item:
            yield category, _scalar(item)
        item = line.removeprefix("  - ") if line.startswith("  - ") else ""
        if not item and line.strip().endswith(":"):
            category = line.strip().strip(":'\"")


def _scalar(value: str) -> str:
    """Return a scalar of YAML without its quotes, "" if it has other escapes than Python's."""
    if value[:1] == "'" == value[-1:]:
        return value[1:-1].replace("''", "'")
    if value[:1] == '"' == value[-1:]:
        try:
            return str(ast.literal_eval(value.replace("\\ ", "")))
        except (SyntaxError, ValueError):
            return ""
    return value


def _without_newspapers(text: str) -> str:
    """Return a lead without the names of its sources in brackets."""
    while (match := _NEWSPAPERS.search(text)) and match.start():
        text = text[: match.start()].rstrip(" ,;")
    return re.sub(r"(?<=[.!?])\s*\([^()]{2,60}\)\.?", "", text)
