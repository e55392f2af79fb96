"""Write sentences as HTML: a drawing and tables for each, as a page or a fragment.

The page is self-contained (no script, no link) and also well-formed XML.
"""

from collections.abc import Iterable, Iterator

from capsrl.sentence import Proposition, Sentence
from capsrl.show.argument_rows import HEADINGS, Row, known_columns, make_rows, step_headings
from capsrl.show.drawing import DARK, FONT, LIGHT, MAX_WIDTH, Palette, style, svg
from capsrl.show.formatting import escaped, show_probability
from capsrl.show.layout import sense_label
from capsrl.show.role_history import RoleHistory
from capsrl.text.phrases import with_phrases

_BAR = "#5a8fd0"  # bars behind probabilities; half transparent, to suit both themes
_NOTE = (
    "start, 1, 2, ...: the probability of the role before and after each iteration. A role beside "
    "it was more probable then. Roles in parentheses are not in the result."
)


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
        f"<title>{escaped(title)}</title><style>{_style()}body{{margin:2em auto;"
        f"max-width:{MAX_WIDTH + 80:.0f}px}}</style></head>\n"
        f'<body class="capsrl">\n<h1>{escaped(title)}</h1>\n'
    )
    for number, sentence in enumerate(sentences, start=1):
        name = escaped(sentence.id or str(number))
        yield f"<section><h2>{name}</h2>{_body(sentence)}</section>\n"
    yield "</body>\n</html>\n"


def html_fragment(sentence: Sentence) -> str:
    """One sentence, to be part of another page; notebooks show this for a Sentence.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    body = _body(with_phrases(sentence))
    return f'<div class="capsrl"><style>{_style()}</style>{body}</div>'


def _body(sentence: Sentence) -> str:
    drawing = f'<div class="capsrl-drawing">{svg(sentence)}</div>'
    if not sentence.propositions:
        return drawing
    tables = "".join(_table(sentence, each) for each in sentence.propositions)
    n_propositions = len(sentence.propositions)
    count = f"{n_propositions} proposition{'s' if n_propositions > 1 else ''}"
    mark = ""
    if any(proposition.trace is not None for proposition in sentence.propositions):
        # Someone asked for the trace, so show it. Other tables only repeat the drawing.
        mark, tables = ' open="open"', f"{tables}<p>{_NOTE}</p>"
    return f"{drawing}<details{mark}><summary>{count}</summary>{tables}</details>"


def _table(sentence: Sentence, proposition: Proposition) -> str:
    rows = make_rows(sentence, proposition, trace=True)
    columns = known_columns(rows)
    n_steps = max((len(row.history.probs) for row in rows if row.history), default=0)
    headings = [HEADINGS[column] for column in columns] + step_headings(n_steps)
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    lines = "".join(_row(row, columns, n_steps) for row in rows)
    definition = f": {escaped(proposition.definition)}" if proposition.definition else ""
    return (
        f"<table><caption><b>{escaped(proposition.form or '')}</b> "
        f"<i>{escaped(sense_label(proposition))}</i>{definition}</caption>"
        + (f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody>" if rows else "")
        + "</table>"
    )


def _row(row: Row, columns: list[int], n_steps: int) -> str:
    cells = "".join(f'<td dir="auto">{escaped(row.cells[column])}</td>' for column in columns)
    steps = _steps(row.history) if row.history else "<td></td>" * n_steps
    mark = ' class="capsrl-dropped"' if row.is_dropped else ""
    return f"<tr{mark}>{cells}{steps}</tr>"


def _steps(history: RoleHistory) -> str:
    cells: list[str] = []
    for prob, best in zip(history.probs, history.best, strict=True):
        bar = f"linear-gradient(90deg,{_BAR}66 {100 * prob:.0f}%,transparent 0)"
        other = "" if best == history.role else f" <small>{escaped(best)}</small>"
        cells.append(f'<td style="background:{bar}">{show_probability(prob)}{other}</td>')
    return "".join(cells)


def _style() -> str:
    return (
        f".capsrl{{{_colors(LIGHT)};font-family:{FONT};font-size:14px;padding:.5em}}"
        ".capsrl-drawing{overflow-x:auto}.capsrl h1{font-size:1.4em}.capsrl h2{font-size:1em;"
        "font-weight:normal;opacity:.7;margin:1.5em 0 .3em}.capsrl summary{cursor:pointer;"
        "opacity:.7}.capsrl table{border-collapse:collapse;margin:.8em 0;color:inherit}"
        ".capsrl caption{text-align:left;color:inherit;padding:.2em 0;white-space:nowrap}"
        ".capsrl th,.capsrl td{"
        "text-align:left;padding:.15em .8em .15em .4em;border-bottom:1px solid #8884}"
        ".capsrl th{font-weight:normal;opacity:.7}.capsrl-dropped{opacity:.65}"
        ".capsrl p{opacity:.7;margin:.5em 0}"
        f"@media (prefers-color-scheme:dark){{.capsrl{{{_colors(DARK)}}}}}{style()}"
    )


def _colors(palette: Palette) -> str:
    return f"color:{palette.ink};background:{palette.paper}"
