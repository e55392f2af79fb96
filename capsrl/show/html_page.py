"""Write sentences as HTML, as a page or a fragment: a drawing and a table for each proposition.

The page is self-contained (no script, no link) and also well-formed XML. On narrow screens, which
drawings do not fit, the tables show the same.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from capsrl.sentence import Sentence
from capsrl.show.colors import role_style
from capsrl.show.drawing import svg_lines
from capsrl.show.formatting import GUESS_NOTE, escaped
from capsrl.show.proposition_html import heading_html, table_html
from capsrl.text.phrases import with_phrases
from capsrl.text.spacing import text_of

_WIDTH = 760.0  # of drawings
_PHRASES = '<span class="capsrl-wide">Phrases are underlined, head words more thickly.</span>'
_NOTE = f"Point at a role to see its meaning. {_PHRASES} {GUESS_NOTE}"
_TRACE_NOTE = (
    "1, 2, ...: the network's own probability after each iteration, blank below 0.05, bold where "
    'the word had the role<span class="capsrl-wide">; the column probability is calibrated (if the '
    "model is, without --uncalibrated)</span>. Crossed out: not in the result."
)


@cache
def show_style() -> str:
    """The CSS rules of everything that shows propositions, with the colors of roles."""
    return (Path(__file__).parent / "show.css").read_text(encoding="utf-8") + role_style()


def html(sentences: Iterable[Sentence], *, title: str = "Propositions") -> str:
    """A self-contained page of sentences; `html_parts` gives the same in parts."""
    return "".join(html_parts(sentences, title=title))


def html_parts(sentences: Iterable[Sentence], *, title: str = "Propositions") -> Iterator[str]:
    """Yield the head of a page, one part per sentence, and its end, to be written as UTF-8.

    Sentences with traces show the probabilities of every iteration.
    """
    yield (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>'
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
        f"<title>{escaped(title)}</title><style>{show_style()}</style></head>\n"
        f'<body class="capsrl">\n<main>\n<h1>{escaped(title)}</h1>\n<p>{_NOTE}</p>\n'
    )
    note = f"<p>{_TRACE_NOTE}</p>\n"  # stands before the first sentence with a trace
    for number, sentence in enumerate(sentences, start=1):
        name = f"<small>{escaped(sentence.id or str(number))}</small>"
        traced = any(each.trace for each in sentence.propositions)
        yield f"{note if traced else ''}<section>{_body(sentence, name)}</section>\n"
        note = "" if traced else note
    yield "</main>\n</body>\n</html>\n"


def html_fragment(sentence: Sentence) -> str:
    """One sentence, to be part of another page; notebooks show this for a Sentence.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    body = _body(with_phrases(sentence), "")
    return f'<div class="capsrl"><style>{show_style()}</style>{body}</div>'


def _body(sentence: Sentence, name: str) -> str:
    text = escaped(" ".join(text_of(sentence).split()))
    propositions = "".join(
        f'<div class="capsrl-proposition"><p>{heading_html(each)}</p><div class="capsrl-columns">'
        f'<div class="capsrl-drawing">{svg_lines(sentence, each, max_width=_WIDTH)}</div>'
        f"{table_html(sentence, each)}</div></div>"
        for each in sentence.propositions
    )
    return f'<h2 dir="auto">{name} {text}</h2>{propositions or "<p>No predicate.</p>"}'
