r"""Read and write meanings and probabilities in the MISC column of CoNLL-U Plus.

The row of a predicate has entries for the fields that have a name there (`About.misc`):

    Definition=sell a thing|Frame=verbnet:give-13.1|Meaning[A0]=seller|Meaning[A1]=thing sold
    SenseProbability=0.97|ArgumentProbability[A0:1]=0.99 (role and ID of the word)

In them `|` is written `\p`, a tab or line break as in Python, and a backslash twice.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from capsrl.formats.fields import Described, describe
from capsrl.sentence import Argument, Proposition, Sentence

_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_IN_ROLE = {**_ESCAPES, "]": "\\b"}
_CHARACTERS = {escape: character for character, escape in _IN_ROLE.items()}
_TEXT, _ROLE = str.maketrans(_ESCAPES), str.maketrans(_IN_ROLE)
_OF_PROPOSITION, _OF_ARGUMENT = (  # fields that may have several entries come last
    {
        each.about.misc: each
        for each in sorted(describe(described), key=lambda each: each.about.kind == "strings")
        if each.about.misc
    }
    for described in (Proposition, Argument)
)
# What follows the name of a probability: a number as Python writes it, else the entry is not ours.
_NUMBER = r"(?=(?:\[[^\]|]+\])?=(?:1\.0|0\.\d+|\d(?:\.\d+)?e-\d+)(?:\||\Z))"
_NAMES = (
    name + _NUMBER * (each.about.kind == "probability")
    for name, each in (_OF_PROPOSITION | _OF_ARGUMENT).items()
)
_ENTRY = re.compile(rf"({'|'.join(_NAMES)})(?:\[([^\]]+)\])?=(.*)", re.DOTALL)
_MISC, _EMPTY = "MISC", "_"


def misc_with_meanings(sentence: Sentence) -> tuple[str, ...]:
    """The MISC column of a sentence, with what is known of its propositions."""
    column = list(sentence.columns.get(_MISC, (_EMPTY,) * len(sentence)))
    for proposition in sentence.propositions:
        others = [cell for cell in (column[proposition.predicate],) if cell != _EMPTY]
        entries = [*others, *dict.fromkeys(_entries(proposition))]
        column[proposition.predicate] = "|".join(entries) or _EMPTY
    return tuple(column)


def take_meanings(sentence: Sentence) -> Sentence:
    """The sentence with what the MISC column says of its propositions, which leaves that column."""
    misc = sentence.columns.get(_MISC)
    if misc is None or not any(_ENTRY.search(misc[each]) for each in sentence.predicates):
        return sentence
    column = list(misc)
    propositions = []
    for proposition in sentence.propositions:
        word = proposition.predicate
        found = [(entry, _ENTRY.fullmatch(entry)) for entry in column[word].split("|")]
        column[word] = "|".join(entry for entry, ours in found if not ours) or _EMPTY
        propositions.append(_with_meanings(proposition, [ours for _, ours in found if ours]))
    columns = {**sentence.columns, _MISC: tuple(column)}
    if set(column) == {_EMPTY}:
        del columns[_MISC]
    return replace(sentence, propositions=tuple(propositions), columns=columns)


def _entries(proposition: Proposition) -> Iterator[str]:
    for name, each in _OF_PROPOSITION.items():
        for text in _texts(getattr(proposition, each.name)):
            yield f"{name}={text}"
    for argument in proposition.arguments:
        for name, each in _OF_ARGUMENT.items():
            for text in _texts(getattr(argument, each.name)):
                yield f"{name}[{_key(argument, each).translate(_ROLE)}]={text}"


def _key(argument: Argument, field: Described) -> str:
    word = f":{argument.word + 1}" if field.about.kind == "probability" else ""
    return argument.role + word


def _texts(value: str | float | tuple[str, ...] | None) -> list[str]:
    if isinstance(value, tuple):
        return [text.translate(_TEXT) for text in value]
    if value is None or value is False:
        return []
    return ["Yes" if value is True else str(value).translate(_TEXT)]


def _with_meanings(proposition: Proposition, entries: list[re.Match[str]]) -> Proposition:
    found: dict[tuple[str, str | None], list[str]] = {}
    for name, role, text in (entry.groups() for entry in entries):
        found.setdefault((name, role and _unescape(role)), []).append(_unescape(text))

    def values(fields: Mapping[str, Described], of: Argument | None = None) -> dict[str, Any]:
        keys = ((name, _key(of, each) if of else None, each) for name, each in fields.items())
        return {each.name: _value(each, found.get((name, key))) for name, key, each in keys}

    arguments = [replace(each, **values(_OF_ARGUMENT, each)) for each in proposition.arguments]
    return replace(proposition, arguments=tuple(arguments), **values(_OF_PROPOSITION))


def _value(field: Described, texts: list[str] | None) -> Any:  # noqa: ANN401
    if not texts:
        return field.default
    if field.about.kind == "flag":
        return True
    if field.about.kind == "probability":
        return float(texts[-1])
    return tuple(texts) if field.about.kind == "strings" else texts[-1]


def _unescape(text: str) -> str:
    return re.sub(r"\\.", lambda found: _CHARACTERS.get(found[0], found[0]), text)
