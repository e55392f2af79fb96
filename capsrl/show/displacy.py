"""A proposition in, the dictionary out that spaCy's displaCy draws: `render(..., manual=True)`."""

from typing import Any

from capsrl.sentence import Proposition, Sentence
from capsrl.show.text import check_positions


def to_displacy(sentence: Sentence, proposition: Proposition) -> dict[str, Any]:
    """The words and arcs of one proposition, in the manual format of displaCy's "dep" style.

    The tag under the predicate is its sense. displaCy cannot draw an arc from a word to itself:
    a role that the predicate fills itself stands in the tag after the sense.
    """
    check_positions(sentence, [proposition])
    own = [part.role for part in proposition.arguments if part.word == proposition.predicate]
    tags = [""] * len(sentence)
    tags[proposition.predicate] = " ".join([proposition.sense or "", *own]).strip()
    return {
        "words": [
            {"text": word, "tag": tag} for word, tag in zip(sentence.words, tags, strict=True)
        ],
        "arcs": [
            {
                # displaCy wants start < end, and the arrow's side said apart.
                "start": min(proposition.predicate, argument.word),
                "end": max(proposition.predicate, argument.word),
                "label": argument.role,
                "dir": "left" if argument.word < proposition.predicate else "right",
            }
            for argument in proposition.arguments
            if argument.word != proposition.predicate
        ],
        "settings": {},
    }
