"""Write sentences as HTML, as a page or a fragment: a drawing and a table for each proposition.

The page is self-contained (no script, no link) and also well-formed XML. On narrow screens, which
drawings do not fit, the tables show the same.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.colors import role_class, role_meaning, role_style, short_meaning
from capsrl.show.drawing import svg_lines
from capsrl.show.formatting import (
    GUESS_NOTE,
    RoleHistory,
    escaped,
    phrase_words,
    role_histories,
    show_percent,
    show_probability,
    show_sense,
)
from capsrl.text.phrases import with_phrases
from capsrl.text.spacing import spaces_before, spaces_of

_WIDTH = 760.0  # of drawings
_MOST = 3  # roles of a word that are listed
_SMALL = 0.05  # probabilities of iterations below this are left blank
_PHRASES = '<span class="capsrl-wide">Phrases are underlined, head words more thickly.</span>'
_PAGE_NOTE = f"Point at a role to see its meaning. {_PHRASES} {GUESS_NOTE}"
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
    return page_parts(title, _PAGE_NOTE, _sections(sentences))


def page_parts(title: str, note: str, sections: Iterable[str]) -> Iterator[str]:
    """Yield the head of a page with a note, its sections, and its end."""
    yield (
        '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" lang="en">\n<head>'
        '<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/>'
        f"<title>{escaped(title)}</title><style>{show_style()}</style></head>\n"
        f'<body class="capsrl">\n<main>\n<h1>{escaped(title)}</h1>\n<p>{note}</p>\n'
    )
    yield from sections
    yield "</main>\n</body>\n</html>\n"


def _sections(sentences: Iterable[Sentence]) -> Iterator[str]:
    note = f"<p>{_TRACE_NOTE}</p>\n"  # stands before the first sentence with a trace
    for number, sentence in enumerate(sentences, start=1):
        name = f"<small>{escaped(sentence.id or str(number))}</small>"
        traced = any(each.trace for each in sentence.propositions)
        body = _body(sentence, name, f"s{number}")
        yield f"{note if traced else ''}<section>{body}</section>\n"
        note = "" if traced else note


def html_fragment(sentence: Sentence) -> str:
    """One sentence, to be part of another page; notebooks show this for a Sentence.

    Arguments without a phrase get the one that the parse of the sentence gives, if it has one.
    """
    body = _body(with_phrases(sentence), "")
    return f'<div class="capsrl"><style>{show_style()}</style>{body}</div>'


def _body(sentence: Sentence, name: str, anchor: str = "") -> str:
    if not sentence.propositions:
        return f'<h2 dir="auto">{name} {line_html(sentence)}</h2><p>No predicate.</p>'
    parts = f"<h2>{name}</h2>" if name else ""
    for each in sentence.propositions:
        parts += (
            f'<div class="capsrl-proposition" id="{anchor}p{each.predicate}">'
            f'<p class="capsrl-line" dir="auto">{line_html(sentence, each, anchor)}</p>'
            f"<p>{heading_html(each)}</p>{phrases_html(sentence, each)}"
            '<div class="capsrl-columns"><div class="capsrl-drawing">'
            f"{svg_lines(sentence, each, max_width=_WIDTH)}</div>{table_html(sentence, each)}</div>"
            f"{second_best_html(sentence, each)}</div>"
        )
    return parts


def line_html(sentence: Sentence, chosen: Proposition | None = None, anchor: str = "") -> str:
    """The words of a sentence, with the phrases of one proposition in the colors of their roles.

    Predicates are links to `#` + anchor + `p` + position. A word within two phrases has the color
    of the shorter one.
    """
    owners: dict[int, Argument] = {}
    parts = chosen.arguments if chosen else ()
    for part in sorted(parts, key=lambda part: -len(phrase_words(part))):
        owners |= dict.fromkeys(phrase_words(part), part)
    spaces, html = spaces_of(sentence), ""
    for owner, group in groupby(range(len(sentence)), key=owners.get):
        run = list(group)
        words = "".join(
            " " * (spaces[n] and n > run[0]) + _word_html(sentence, n, chosen, anchor) for n in run
        )
        if owner is not None:  # style sheets show the role, which is no part of the text
            tag = f' data-role="{escaped(owner.role)}"' if owner.word in run else ""
            words = f'<mark class="{role_class(owner.role)}"{tag}><span>{words}</span></mark>'
        html += " " * spaces[run[0]] + words
    return html


def _word_html(sentence: Sentence, n: int, chosen: Proposition | None, anchor: str) -> str:
    word = escaped(sentence.words[n])
    if n not in sentence.predicates:
        return word
    now = ' aria-current="true"' if chosen and chosen.predicate == n else ""
    return f'<a href="#{anchor}p{n}" data-p="{n}"{now}>{word}</a>'


def heading_html(proposition: Proposition) -> str:
    """The predicate, its sense, what that means or its VerbNet class, and how sure it is."""
    heading = f"<b>{escaped(proposition.form or '')}</b> <i>{escaped(show_sense(proposition))}</i>"
    classes = [name.removeprefix("verbnet:") for name in proposition.frames if "verbnet:" in name]
    if gloss := proposition.definition or f"VerbNet {', '.join(classes)}" * bool(classes):
        heading += f' <span class="capsrl-definition">{escaped(gloss)}</span>'
    if (sure := proposition.probability) is not None:
        heading += f' <span class="capsrl-sure">sure: {escaped(show_percent(sure))}</span>'
    return heading


def second_best_html(sentence: Sentence, proposition: Proposition) -> str:
    """The next most probable senses and roles, to be unfolded; nothing without a trace."""
    trace, items = proposition.trace, ""
    if trace is None:
        return ""
    ranked = [(proposition.form or "", trace.senses)]
    names = ("no role", *trace.roles[1:])
    for part in proposition.arguments:
        roles = zip(names, trace.beliefs[-1][part.word].tolist(), strict=True)
        best = sorted(roles, key=lambda pair: -pair[1])[:_MOST]
        ranked.append((sentence.words[part.word], tuple(best)))
    for word, choices in ranked:
        items += f"<dt>{escaped(word)}</dt><dd><ul>"
        for name, prob in choices:
            items += f"<li>{escaped(name)} <small>{escaped(show_percent(prob))}</small></li>"
        items += f"{'' if choices else '<li>a guess, without others</li>'}</ul></dd>"
    return (
        f'<details class="capsrl-others"><summary>Second best</summary><dl>{items}</dl>'
        "<p>Percentages of the network, which are not calibrated.</p></details>"
    )


def phrases_html(sentence: Sentence, proposition: Proposition, *, tabindex: int = 0) -> str:
    """The arguments in the order of the words: role, meaning for this sense, and phrase."""
    items = "".join(
        f'<li><span class="capsrl-phrase {role_class(part.role)}" tabindex="{tabindex}">'
        f"<b>{escaped(part.role)}</b> <em>{escaped(part.meaning or short_meaning(part.role))}</em> "
        f"{_words_html(sentence, part)}{_tip(part.role)}</span></li>"
        for part in proposition.arguments
    )
    return f'<ul class="capsrl-phrases">{items}</ul>' if items else ""


def table_html(sentence: Sentence, proposition: Proposition) -> str:
    """A row per argument; with a trace also per role that was given up. Nothing without rows."""
    rows = role_histories(proposition)
    if not rows:
        return ""
    # Before the first iteration all roles are equally probable: there is no number to show.
    numbers = range(max(len(row.probs) for row in rows))
    steps = [n for n in numbers if any(row.probs[n] >= _SMALL for row in rows)]
    heads = '<th scope="col">role</th><th scope="col">words</th>'
    known = any(row.argument and row.argument.probability is not None for row in rows)
    heads += '<th scope="col" class="capsrl-probability">probability</th>' if known else ""
    for n in steps:
        heads += f'<th scope="col" class="capsrl-step" data-step="{n}">{n or "start"}</th>'
    body = "".join(_table_row(sentence, row, steps, known) for row in rows)
    kind = ' class="capsrl-traced"' if steps else ""
    about = "<caption>probability after iteration</caption>" if steps else ""
    return f"<table{kind}>{about}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _table_row(sentence: Sentence, row: RoleHistory, steps: list[int], known: bool) -> str:
    part = row.argument
    role, color = escaped(row.role), role_class(row.role)
    small = f"<small>{escaped(part.meaning)}</small>" if part and part.meaning else ""
    number = show_probability(part.probability if part else None)
    cells = f'<td class="capsrl-probability">{number}</td>' if known else ""
    for n in steps:
        shown = show_probability(row.probs[n]) if row.probs[n] >= _SMALL else ""
        kind = f"capsrl-step capsrl-{row.states[n]} capsrl-bar{10 * row.probs[n]:.0f} {color}"
        cells += f'<td class="{kind}" data-step="{n}"><span>{shown}</span></td>'
    return (
        f'<tr data-states="{row.states}"><th scope="row"><span class="capsrl-role {color}" '
        f'tabindex="0" data-role="{role}">{role if part else f"<s>{role}</s>"}'
        f'{_tip(row.role)}</span></th><td class="capsrl-words" dir="auto">'
        f"{_words_html(sentence, part or Argument(row.role, row.word))}{small}</td>{cells}</tr>"
    )


def _tip(role: str) -> str:
    """What a role means, which style sheets show on hover and focus."""
    known = role_meaning(role)
    return f'<span class="capsrl-tip"> {escaped(known)}</span>' if known else ""


def _words_html(sentence: Sentence, part: Argument) -> str:
    """The phrase of an argument with its head word in bold."""
    parts, positions = "", phrase_words(part)
    words = [sentence.words[n] for n in positions]
    for n, word, space in zip(positions, words, spaces_before(words), strict=True):
        shown = f"<b>{escaped(word)}</b>" if n == part.word else escaped(word)
        parts += " " * space + shown
    return f'<span class="capsrl-text" dir="auto">{parts}</span>'
