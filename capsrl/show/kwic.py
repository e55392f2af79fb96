"""Show the hits of a search: lines with the predicate in one column, and an HTML page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.text import Text

from capsrl.show.colors import role_class
from capsrl.show.formatting import escaped, visible
from capsrl.show.html_page import page_parts

Hit = Mapping[str, Any]  # its columns: capsrl/search/found.sql
_Parts = list[tuple[str, str]]  # (role or "", text)
_LONGEST = 24  # columns of the name of a sentence


def name_of_hit(hit: Hit) -> str:
    """The id of its sentence, or its document and number."""
    return visible(hit["sentence_id"] or f"{hit['document']}:{hit['sentence']}")


def parts_of_hit(hit: Hit) -> tuple[_Parts, _Parts]:
    """The text before and after the predicate, cut where arguments begin and end.

    A word within two arguments is of the shorter one.
    """
    text, roles = hit["text"], [""] * len(hit["text"])
    for each in sorted(hit["arguments"], key=lambda each: -len(each["phrase"])):
        start = _start(text, each["phrase"], each["phrase_start"])
        roles[start : start + len(each["phrase"])] = [each["role"]] * len(each["phrase"])
    first = _start(text, hit["predicate"], hit["predicate_start"])
    halves = slice(first), slice(first + len(hit["predicate"]), None)
    before, after = (_cut(text[half], roles[half]) for half in halves)
    return before, after


def _start(text: str, words: str, start: int) -> int:
    """Where words are in a text, which may lack the markup that was between them."""
    found = start if text.startswith(words, start) else text.find(words)
    return len(text) if found < 0 else found


def _cut(text: str, roles: Sequence[str]) -> _Parts:
    runs = groupby(zip(roles, text, strict=False), key=lambda pair: pair[0])
    return [(role, "".join(letter for _, letter in run)) for role, run in runs]


def kwic_lines(hits: Iterable[Hit], width: int) -> Iterator[Text]:
    """A line for each hit, with the names of roles before their arguments."""
    found = list(hits)
    left = min(_LONGEST, max((len(name_of_hit(hit)) for hit in found), default=0))
    half = max(10, (width - left - 2) // 2 - 6)
    for hit in found:
        before, after = (Text().join(map(_styled, parts)) for parts in parts_of_hit(hit))
        before = before[max(0, len(before) - half) :]
        line = Text().append(name_of_hit(hit)[-left:].ljust(left + 2), "dim")
        line.append(" " * (half - len(before))).append_text(before)
        yield line.append(visible(hit["predicate"]), "bold cyan").append_text(after)[:width]


def _styled(part: tuple[str, str]) -> Text:
    role, text = part[0], visible(part[1].replace("\n", " "))
    return Text.assemble("[", (role, "bold green"), f" {text}]") if role else Text(text)


def hits_html(hits: Iterable[Hit], title: str) -> Iterator[str]:
    """A self-contained page, in parts."""
    return page_parts(title, "Arguments are in color.", map(_section, hits))


def _section(hit: Hit) -> str:
    before, after = ("".join(map(_marked, parts)) for parts in parts_of_hit(hit))
    return (
        f"<section><h2><small>{escaped(name_of_hit(hit))} {escaped(hit['sense'])}</small></h2>"
        f'<p class="capsrl-line" dir="auto">{before}<a aria-current="true">'
        f"{escaped(hit['predicate'])}</a>{after}</p></section>\n"
    )


def _marked(part: tuple[str, str]) -> str:
    role, text = map(escaped, part)
    kind = f'class="{role_class(role)}" data-role="{role}"'
    return f"<mark {kind}><span>{text}</span></mark>" if role else text
