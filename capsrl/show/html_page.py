"""Write sentences as HTML, as a page or a fragment: a drawing and a table for each proposition.

The page is self-contained (no script, no link) and also well-formed XML. On narrow screens, which
drawings do not fit, tables and texts show the same.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from capsrl.sentence import Proposition, Sentence
from capsrl.show.colors import role_style
from capsrl.show.drawing import svg_lines
from capsrl.show.formatting import escaped
from capsrl.show.proposition_html import heading_html, table_html
from capsrl.text.phrases import with_phrases
from capsrl.text.spacing import text_of

_WIDTH = 760.0  # of drawings
_STYLE = Path(__file__).parent / "show.css"
_NOTE = (
    "Each role has its color. The line under the words is the phrase of an argument, thicker under "
    "its head word; in tables the head word is underlined. Point at a role to see what it means. "
)
_TRACE_NOTE = (
    "Start, 1, 2, ...: the probability of the role before and after each iteration, blank below "
    "0.05, bold where the word had the role. Roles that are crossed out are not in the result."
)


@cache
def show_style() -> str:
    """The CSS rules of everything that shows propositions, with the colors of roles."""
    return _STYLE.read_text(encoding="utf-8") + role_style()


def html(sentences: Iterable[Sentence], *, title: str = "Propositions") -> str:
    """A self-contained page of sentences; `html_parts` gives the same in parts."""
    return "".join(html_parts(sentences, title=title))


def html_parts(sentences: Iterable[Sentence], *, title: str = "Propositions") -> Iterator[str]:
    """Yield the head of a page, one part per sentence, and its end, to be written as UTF-8.

    Sentences with traces show the probabilities of every iteration.
    """
    yield (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">\n<head>'
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
        f"<title>{escaped(title)}</title><style>{show_style()}body.capsrl{{margin:0 auto;"
        f"padding:1em;max-width:80rem}}</style></head>\n"
        f'<body class="capsrl">\n<h1>{escaped(title)}</h1>\n<p class="capsrl-note">{_NOTE}</p>\n'
    )
    traced = False
    for number, sentence in enumerate(sentences, start=1):
        name = escaped(sentence.id or str(number))
        text = escaped(" ".join(text_of(sentence).split()))
        heading = f'<h2 dir="auto"><small>{name}</small> {text}</h2>'
        yield f"<section>{heading}{_body(sentence)}</section>\n"
        traced |= any(each.trace is not None for each in sentence.propositions)
    note = f'<p class="capsrl-note">{_TRACE_NOTE}</p>\n' if traced else ""
    yield f"{note}</body>\n</html>\n"


def html_fragment(sentence: Sentence) -> str:
    """One sentence, to be part of another page; notebooks show this for a Sentence.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    text = f'<p dir="auto">{escaped(" ".join(text_of(sentence).split()))}</p>'
    body = text + _body(with_phrases(sentence))
    return f'<div class="capsrl"><style>{show_style()}</style>{body}</div>'


def _body(sentence: Sentence) -> str:
    if not sentence.propositions:
        return '<p class="capsrl-note">No predicate.</p>'
    return "".join(_proposition(sentence, each) for each in sentence.propositions)


def _proposition(sentence: Sentence, proposition: Proposition) -> str:
    drawing = svg_lines(sentence, proposition, max_width=_WIDTH)
    return (
        f'<div class="capsrl-proposition"><p>{heading_html(proposition)}</p>'
        f'<div class="capsrl-columns"><div class="capsrl-drawing capsrl-wide">{drawing}</div>'
        f"{table_html(sentence, proposition)}</div></div>"
    )
