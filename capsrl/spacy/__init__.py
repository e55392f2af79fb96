"""The spaCy component `capsrl`: `nlp.add_pipe("capsrl")`, then `doc._.propositions`.

spaCy finds `make_component` by its entry point, so nothing needs to be imported.
"""

from capsrl.spacy.component import Component, make_component
from capsrl.spacy.tokens import TokenArgument, TokenProposition, register

__all__ = ["Component", "TokenArgument", "TokenProposition", "make_component", "register"]
