"""The spaCy component `capsrl`: `nlp.add_pipe("capsrl")`, then `doc._.propositions`.

spaCy finds `make_component` by its entry point, so nothing needs to be imported.
"""

from capsrl.spacy.component import Component, make_component
from capsrl.spacy.drawing import displacy_colors, to_displacy
from capsrl.spacy.scorer import score_examples
from capsrl.spacy.sentences import to_sentences
from capsrl.spacy.tokens import TokenArgument, TokenProposition, register

__all__ = [
    "Component",
    "TokenArgument",
    "TokenProposition",
    "displacy_colors",
    "make_component",
    "register",
    "score_examples",
    "to_displacy",
    "to_sentences",
]
