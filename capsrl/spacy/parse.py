"""Find the phrases of arguments in the parse of a Doc."""

from spacy.tokens import Span, Token

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.phrases import phrase_of

# In the trees of spaCy's English pipelines a preposition is the head of its object, in Universal
# Dependencies it depends on it. Models trained on the latter name the object: *in [London]*.
_OBJECTS = frozenset(("pobj", "pcomp"))


class Parse:
    """The parse of one sentence, without white space."""

    def __init__(self, sentence: Span) -> None:
        self.words = [token for token in sentence if not token.is_space]
        self.positions = {token.i: position for position, token in enumerate(self.words)}
        self.sentence = Sentence(
            tuple(token.text for token in self.words),
            heads=tuple(self._head(token) for token in self.words),
            relations=tuple(token.dep_ for token in self.words),
        )

    def _head(self, token: Token) -> int | None:
        head = token.head
        while head.is_space and head.head.i != head.i:
            head = head.head
        return None if head.i == token.i else self.positions.get(head.i)

    def phrase(self, predicate: Token, role: str, word: Token) -> tuple[int, int] | None:
        """The first and last token of a phrase; None if it is not in the predicate's sentence."""
        if word.i not in self.positions or predicate.i not in self.positions:
            return None
        head = self._with_preposition(word, predicate)
        argument = Argument(role, self.positions[head.i])
        phrase = phrase_of(self.sentence, Proposition(self.positions[predicate.i]), argument)
        assert phrase is not None  # there are heads
        first, last = (self.words[position].i for position in phrase)
        return min(first, word.i), max(last, word.i)

    def _with_preposition(self, word: Token, predicate: Token) -> Token:
        """The preposition of a word, if it has one in the phrase, or the word itself.

        There is none if the predicate is part of the subtree: *of [the people] who left*.
        """
        if word.is_ancestor(predicate):
            return word
        while word.dep_ in _OBJECTS and word.head.i not in (word.i, predicate.i):
            if word.head.i not in self.positions:
                break
            word = word.head
        return word
