"""Draw the propositions of Docs with spaCy's displaCy.

displaCy writes black labels on the color of a role, so the colors are those for dark paper: black
is as readable on them as they are on black.
"""

from collections.abc import Iterable
from typing import Any, Literal, get_args

from spacy.tokens import Doc
from spacy.util import registry

from capsrl.errors import ConfigError
from capsrl.sentence import Sentence
from capsrl.show.colors import ROLES, role_color
from capsrl.show.displacy import to_displacy as to_arcs
from capsrl.spacy.sentences import to_sentences
from capsrl.spacy.tokens import PREDICATE, span_values

Style = Literal["span", "dep"]

_colors = {PREDICATE: role_color("C-V", dark=True)}


def add_colors(roles: Iterable[str]) -> None:
    """Let displaCy use the colors of some roles."""
    _colors.update({role: role_color(role, dark=True) for role in roles})


add_colors(f"{prefix}{role}" for prefix in ("", "R-", "C-") for role in ROLES)


def displacy_colors() -> dict[str, str]:
    """The color of each role, which displaCy finds by itself: role -> #rrggbb."""
    return dict(_colors)


registry.displacy_colors.register("capsrl", func=displacy_colors)


def to_displacy(doc: Doc, *, style: Style = "span") -> list[dict[str, Any]]:
    """One drawing per proposition, with the words of its sentence, for displaCy's manual mode.

    `displacy.render(to_displacy(doc), style="span", manual=True)` draws the predicate, with its
    sense, and the phrases of its arguments; the style "dep" draws arcs to their head words.
    Raises ConfigError for another style.
    """
    if style not in get_args(Style):
        raise ConfigError(f"style: expected {' or '.join(get_args(Style))}, got {style!r}")
    draw = to_arcs if style == "dep" else _to_spans
    return [drawing for sentence in to_sentences(doc) for drawing in draw(sentence)]


def _to_spans(sentence: Sentence) -> list[dict[str, Any]]:
    return [
        {
            "text": " ".join(sentence.words),
            "tokens": list(sentence.words),
            "spans": [
                {
                    "start_token": first,
                    "end_token": end,
                    "label": label,
                    "kb_id": sense,
                    "kb_url": "#",
                }
                for label, sense, first, end in span_values(proposition)
            ],
            "settings": {},
        }
        for proposition in sentence.to_dict()["propositions"]
    ]
