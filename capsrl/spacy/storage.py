"""Store propositions in spaCy Docs, and read them again.

Propositions are stored in `doc.user_data` as plain numbers and strings, by the offset of their
predicate, with keys like those of spaCy's own token attributes. So they stay with the Doc
wherever spaCy preserves such attributes: in bytes, in other processes, in a DocBin, in the Doc of
one sentence (`span.as_doc`), in merged Docs. Positions and phrases are looked up from the tokens
and the parse that the Doc has when they are read, and again only if those have changed.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, Token

from capsrl.formats.fields import Plain, describe, to_plain
from capsrl.sentence import Argument, Phrase, Proposition, Sentence
from capsrl.text.phrases import find_phrase

_NAME = "capsrl"  # in the keys of doc.user_data
# What positions and phrases depend on.
_TOKENS: list[int | str] = ["IDX", "LENGTH", "HEAD", "DEP", "SENT_START"]
# Keys that are not stored: their values follow from the tokens, or are too large.
_NOT_STORED = {
    each.name
    for described in (Proposition, Argument)
    for each in describe(described)
    if each.about.kind in ("word", "form", "offset", "trace")
}
# In the trees of spaCy's English pipelines a preposition is the head of its object, in Universal
# Dependencies it depends on it. Models trained on the latter name the object: *in [London]*.
_OBJECTS = frozenset(("pobj", "pcomp"))

# For each Doc what its propositions were read from, and themselves. The values hold no tokens:
# those would keep the Docs, and so themselves, alive forever.
_Entries = list[tuple[int, Plain]]
_READ: WeakKeyDictionary[Doc, tuple[tuple[_Entries, bytes], list[Plain]]] = WeakKeyDictionary()
# Roles and senses by the offsets of words, valid for values with these ids, which are kept alive.
_Roles = tuple[list[int], _Entries, dict[int, list[tuple[str, str | None]]]]
_ROLES: WeakKeyDictionary[Doc, _Roles] = WeakKeyDictionary()


def store(
    words: Sequence[Token], propositions: Iterable[Proposition], *, phrases: bool = True
) -> None:
    """Store the propositions of a sentence in the Doc of its words.

    A word is stored as its distance from the predicate, in characters, which stays the same when
    the Doc becomes part of another.

    phrases  whether phrases may be looked up in the parse
    """
    for proposition in propositions:
        values = to_plain(proposition)
        predicate = words[values["predicate"]]
        stored = _without_tokens(values) | {"phrases": phrases, "arguments": []}
        for argument in values["arguments"]:
            places: Plain = {"word": words[argument["word"]].idx - predicate.idx}
            if phrase := argument.get("phrase"):
                edges = words[phrase["first"]], words[phrase["last"]]
                places["phrase"] = [edge.idx - predicate.idx for edge in edges]
            stored["arguments"].append(_without_tokens(argument) | places)
        _data(predicate.doc)[_key(predicate.idx)] = stored


def _without_tokens(values: Plain) -> Plain:
    return {name: value for name, value in values.items() if name not in _NOT_STORED}


def clear(doc: Doc) -> None:
    """Remove the propositions of a Doc."""
    for start, _ in _stored(doc):
        del _data(doc)[_key(start)]


def stored_at(token: Token) -> Plain | None:
    """What is stored of the proposition whose predicate a token is, or was merged from."""
    data = _data(token.doc)
    found = (data.get(_key(offset)) for offset in range(token.idx, token.idx + len(token)))
    return next(filter(None, found), None)


def roles_of(token: Token) -> list[tuple[str, str | None]]:
    """The roles whose head word a token is, each with the sense of the predicate.

    A Matcher asks for those of every token, so they are kept by the offsets of the words.
    """
    ids, known = [*map(id, _data(token.doc).values())], _ROLES.get(token.doc)
    if known is None or known[0] != ids:
        entries, roles = _stored(token.doc), dict[int, list[tuple[str, str | None]]]()
        last = token.doc[-1].idx + len(token.doc[-1])
        for start, stored in sorted(entries, key=itemgetter(0)):
            # The Doc may have been cut out of a longer one, without the predicate.
            for each in _stored_arguments(stored) if 0 <= start < last else ():
                found = each["role"], stored["sense"]
                roles.setdefault(start + each["word"], []).append(found)
        known = _ROLES[token.doc] = ids, entries, roles
    offsets = range(token.idx, token.idx + len(token))
    return [each for offset in offsets for each in known[2].get(offset, ())]


def read_propositions(doc: Doc) -> Sequence[Plain]:
    """The stored propositions in the order of their predicates, as plain values not to be changed.

    They are made once, and again if the tokens, the parse or the stored values have changed.
    """
    entries = _stored(doc)
    if not entries or not len(doc):
        return ()
    state = entries, doc.to_array(_TOKENS).tobytes()
    read = _READ.get(doc)
    if read is None or read[0] != state:
        read = _READ[doc] = state, DocReader(doc).read(entries)
    return read[1]


class DocReader:
    """Looks up the tokens and phrases of stored propositions.

    described  the class that has the keys of propositions
    """

    def __init__(self, doc: Doc, described: type = Proposition) -> None:
        self.doc = doc
        self.text = doc.text
        self.starts = [token.idx for token in doc]
        self.ends = [token.idx + len(token) for token in doc]
        # spaCy does not give the heads of a tree without sentences.
        self.is_parsed = doc.has_annotation("DEP") and doc.has_annotation("SENT_START")
        self.parses: dict[int, Parse] = {}  # by the start of their sentences
        self.described = described
        self.of_arguments = next(
            each.of for each in describe(described) if each.name == "arguments"
        )

    def read(self, entries: _Entries) -> list[Plain]:
        """The propositions of stored entries: the offset of the predicate, and its values."""
        found = [self._proposition(*each) for each in sorted(entries, key=itemgetter(0))]
        return [proposition for proposition in found if proposition is not None]

    def _proposition(self, start: int, stored: Plain) -> Plain | None:
        predicate = self._position(start)
        if predicate is None:
            return None
        found = (
            self._argument(start, predicate, argument, stored.get("phrases", True))
            for argument in _stored_arguments(stored)
        )
        arguments = [argument for argument in found if argument is not None]
        values = stored | {"predicate": predicate, "arguments": arguments}
        return self._ordered(self.described, values, predicate, predicate)

    def _argument(self, start: int, predicate: int, stored: Plain, parsed: bool) -> Plain | None:
        word = self._position(start + stored["word"])
        if word is None:
            return None
        phrase: tuple[int, int] | None = None
        if edges := stored.get("phrase"):
            first, last = (self._position(start + edge) for edge in edges)
            phrase = None if first is None or last is None else (first, last)
        elif parsed and self.is_parsed:
            phrase = self._parsed(predicate, stored["role"], word)
        values = stored | {"word": word, "phrase": None}
        if phrase is not None:
            edges = dict(zip(("first", "last"), phrase, strict=True))
            values["phrase"] = self._ordered(Phrase, edges, *phrase)
        return self._ordered(self.of_arguments, values, word, word)

    def _ordered(self, described: type, values: Plain, first: int, last: int) -> Plain:
        """The values, and those that follow from the first and last token, as in JSON."""
        start, end = self.starts[first], self.ends[last]
        text = self.text[start:end]
        values = values | {"form": text, "text": text, "start": start, "end": end}
        return {
            each.name: values[each.name]
            for each in describe(described)
            if each.about.always or values.get(each.name) not in (None, [], each.default)
        }

    def _position(self, offset: int) -> int | None:
        """The token at an offset; None if the Doc was cut out of a longer one, without it."""
        inside = 0 <= offset < self.ends[-1]
        return bisect_right(self.starts, offset) - 1 if inside else None

    def _parsed(self, predicate: int, role: str, word: int) -> tuple[int, int] | None:
        token = self.doc[predicate]
        sentence = token.sent
        if sentence.start not in self.parses:
            self.parses[sentence.start] = Parse(sentence)
        return self.parses[sentence.start].phrase(token, role, self.doc[word])


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
        edges = self.positions[predicate.i], role, self.positions[head.i]
        phrase = find_phrase(self.sentence, *edges)
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


def _stored_arguments(stored: Plain) -> list[Plain]:
    """The arguments of a proposition; those of Docs of older versions are lists."""
    meanings = stored.get("meanings", {})
    return [
        dict(zip(("role", "word", "probability"), each[:3], strict=True))
        | {"phrase": each[3:], "meaning": meanings.get(each[0])}
        if isinstance(each, list)
        else each
        for each in stored["arguments"]
    ]


def _stored(doc: Doc) -> _Entries:
    return [
        (key[2], value)
        for key, value in _data(doc).items()
        if isinstance(key, tuple) and len(key) == 4 and key[:2] == ("._.", _NAME)
    ]


def _key(offset: int) -> tuple[str, str, int, None]:
    return "._.", _NAME, offset, None


def _data(doc: Doc) -> dict[Any, Any]:
    return doc.user_data  # its declared type has string keys, but spaCy itself uses tuples
