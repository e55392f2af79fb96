"""Convert propositions to the dictionaries that spaCy's displaCy draws.

`displacy.render(to_displacy(sentence), manual=True)` draws one picture per proposition.
"""

from typing import Any

from capsrl.sentence import Proposition, Sentence


def to_displacy(sentence: Sentence) -> list[dict[str, Any]]:
    """The words and arcs of each proposition, in the manual format of displaCy's "dep" style.

    The tag below a predicate is its sense. displaCy cannot draw an arc from a word to itself, so a
    role that the predicate itself fills is in the tag, after the sense.
    """
    return [_drawing(sentence, proposition) for proposition in sentence.propositions]


def _drawing(sentence: Sentence, proposition: Proposition) -> dict[str, Any]:
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
