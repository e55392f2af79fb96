"""Draw the propositions of Docs with spaCy's displaCy.

displaCy writes black labels on the color of a role, so the colors are those for dark paper: black
is as readable on them as they are on black.
"""

from collections.abc import Iterable
from typing import Any, Literal, get_args

from spacy.tokens import Doc
from spacy.util import registry

from capsrl.errors import ConfigError
from capsrl.formats.fields import to_plain
from capsrl.sentence import Proposition, Sentence
from capsrl.show.colors import ROLES, role_color
from capsrl.spacy.sentences import to_sentences
from capsrl.spacy.tokens import V_LABEL, span_values

Style = Literal["span", "dep"]

_colors = {V_LABEL: role_color("C-V", dark=True)}


def add_colors(roles: Iterable[str]) -> None:
    """Let displaCy use the colors of some roles."""
    _colors.update({role: role_color(role, dark=True) for role in roles})


add_colors(f"{prefix}{role}" for prefix in ("", "R-", "C-") for role in ROLES)


def displacy_colors() -> dict[str, str]:
    """The color of each role, which displaCy finds by itself: role -> #rrggbb."""
    return dict(_colors)


registry.displacy_colors.register("capsrl", func=displacy_colors)


def to_displacy(doc: Doc | Iterable[Sentence], *, style: Style = "span") -> list[dict[str, Any]]:
    """One drawing per proposition of a Doc, or of sentences, for displaCy's manual mode.

    `displacy.render(to_displacy(doc), style="span", manual=True)` draws the predicate, with its
    sense, and the phrases of its arguments; the style "dep" draws arcs to their head words.
    Raises ConfigError for another style.
    """
    if style not in get_args(Style):
        raise ConfigError(f"style: expected {' or '.join(get_args(Style))}, got {style!r}")
    draw = _draw_arcs if style == "dep" else _draw_spans
    sentences = to_sentences(doc) if isinstance(doc, Doc) else doc
    return [draw(sentence, each) for sentence in sentences for each in sentence.propositions]


def _draw_spans(sentence: Sentence, proposition: Proposition) -> dict[str, Any]:
    spans = [
        {"start_token": first, "end_token": end, "label": label, "kb_id": sense, "kb_url": "#"}
        for label, sense, first, end in span_values(to_plain(proposition))
    ]
    words = list(sentence.words)
    return {"text": " ".join(words), "tokens": words, "spans": spans, "settings": {}}


def _draw_arcs(sentence: Sentence, proposition: Proposition) -> dict[str, Any]:
    """The tag below a predicate is its sense.

    displaCy cannot draw an arc from a word to itself, so a role that the predicate itself fills is
    in the tag, after the sense.
    """
    at = proposition.predicate
    own = [part.role for part in proposition.arguments if part.word == at]
    words = [{"text": word, "tag": ""} for word in sentence.words]
    words[at]["tag"] = " ".join([proposition.sense or "", *own]).strip()
    arcs = [
        # displaCy requires start < end; `dir` is the side of the arrow head.
        {"start": min(at, part.word), "end": max(at, part.word), "label": part.role}
        | {"dir": "left" if part.word < at else "right"}
        for part in proposition.arguments
        if part.word != at
    ]
    return {"words": words, "arcs": arcs, "settings": {}}
