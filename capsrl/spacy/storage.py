"""Store propositions in spaCy Docs, and read them again.

Propositions are stored in `doc.user_data` as plain numbers and strings, by the offset of their
predicate, with keys like those of spaCy's own token attributes. So they stay with the Doc
wherever spaCy preserves such attributes: in bytes, in other processes, in a DocBin, in the Doc of
one sentence (`span.as_doc`), in merged Docs. Positions and phrases are looked up from the tokens
and the parse that the Doc has when they are read, and again only if those have changed.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Token

from capsrl.data.jsonl import sentence_to_dict
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.spacy.parse import Parse

NAME = "capsrl"  # in the keys of doc.user_data
# What positions and phrases depend on.
_TOKENS: list[int | str] = ["IDX", "HEAD", "DEP", "SENT_START"]

Plain = dict[str, Any]  # a proposition as in the JSON of the library; positions are those of tokens


@dataclass(frozen=True, slots=True)
class _Read:
    """The propositions of a Doc, and what they were read from."""

    entries: list[tuple[int, Plain]]
    tokens: bytes
    propositions: list[Plain]

    def is_of(self, entries: list[tuple[int, Plain]], tokens: bytes) -> bool:
        return (
            self.tokens == tokens
            and len(self.entries) == len(entries)
            and all(
                before[0] == now[0] and before[1] is now[1]
                for before, now in zip(self.entries, entries, strict=True)
            )
        )


# The values hold no tokens: those would keep the Docs, and so themselves, alive forever.
_READ: WeakKeyDictionary[Doc, _Read] = WeakKeyDictionary()


def store(
    words: Sequence[Token], propositions: Iterable[Proposition], *, phrases: bool = True
) -> None:
    """Store the propositions of a sentence in the Doc of its words.

    phrases  whether phrases may be looked up in the parse
    """
    for proposition in propositions:
        predicate = words[proposition.predicate]
        _data(predicate.doc)[_key(predicate.idx)] = {
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


def clear(doc: Doc) -> None:
    """Remove the propositions of a Doc."""
    for start, _ in _stored(doc):
        del _data(doc)[_key(start)]


def is_predicate(token: Token) -> bool:
    """Whether a token is the predicate of a stored proposition, or was merged from one."""
    data = _data(token.doc)
    return any(_key(offset) in data for offset in range(token.idx, token.idx + len(token)))


def read_propositions(doc: Doc) -> Sequence[Plain]:
    """The stored propositions in the order of their predicates, as plain values not to be changed.

    They are made once, and again if the tokens, the parse or the stored values have changed.
    """
    entries = _stored(doc)
    if not entries:
        return ()
    tokens = doc.to_array(_TOKENS).tobytes()
    read = _READ.get(doc)
    if read is None or not read.is_of(entries, tokens):
        read = _READ[doc] = _Read(entries, tokens, _Reader(doc).read(entries))
    return read.propositions


class _Reader:
    """Looks up the tokens and phrases of stored propositions."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.words = [token.text for token in doc]
        self.starts = [token.idx for token in doc]
        self.end = self.starts[-1] + len(self.words[-1]) if self.words else 0
        # spaCy does not give the heads of a tree without sentences.
        self.is_parsed = doc.has_annotation("DEP") and doc.has_annotation("SENT_START")
        self.parses: dict[int, Parse] = {}  # by the start of their sentences

    def read(self, entries: Iterable[tuple[int, Plain]]) -> list[Plain]:
        found = (self._proposition(*entry) for entry in entries)
        ends = (start + len(word) for start, word in zip(self.starts, self.words, strict=True))
        sentence = Sentence(
            tuple(self.words),
            text=self.doc.text,
            offsets=tuple(zip(self.starts, ends, strict=True)),
        ).with_propositions(each for each in found if each is not None)
        propositions: list[Plain] = sentence_to_dict(sentence)["propositions"]
        return propositions

    def _proposition(self, start: int, data: Plain) -> Proposition | None:
        predicate = self._position(start)
        if predicate is None:
            return None
        return Proposition(
            predicate,
            data["sense"],
            tuple(self._arguments(start, predicate, data)),
            data["probability"],
            guessed=data.get("guessed", False),  # Docs of older versions have only the first three
            definition=data.get("definition"),
            frames=tuple(data.get("frames", ())),
            predicate_probability=data.get("predicate_probability"),
            joint_probability=data.get("joint_probability"),
        )

    def _arguments(self, start: int, predicate: int, data: Plain) -> Iterable[Argument]:
        meanings = data.get("meanings", {})
        for role, distance, probability, *edges in data["arguments"]:
            word = self._position(start + distance)
            if word is None:
                continue
            phrase: tuple[int, int] | None = None
            if edges:
                phrase = self._between(start + edges[0], start + edges[1])
            elif self.is_parsed and data.get("phrases", True):
                phrase = self._parsed(predicate, role, word)
            yield Argument(
                role,
                word,
                probability,
                phrase=None if phrase is None else Phrase(*phrase),
                meaning=meanings.get(role),
            )

    def _position(self, offset: int) -> int | None:
        """The token at an offset; None if the Doc was cut out of a longer one, without it."""
        return bisect_right(self.starts, offset) - 1 if 0 <= offset < self.end else None

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        edges = self._position(first), self._position(last)
        return None if edges[0] is None or edges[1] is None else (edges[0], edges[1])

    def _parsed(self, predicate: int, role: str, word: int) -> tuple[int, int] | None:
        token = self.doc[predicate]
        sentence = token.sent
        if sentence.start not in self.parses:
            self.parses[sentence.start] = Parse(sentence)
        return self.parses[sentence.start].phrase(token, role, self.doc[word])


def _stored(doc: Doc) -> list[tuple[int, Plain]]:
    return [
        (key[2], value)
        for key, value in _data(doc).items()
        if isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", NAME)
    ]


def _key(offset: int) -> tuple[str, str, int, None]:
    return "._.", NAME, offset, None


def _data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data  # its declared type has string keys, but spaCy itself uses tuples
