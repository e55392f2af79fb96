"""Convert spaCy Docs to sentences, and store propositions in Docs.

Propositions are stored in `doc.user_data` as plain numbers and strings, by the offset of their
predicate, with keys like those of spaCy's own token attributes. So they stay with the Doc
wherever spaCy preserves such attributes: in bytes, in other processes, in a DocBin, in the Doc of
one sentence (`span.as_doc`), in merged Docs. Tokens and phrases are looked up when
`doc._.propositions` is read, from the tokens and the parse that the Doc has at that time.
`doc.spans["capsrl"]` has the predicates and phrases as they were when the Doc was labeled.
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

_NAME = "capsrl"  # in the keys of doc.user_data, and the key in doc.spans
_PREDICATE = "V"  # the label of predicates in doc.spans


@dataclass(frozen=True, slots=True)
class TokenArgument:
    """A word that fills a role.

    phrase   the phrase of the word, as the model predicted it; of a model that predicts none, by
             `capsrl.text.phrases` from the parse of the Doc, or None without a parse
    meaning  what the role means for this sense: seller, or Agent; None when unknown
    """

    role: str
    word: Token
    probability: float
    phrase: Span | None
    meaning: str | None = None


@dataclass(frozen=True, slots=True)
class TokenProposition:
    """A predicate, its sense and its arguments in the order of their words.

    definition  what the sense means, from frame files that the user has
    frames      the linked frames of other lexicons: verbnet:give-13.1-1, framenet:Giving
    guessed     the sense is a guess, see `capsrl.Proposition`
    predicate_probability, joint_probability  as in `capsrl.Proposition`
    """

    predicate: Token
    sense: str
    probability: float
    arguments: tuple[TokenArgument, ...]
    definition: str | None = None
    frames: tuple[str, ...] = ()
    guessed: bool = False
    predicate_probability: float | None = None
    joint_probability: float | None = None


def register() -> None:
    """Define `doc._.propositions`; needed only to read stored Docs without a pipeline.

    Raises ConfigError if another package has defined it.
    """
    if not Doc.has_extension("propositions"):
        Doc.set_extension("propositions", getter=propositions_of)
        return
    getter = Doc.get_extension("propositions")[2]
    if getattr(getter, "__qualname__", None) != propositions_of.__qualname__:
        raise ConfigError(
            "doc._.propositions: expected a free name, got one that another package has defined; "
            'remove it with Doc.remove_extension("propositions")'
        )


def read_sentences(doc: Doc) -> Iterator[list[Token]]:
    """The words of each sentence, without tokens that are white space.

    Sentences are those of the Doc; if it has none, those that `capsrl.text.sentences` finds in its
    text. Sentences of more than MAX_WORDS words are split.
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
    """The sentence of some tokens, with their tags and lemmas if all of them have some.

    known_tags  the tags of the model, which show whether it was trained on fine or universal tags
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


def store(
    words: Sequence[Token], propositions: Iterable[Proposition], *, phrases: bool = True
) -> None:
    """Store the propositions of a sentence in the Doc of its words.

    phrases  whether phrases may be looked up in the parse
    """
    for proposition in propositions:
        predicate = words[proposition.predicate]
        _data(predicate.doc)["._.", _NAME, predicate.idx, None] = {
            "sense": proposition.sense,
            "probability": proposition.probability,
            "phrases": phrases,
            "arguments": [
                _argument_data(words, predicate, argument) for argument in proposition.arguments
            ],
            "definition": proposition.definition,
            "guessed": proposition.guessed,
            "predicate_probability": proposition.predicate_probability,
            "joint_probability": proposition.joint_probability,
            "frames": list(proposition.frames),
            "meanings": {each.role: each.meaning for each in proposition.arguments},
        }


def _argument_data(words: Sequence[Token], predicate: Token, argument: Argument) -> list[Any]:
    """Role, offset, probability, and offsets of the first and last word of the phrase, if any.

    Offsets are relative, so that they stay right when the Doc becomes part of another.
    """
    phrase = argument.phrase
    offset, *edges = (
        words[word].idx - predicate.idx
        for word in (argument.word, *(() if phrase is None else (phrase.first, phrase.last)))
    )
    return [argument.role, offset, argument.probability, *edges]


def set_spans(doc: Doc) -> None:
    """Set `doc.spans["capsrl"]`: predicates, with the label V, and the phrases of their arguments.

    The label of a phrase is its role, and `span.id_` is the position of its predicate in the Doc.
    An argument without a phrase is its word.
    """
    doc.spans[_NAME] = [
        Span(doc, first, end, label=label, span_id=str(proposition.predicate.i))
        for proposition in propositions_of(doc)
        for label, first, end in _spans(proposition)
    ]


def _spans(proposition: TokenProposition) -> Iterator[tuple[str, int, int]]:
    """Yield the label, the first token and the token after the last of predicate and arguments."""
    yield _PREDICATE, proposition.predicate.i, proposition.predicate.i + 1
    for argument in proposition.arguments:
        phrase, at = argument.phrase, argument.word.i
        yield (argument.role, *((at, at + 1) if phrase is None else (phrase.start, phrase.end)))


def clear(doc: Doc) -> None:
    """Remove the propositions of a Doc."""
    for start, _ in _stored(doc):
        del _data(doc)["._.", _NAME, start, None]
    doc.spans.pop(_NAME, None)


def propositions_of(doc: Doc) -> list[TokenProposition]:
    """The value of `doc._.propositions`, computed at every access; empty in an unlabeled Doc."""
    starts = [token.idx for token in doc]
    end = starts[-1] + len(doc[-1]) if starts else 0

    def token_at(offset: int) -> Token | None:  # None: the Doc was cut out of a longer one
        return doc[bisect_right(starts, offset) - 1] if 0 <= offset < end else None

    # spaCy does not give the heads of a tree without sentences.
    parsed = doc.has_annotation("DEP") and doc.has_annotation("SENT_START")
    trees: dict[int, _Tree] = {}  # by the start of their sentences
    found: list[TokenProposition] = []
    for start, data in sorted(_stored(doc), key=lambda pair: pair[0]):
        predicate = token_at(start)
        if predicate is None:
            continue
        tree = None
        if parsed and data.get("phrases", True):
            sentence = predicate.sent
            if sentence.start not in trees:
                trees[sentence.start] = _Tree(sentence)
            tree = trees[sentence.start]
        arguments: list[TokenArgument] = []
        meanings = data.get("meanings", {})  # Docs of older versions have none
        for role, distance, probability, *edges in data["arguments"]:
            word = token_at(start + distance)
            if word is None:
                continue
            if edges:
                phrase = _between(*(token_at(start + edge) for edge in edges))
            else:
                phrase = tree.phrase(predicate, role, word) if tree else None
            arguments.append(TokenArgument(role, word, probability, phrase, meanings.get(role)))
        found.append(
            TokenProposition(
                predicate,
                data["sense"],
                data["probability"],
                tuple(arguments),
                data.get("definition"),
                tuple(data.get("frames", ())),
                data.get("guessed", False),
                data.get("predicate_probability"),
                data.get("joint_probability"),
            )
        )
    return found


def _between(first: Token | None, last: Token | None) -> Span | None:
    return None if first is None or last is None else first.doc[first.i : last.i + 1]


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
        """The phrase of an argument; None if it is not in the sentence of its predicate."""
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
        if isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", _NAME)
    ]


def _data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data  # its declared type has string keys, but spaCy itself uses tuples
