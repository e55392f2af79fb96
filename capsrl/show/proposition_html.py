"""The parts of a proposition in HTML that pages are made of: heading, phrases by role, table."""

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.colors import ROLES, base_role, role_class, role_meaning
from capsrl.show.drawing import sense_label
from capsrl.show.formatting import escaped, show_probability
from capsrl.show.role_history import RoleHistory, histories_or_arguments
from capsrl.text.spacing import spaces_before

_SMALL = 0.05  # probabilities of iterations below this are left blank


def heading_html(proposition: Proposition) -> str:
    """The predicate, its sense, and what that means if it is known."""
    heading = f"<b>{escaped(proposition.form or '')}</b> <i>{escaped(sense_label(proposition))}</i>"
    if proposition.definition:
        heading += f' <span class="capsrl-definition">{escaped(proposition.definition)}</span>'
    return heading


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
    """A row per argument; with a trace also per role that was given up. Nothing without rows."""
    rows = histories_or_arguments(proposition)
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
    body = "".join(_row(sentence, row, steps, known) for row in rows)
    kind = ' class="capsrl-traced"' if steps else ""
    return f"<table{kind}><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _row(sentence: Sentence, row: RoleHistory, steps: list[int], known: bool) -> str:
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
        f"{_words(sentence, part or Argument(row.role, row.word))}{small}</td>{cells}</tr>"
    )


def _tip(role: str, meaning: str | None = None) -> str:
    """What a role means, which style sheets show on hover and focus."""
    known = "; ".join(text for text in (meaning, role_meaning(role)) if text)
    return f'<span class="capsrl-tip"> {escaped(known)}</span>' if known else ""


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
