"""Find the prose in HTML and Markdown: no headers, tables, quotations or code.

What stood inside a sentence and is not prose, such as a formula, leaves CUT behind, so that the
sentence can be left out.
"""

import html
import re

CUT = "\ue000"  # for private use in Unicode, so in no text

_FRONT_MATTER = re.compile(r"\A---\s*\n.*?\n---\s*\n", re.DOTALL)
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_TEMPLATE = re.compile(r"\{:.*?\}|(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)  # of Hugo and Jekyll
_IMAGE = re.compile(r"!\[[^\[\]]*\]\([^()]*\)")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\s?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_FOOTNOTE = re.compile(r"\[\^\w+\]:?")
_ESCAPE = re.compile(r"\\(?=[\W_])")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_NOT_PROSE = re.compile(r"\s*(?:#|>|\||\[[^\]]*\]:|={3}|-{3}|\*{3}|:::| {4}\S+ *[=(])|.*\|.*\|")
_ITEM = re.compile(r"^\s*(?:[*+•-]|\d{1,2}[.)])\s+")

_SKIPPED = re.compile(
    r"<(pre|script|style|table|blockquote|figure|iframe|h[1-6])\b.*?</\1>|<!--.*?-->",
    re.DOTALL | re.IGNORECASE,
)
_BLOCK = re.compile(r"</?(?:p|div|li|ul|ol|br|hr|img|h\d)\b[^<>]*>", re.IGNORECASE)
_CODE = re.compile(r"<code>(.*?)</code>|`([^`\n]+)`", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_FORMULA = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)", re.DOTALL)
# An amount of money has digits after the sign and then a blank.
_SHORT_FORMULA = re.compile(r"\$(?!\d+(?:[.,]\d+)?(?:\s|$))[^$\n]{1,200}?\$")
_ADDRESS = re.compile(r"https?://\S+")


def read_html(text: str) -> str:
    """Return the paragraphs and list items of HTML, with a blank line between them."""
    text = _BLOCK.sub("\n\n", _without_code(_SKIPPED.sub("\n\n", text)))
    # A character can be escaped twice.
    return html.unescape(html.unescape(_TAG.sub("", text)))


def read_markdown(text: str) -> str:
    """Return the paragraphs and list items of Markdown, which may have HTML in it."""
    text = _FRONT_MATTER.sub("", text.replace("\r\n", "\n"))
    text = _TEMPLATE.sub(lambda match: " " if match[1] else "", _FENCED.sub("\n\n", text))
    text = _SKIPPED.sub("\n\n", text)
    text = _LINK.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", text)))  # a link in a link
    text = without_emphasis(_ESCAPE.sub("", _FOOTNOTE.sub("", _without_code(text))))
    lines = ("" if _NOT_PROSE.match(line) else line for line in read_html(text).split("\n"))
    return "\n".join(_ITEM.sub("\n", line) for line in lines)


def read_comment(text: str) -> str:
    """Return a comment of Stack Exchange, in the little Markdown allowed there."""
    text = _without_code(_LINK.sub(r"\1", text))
    return without_emphasis(re.sub(r"^@\S+[,:]?\s+", "", text))  # whom it answers


def without_emphasis(text: str) -> str:
    """Return Markdown without the asterisks and underscores around words."""
    return _EMPHASIS.sub(r"\2", text)


def without_formulas(text: str) -> str:
    """Return a text with CUT in the place of formulas in TeX and of web addresses."""
    return _ADDRESS.sub(CUT, _SHORT_FORMULA.sub(CUT, _FORMULA.sub(CUT, text)))


def _without_code(text: str) -> str:
    """Return a text with CUT in the place of code; a single word is a name and stays."""

    def word(match: re.Match[str]) -> str:
        code = match[1] or match[2] or ""
        return code if re.fullmatch(r"[\w.-]+", code) else CUT

    return _CODE.sub(word, text)
