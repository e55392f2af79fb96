"""What a page is made of, and its two forms: Markdown and self-contained HTML.

Texts may hold `**bold**` and backquoted code, nothing else; all other characters stand for
themselves in both forms.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_STYLE = (
    "body{font-family:system-ui,sans-serif;font-size:15px;line-height:1.45;color:#1a1a1a;"
    "background:#fff;max-width:62rem;margin:2em auto;padding:0 1em}"
    "h1{font-size:1.6em}h2{font-size:1.3em;margin:2.2em 0 .5em;border-bottom:1px solid #ccc}"
    "h3{font-size:1.08em;margin:1.6em 0 .4em}h4{font-size:1em;margin:1.2em 0 .3em}"
    ".wide{overflow-x:auto;margin:.8em 0}table{border-collapse:collapse;font-size:.87em}"
    "th,td{padding:.25em .6em;border-bottom:1px solid #ddd;text-align:left;vertical-align:top}"
    "th{border-bottom:2px solid #999;font-weight:600}"
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
    "figure{margin:1em 0}figure svg{width:720px;height:auto;display:block}"
    "figcaption{font-size:.9em;color:#444;margin-top:.3em}"
    "p,ul,figcaption{max-width:48rem}th.n{white-space:normal}"
    "code{font-size:.92em;background:#f2f2f2;padding:0 .2em}"
)


@dataclass(frozen=True)
class Heading:
    """A title; level 1 is the page's."""

    level: int
    text: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: Sequence[str]


@dataclass(frozen=True)
class Table:
    """Rows under a head; `numbers` is the first of the columns that are aligned to the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: int = 1


@dataclass(frozen=True)
class Picture:
    """A figure: the name of its file, what it shows in words, and the drawing itself."""

    name: str
    caption: str
    svg: str


Block = Heading | Text | Items | Table | Picture


def to_markdown(blocks: Iterable[Block]) -> str:
    """The page as Markdown; its figures are files in the folder figures."""
    return "\n\n".join(map(_markdown, blocks)) + "\n"


def to_html(blocks: Sequence[Block]) -> str:
    """The page as HTML that is well-formed XML too: no script, nothing fetched."""
    title = next(block.text for block in blocks if isinstance(block, Heading))
    body = "\n".join(map(_html, blocks))
    return (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>'
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_plain(block.text)}"
        case Text():
            return _plain(block.text)
        case Items():
            return "\n".join(f"- {_plain(text)}" for text in block.texts)
        case Table():
            rule = ["---" if i < block.numbers else "--:" for i in range(len(block.head))]
            head, *rows = ([_cell(cell) for cell in row] for row in (block.head, *block.rows))
            return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows))
        case Picture():
            caption = _plain(block.caption)
            alt = re.split(r" ?[;:(\[]|\. |\.$", caption)[0]  # the caption follows as a whole
            return f"![{alt}](figures/{block.name}.svg)\n\n{caption}"


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{_rich(block.text)}</h{block.level}>"
        case Text():
            return f"<p>{_rich(block.text)}</p>"
        case Items():
            return "<ul>" + "".join(f"<li>{_rich(text)}</li>" for text in block.texts) + "</ul>"
        case Table():
            head = _row(block.head, "th", block.numbers)
            rows = "\n".join(_row(row, "td", block.numbers) for row in block.rows)
            return (
                f'<div class="wide"><table><thead>{head}</thead>\n'
                f"<tbody>{rows}</tbody></table></div>"
            )
        case Picture():
            label = html.escape(re.sub(r"[*`]", "", block.caption))
            svg = block.svg.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
            svg = svg[svg.index("<svg ") :]  # no second prolog within a page
            return (
                f'<figure><div class="wide">{svg.strip()}</div>\n'
                f"<figcaption>{_rich(block.caption)}</figcaption></figure>"
            )


def _row(cells: Sequence[str], tag: str, numbers: int) -> str:
    parts = []
    for i, cell in enumerate(cells):
        mark = ' class="n"' if i >= numbers else ""
        parts.append(f"<{tag}{mark}>{_rich(cell)}</{tag}>")
    return f"<tr>{''.join(parts)}</tr>"


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _rich(text: str) -> str:
    text = html.escape(text, quote=False)
    text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", text)
