"""`doc._.propositions`, `span._.propositions`, `token._.proposition` and `doc.spans["capsrl"]`.

`token._.sense` and `token._.roles` are strings for the Matcher.

A proposition is a dictionary of plain values, the same as in the JSON of the library, so that
`doc.to_json(underscore=["propositions"])` has them. Its attributes are tokens and spans of the Doc.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spacy.tokens import Doc, Span, Token

from capsrl.errors import ConfigError
from capsrl.formats.fields import Plain, describe, sentence_from_dict
from capsrl.sentence import Argument, Proposition
from capsrl.spacy.storage import clear, read_propositions, roles_of, store, stored_at

SPANS_KEY = "capsrl"  # in doc.spans
V_LABEL = "V"  # of predicates in doc.spans


class _View(Plain):
    """Plain values about some tokens of a Doc: a copy, which may be changed.

    The fields of the class that it describes are its attributes, with their defaults.
    """

    __slots__ = ("doc",)
    _described: type

    def __init__(self, doc: Doc, values: Plain) -> None:
        super().__init__(values)
        self.doc = doc
        for name, value in values.items():
            if isinstance(value, dict | list):
                self[name] = value.copy()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        for each in describe(self._described):
            if each.name == name:
                value = self.get(name, each.default)
                return tuple(value) if isinstance(value, list) else value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class TokenArgument(_View):
    """A word that fills a role: `role`, `probability`, `meaning` as in `capsrl.Argument`."""

    __slots__ = ()
    _described = Argument

    @property
    def word(self) -> Token:
        """The head word."""
        return self.doc[self["word"]]

    @property
    def phrase(self) -> Span | None:
        """The phrase of the word, as the model predicted it.

        Of a model that predicts none, by `capsrl.text.phrases` from the parse of the Doc, or None
        without a parse.
        """
        phrase = self.get("phrase")
        return None if phrase is None else self.doc[phrase["first"] : phrase["last"] + 1]


class TokenProposition(_View):
    """A predicate, its sense and its arguments.

    `sense`, `probability`, `definition`, `frames`, `guessed`, `predicate_probability` and
    `joint_probability` are those of `capsrl.Proposition`.
    """

    __slots__ = ()
    _described = Proposition

    def __init__(self, doc: Doc, values: Plain) -> None:
        super().__init__(doc, values)
        self["arguments"] = [TokenArgument(doc, each) for each in self["arguments"]]

    @property
    def predicate(self) -> Token:
        """The predicate."""
        return self.doc[self["predicate"]]

    @property
    def arguments(self) -> tuple[TokenArgument, ...]:
        """The arguments in the order of their words."""
        return tuple(self["arguments"])


def propositions_of(doc: Doc) -> list[TokenProposition]:
    """The value of `doc._.propositions`; empty in an unlabeled Doc."""
    return [TokenProposition(doc, each) for each in read_propositions(doc)]


def propositions_in(span: Span) -> list[TokenProposition]:
    """The value of `span._.propositions`: those whose predicate is in the span."""
    doc = span.doc
    return [
        TokenProposition(doc, each)
        for each in read_propositions(doc)
        if span.start <= each["predicate"] < span.end
    ]


def proposition_at(token: Token) -> TokenProposition | None:
    """The value of `token._.proposition`: that of a predicate, None for other tokens."""
    if stored_at(token) is None:
        return None
    found = (each for each in read_propositions(token.doc) if each["predicate"] == token.i)
    return TokenProposition(token.doc, next(found))


def sense_at(token: Token) -> str:
    """The value of `token._.sense`: that of a predicate, empty for other tokens."""
    return (stored_at(token) or {}).get("sense") or ""


def roles_at(token: Token) -> list[str]:
    """The value of `token._.roles`: the roles whose head word it is, alone and with their senses.

    *Google* in *Google acquired it* has A0 and acquire.01:A0. A Matcher finds them with INTERSECTS.
    """
    found = roles_of(token)
    names = [*(role for role, _ in found), *(f"{sense}:{role}" for role, sense in found if sense)]
    return list(dict.fromkeys(names))


def set_propositions(doc: Doc, propositions: Iterable[Plain]) -> None:
    """Set `doc._.propositions`, as in `doc._.propositions = [...]`, to gold ones for example.

    propositions  dictionaries as in the JSON of the library, such as those of a Sentence with the
                  same words, `sentence.to_dict()["propositions"]`; positions are those of tokens
    Raises DataError naming what is wrong.
    """
    data = {"words": [token.text for token in doc], "propositions": list(propositions)}
    sentence = sentence_from_dict(data, where="doc")
    clear(doc)
    store(list(doc), sentence.propositions, phrases=False)
    set_spans(doc)


def set_spans(doc: Doc, key: str = SPANS_KEY) -> None:
    """Set `doc.spans[key]`: predicates, with the label V, and the phrases of their arguments.

    The label of a phrase is its role, and `span.id_` is the position of its predicate in the Doc.
    The `kb_id_` of a predicate is its sense. An argument without a phrase is its word.
    """
    doc.spans[key] = [
        Span(doc, first, end, label=label, kb_id=sense, span_id=str(proposition["predicate"]))
        for proposition in read_propositions(doc)
        for label, sense, first, end in span_values(proposition)
    ]


def span_values(proposition: Plain) -> Iterator[tuple[str, str, int, int]]:
    """Yield label, sense, first token and the token after the last of predicate and arguments."""
    at = proposition["predicate"]
    yield V_LABEL, proposition["sense"] or "", at, at + 1
    for argument in proposition["arguments"]:
        phrase = argument.get("phrase", {})
        first, last = (phrase.get(edge, argument["word"]) for edge in ("first", "last"))
        yield argument["role"], "", first, last + 1


# Extended class, name of the attribute, getter, setter.
_EXTENSIONS: tuple[tuple[Any, str, Callable[[Any], object], Callable[..., None] | None], ...] = (
    (Doc, "propositions", propositions_of, set_propositions),
    (Span, "propositions", propositions_in, None),
    (Token, "proposition", proposition_at, None),
    (Token, "sense", sense_at, None),
    (Token, "roles", roles_at, None),
)


def register() -> None:
    """Define the attributes of Doc, Span and Token.

    Needed only to read stored Docs without a pipeline. Raises ConfigError if another package has
    defined one of them.
    """
    for extended, name, getter, setter in _EXTENSIONS:
        if not extended.has_extension(name):
            extended.set_extension(name, getter=getter, setter=setter)
            continue
        known = extended.get_extension(name)[2]
        if getattr(known, "__qualname__", None) != getter.__qualname__:
            kind = extended.__name__
            raise ConfigError(
                f"{kind.lower()}._.{name}: another package has defined this attribute; "
                f'remove it with {kind}.remove_extension("{name}")'
            )
