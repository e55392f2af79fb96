"""A spaCy Doc <-> our sentences and propositions.

What the model found is kept in `doc.user_data` as plain numbers and strings, by the character at
which the predicate stands, in the layout spaCy has for the attributes of a token. So it goes with
the Doc wherever spaCy knows how to take such attributes: to bytes and back, to another process,
into a DocBin, into the Doc of one sentence (`span.as_doc`), into several Docs made one. Tokens and
phrases are looked up when `doc._.propositions` is read, from the tokens and the parse of then.
"""

from bisect import bisect_right
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from spacy.tokens import Doc, Span, Token

from capsrl.errors import ConfigError
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.phrases import phrase_of
from capsrl.text.sentences import MAX_WORDS, split_text

_OWN = "capsrl"  # whose attribute it is, in the keys of doc.user_data


@dataclass(frozen=True, slots=True)
class TokenArgument:
    """A word that fills a role.

    phrase  around the word, as `capsrl.text.phrases` finds it; None in a Doc without a parse
    """

    role: str
    word: Token
    probability: float
    phrase: Span | None


@dataclass(frozen=True, slots=True)
class TokenProposition:
    """A predicate, its sense and its arguments in the order of their words."""

    predicate: Token
    sense: str
    probability: float
    arguments: tuple[TokenArgument, ...]


def register() -> None:
    """Define `doc._.propositions`; a pipeline does so itself, stored Docs may be read without one.

    Raises ConfigError if something else has that name.
    """
    if not Doc.has_extension("propositions"):
        Doc.set_extension("propositions", getter=propositions_of)
        return
    getter = Doc.get_extension("propositions")[2]
    if getattr(getter, "__qualname__", None) != propositions_of.__qualname__:
        raise ConfigError(
            "doc._.propositions: expected a free name, got one that another package has defined; "
            'take it away with Doc.remove_extension("propositions")'
        )


def sentences_of(doc: Doc) -> Iterator[list[Token]]:
    """The words of each sentence, without tokens that are white space.

    Sentences are those of the Doc; where it has none, those that `capsrl.text.sentences` finds in
    its text, with the tokens of the Doc. None is longer than MAX_WORDS: the rest is cut off.
    """
    sentences: Iterable[Iterable[Token]]
    if doc.has_annotation("SENT_START"):
        sentences = doc.sents
    else:
        starts = [sentence.offsets[0][0] for sentence in split_text(doc.text) if sentence.offsets]
        groups = groupby(doc, key=lambda token: bisect_right(starts, token.idx))
        sentences = (group for _, group in groups)
    for tokens in sentences:
        words = [token for token in tokens if not token.is_space]
        for first in range(0, len(words), MAX_WORDS):
            yield words[first : first + MAX_WORDS]


def to_sentence(words: Sequence[Token], known_tags: Container[str]) -> Sentence:
    """The sentence of some tokens, with the tags and lemmas that a tagger gave them, if one did.

    known_tags  of the model: they tell whether it was trained on fine or universal ones
    """
    lemmas = tuple(token.lemma_ for token in words)
    both = [tuple(token.pos_ for token in words), tuple(token.tag_ for token in words)]
    return Sentence(
        tuple(token.text for token in words),
        lemmas=lemmas if all(lemmas) else None,
        tags=max(
            filter(all, both), key=lambda tags: sum(tag in known_tags for tag in tags), default=None
        ),
    )


def store(words: Sequence[Token], propositions: Iterable[Proposition]) -> None:
    """Keep the propositions of a sentence in the Doc of its words."""
    for proposition in propositions:
        predicate = words[proposition.predicate]
        _data(predicate.doc)["._.", _OWN, predicate.idx, None] = {
            "sense": proposition.sense,
            "probability": proposition.probability,
            "arguments": [
                # Relative, so that it stays true when the Doc becomes part of another.
                [argument.role, words[argument.word].idx - predicate.idx, argument.probability]
                for argument in proposition.arguments
            ],
        }


def clear(doc: Doc) -> None:
    """Forget the propositions of a Doc."""
    for start, _ in _stored(doc):
        del _data(doc)["._.", _OWN, start, None]


def propositions_of(doc: Doc) -> list[TokenProposition]:
    """What `doc._.propositions` gives: made anew at every call, empty before the component ran."""
    starts = [token.idx for token in doc]
    end = starts[-1] + len(doc[-1]) if starts else 0

    def token_at(offset: int) -> Token | None:  # None: the Doc was cut out of a longer one
        return doc[bisect_right(starts, offset) - 1] if 0 <= offset < end else None

    # The heads of a tree without sentences are not to be had.
    parsed = doc.has_annotation("DEP") and doc.has_annotation("SENT_START")
    trees: dict[int, _Tree] = {}  # by where their sentences start
    found: list[TokenProposition] = []
    for start, data in sorted(_stored(doc), key=lambda pair: pair[0]):
        predicate = token_at(start)
        if predicate is None:
            continue
        tree = None
        if parsed:
            sentence = predicate.sent
            if sentence.start not in trees:
                trees[sentence.start] = _Tree(sentence)
            tree = trees[sentence.start]
        arguments: list[TokenArgument] = []
        for role, distance, probability in data["arguments"]:
            word = token_at(start + distance)
            if word is not None:
                phrase = tree.phrase(predicate, role, word) if tree else None
                arguments.append(TokenArgument(role, word, probability, phrase))
        found.append(
            TokenProposition(predicate, data["sense"], data["probability"], tuple(arguments))
        )
    return found


class _Tree:
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

    def phrase(self, predicate: Token, role: str, word: Token) -> Span | None:
        """The phrase of an argument; None if it is in another sentence than its predicate."""
        if word.i not in self.positions or predicate.i not in self.positions:
            return None
        argument = Argument(role, self.positions[word.i])
        proposition = Proposition(self.positions[predicate.i])
        phrase = phrase_of(self.sentence, proposition, argument)
        assert phrase is not None  # there are heads
        first, last = phrase
        return word.doc[self.words[first].i : self.words[last].i + 1]


def _stored(doc: Doc) -> list[tuple[int, dict[str, Any]]]:
    return [
        (key[2], value)
        for key, value in _data(doc).items()
        if isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", _OWN)
    ]


def _data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data  # declared with strings for keys, which spaCy itself does not use
