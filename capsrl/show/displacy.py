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
    own = [part.role for part in proposition.arguments if part.word == proposition.predicate]
    tags = [""] * len(sentence)
    tags[proposition.predicate] = " ".join([proposition.sense or "", *own]).strip()
    return {
        "words": [
            {"text": word, "tag": tag} for word, tag in zip(sentence.words, tags, strict=True)
        ],
        "arcs": [
            {
                # displaCy requires start < end; `dir` is the side of the arrow head.
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
