"""The parts of a proposition in HTML that pages are made of: heading, phrases by role, table."""

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.argument_rows import HEADINGS, Row, make_rows
from capsrl.show.colors import ROLES, base_role, role_class, role_meaning
from capsrl.show.drawing import sense_label
from capsrl.show.formatting import escaped, show_probability
from capsrl.text.spacing import spaces_before

_SMALL = 0.05  # probabilities of iterations below this are left blank


def heading_html(proposition: Proposition) -> str:
    """The predicate, its sense, and what that means if it is known."""
    definition = escaped(proposition.definition or "")
    return (
        f"<b>{escaped(proposition.form or '')}</b> <i>{escaped(sense_label(proposition))}</i>"
        + (f' <span class="capsrl-definition">{definition}</span>' if definition else "")
    )


def phrases_html(sentence: Sentence, proposition: Proposition) -> str:
    """A list of the phrases of the arguments, sorted by role."""
    ordered = sorted(proposition.arguments, key=lambda part: ROLES.index(base_role(part.role)))
    items = "".join(
        f'<li><span class="capsrl-phrase {role_class(part.role)}" tabindex="0">'
        f"<b>{escaped(part.role)}</b> {_words(sentence, part)}{_tip(part.role, part.meaning)}"
        "</span></li>"
        for part in ordered
    )
    return f'<ul class="capsrl-phrases">{items}</ul>' if items else ""


def table_html(sentence: Sentence, proposition: Proposition) -> str:
    """A row for each argument; with a trace, also for roles that were given up, and all iterations.

    Nothing without rows.
    """
    rows = make_rows(sentence, proposition, trace=True)
    columns = [n for n in (2, 3) if any(row.cells[n] for row in rows)]  # of HEADINGS
    n_steps = max((len(row.history.probs) for row in rows if row.history), default=0)
    # Before the first iteration all roles are equally probable, so that no number is shown.
    steps = [
        n
        for n in range(n_steps)
        if any(row.history and row.history.probs[n] >= _SMALL for row in rows)
    ]
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("role", "words"))
    heads += "".join(
        f'<th scope="col" class="capsrl-{HEADINGS[n]}">{HEADINGS[n]}</th>' for n in columns
    )
    heads += "".join(
        f'<th scope="col" class="capsrl-step" data-step="{n}">{n or "start"}</th>' for n in steps
    )
    body = "".join(_row(sentence, row, columns, steps) for row in rows)
    kind = ' class="capsrl-traced"' if steps else ""
    return (
        f"<table{kind}><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    )


def _row(sentence: Sentence, row: Row, columns: list[int], steps: list[int]) -> str:
    role, meaning = escaped(row.role), row.cells[5]
    words = _words(sentence, row.argument) if row.argument else f"<b>{escaped(row.cells[1])}</b>"
    shown = f"<small>{escaped(meaning)}</small>" if meaning else ""
    tip = _tip(row.role, meaning)
    cells = [
        f'<th scope="row"><span class="capsrl-role {role_class(row.role)}" tabindex="0" '
        f'data-role="{role}">'
        f"{role if row.argument else f'<s>{role}</s>'}{tip}</span></th>",
        f'<td class="capsrl-words" dir="auto">{words}{shown}</td>',
        *(f'<td class="capsrl-{HEADINGS[n]}">{row.cells[n]}</td>' for n in columns),
        *_steps(row, steps),
    ]
    kept = "" if row.argument else ' class="capsrl-dropped"'
    states = f' data-states="{row.history.states}"' if row.history else ""
    return f"<tr{kept}{states}>{''.join(cells)}</tr>"


def _steps(row: Row, steps: list[int]) -> list[str]:
    if row.history is None:
        return []
    probs, states, color = row.history.probs, row.history.states, role_class(row.role)
    return [
        f'<td class="capsrl-step capsrl-{states[n]} capsrl-bar{10 * probs[n]:.0f} {color}" '
        f'data-step="{n}">'
        f"{f'<span>{show_probability(probs[n])}</span>' if probs[n] >= _SMALL else ''}</td>"
        for n in steps
    ]


def _tip(role: str, meaning: str | None) -> str:
    """What a role means, which style sheets show on hover and focus."""
    known = "; ".join(text for text in (meaning, role_meaning(role)) if text)
    return f'<span class="capsrl-tip"> ({escaped(known)})</span>' if known else ""


def _words(sentence: Sentence, part: Argument) -> str:
    """The phrase of an argument with its head word in bold."""
    phrase = part.phrase
    first, last = (phrase.first, phrase.last) if phrase else (part.word, part.word)
    words = sentence.words[first : last + 1]
    parts = ""
    for number, (word, space) in enumerate(zip(words, spaces_before(words), strict=True), first):
        shown = f"<b>{escaped(word)}</b>" if number == part.word else escaped(word)
        parts += " " * space + shown
    return f'<span class="capsrl-text" dir="auto">{parts}</span>'
