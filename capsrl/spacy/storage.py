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

from numpy.typing import NDArray
from spacy.tokens import Doc, Token

from capsrl.sentence import Argument, Proposition
from capsrl.spacy.parse import Parse

NAME = "capsrl"  # in the keys of doc.user_data
# What positions and phrases depend on.
_TOKENS: list[int | str] = ["IDX", "LENGTH", "HEAD", "DEP", "SENT_START"]

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
    if not entries or not len(doc):
        return ()
    tokens = doc.to_array(_TOKENS)
    read = _READ.get(doc)
    if read is None or not read.is_of(entries, tokens.tobytes()):
        propositions = _Reader(doc, tokens).read(entries)
        read = _READ[doc] = _Read(entries, tokens.tobytes(), propositions)
    return read.propositions


class _Reader:
    """Looks up the tokens and phrases of stored propositions.

    tokens  the attributes _TOKENS of each token
    """

    def __init__(self, doc: Doc, tokens: NDArray[Any]) -> None:
        self.doc = doc
        self.text = doc.text
        self.starts: list[int] = tokens[:, 0].tolist()
        self.ends: list[int] = (tokens[:, 0] + tokens[:, 1]).tolist()
        # spaCy does not give the heads of a tree without sentences.
        self.is_parsed = doc.has_annotation("DEP") and doc.has_annotation("SENT_START")
        self.parses: dict[int, Parse] = {}  # by the start of their sentences

    def read(self, entries: Iterable[tuple[int, Plain]]) -> list[Plain]:
        found = (self._proposition(*entry) for entry in sorted(entries, key=lambda each: each[0]))
        return [proposition for proposition in found if proposition is not None]

    def _proposition(self, start: int, data: Plain) -> Plain | None:
        predicate = self._position(start)
        if predicate is None:
            return None
        arguments = (
            self._argument(start, predicate, data, *values) for values in data["arguments"]
        )
        return {"predicate": predicate, "form": self._text(predicate), "sense": data["sense"]} | (
            _known(
                # Docs of older versions have only sense, probability and arguments.
                definition=data.get("definition"),
                frames=list(data.get("frames", ())) or None,
                guessed=data.get("guessed") or None,
                probability=data["probability"],
                predicate_probability=data.get("predicate_probability"),
                joint_probability=data.get("joint_probability"),
                start=self.starts[predicate],
                end=self.ends[predicate],
                arguments=[argument for argument in arguments if argument is not None],
            )
        )

    def _argument(
        self,
        start: int,
        predicate: int,
        data: Plain,
        role: str,
        distance: int,
        probability: float | None,
        *edges: int,
    ) -> Plain | None:
        word = self._position(start + distance)
        if word is None:
            return None
        phrase: tuple[int, int] | None = None
        if edges:
            phrase = self._between(start + edges[0], start + edges[1])
        elif self.is_parsed and data.get("phrases", True):
            phrase = self._parsed(predicate, role, word)
        return _known(
            role=role,
            meaning=data.get("meanings", {}).get(role),
            word=word,
            form=self._text(word),
            probability=probability,
            start=self.starts[word],
            end=self.ends[word],
            phrase=None if phrase is None else self._phrase(*phrase),
        )

    def _phrase(self, first: int, last: int) -> Plain:
        return {
            "first": first,
            "last": last,
            "text": self._text(first, last),
            "start": self.starts[first],
            "end": self.ends[last],
        }

    def _text(self, first: int, last: int | None = None) -> str:
        return self.text[self.starts[first] : self.ends[first if last is None else last]]

    def _position(self, offset: int) -> int | None:
        """The token at an offset; None if the Doc was cut out of a longer one, without it."""
        inside = 0 <= offset < self.ends[-1]
        return bisect_right(self.starts, offset) - 1 if inside else None

    def _between(self, first: int, last: int) -> tuple[int, int] | None:
        edges = self._position(first), self._position(last)
        return None if edges[0] is None or edges[1] is None else (edges[0], edges[1])

    def _parsed(self, predicate: int, role: str, word: int) -> tuple[int, int] | None:
        token = self.doc[predicate]
        sentence = token.sent
        if sentence.start not in self.parses:
            self.parses[sentence.start] = Parse(sentence)
        return self.parses[sentence.start].phrase(token, role, self.doc[word])


def _known(**values: Any) -> Plain:  # noqa: ANN401
    """The values that are known, as in the JSON of the library."""
    return {name: value for name, value in values.items() if value is not None}


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
