r"""What senses and roles mean, in the MISC column of CoNLL-U Plus.

The row of a predicate has them after other entries, where they are known:

    Definition=sell a thing|Frame=verbnet:give-13.1|Meaning[A0]=seller|Meaning[A1]=thing sold

In them `|` is written `\p`, a tab or line break as in Python, and a backslash twice.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from capsrl.sentence import Argument, Proposition, Sentence

_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_IN_ROLE = {**_ESCAPES, "]": "\\b"}
_CHARACTERS = {escape: character for character, escape in _IN_ROLE.items()}
_ENTRY = re.compile(r"(Definition|Frame|Guessed|Meaning\[([^\]]+)\])=(.*)", re.DOTALL)
_MISC, _EMPTY = "MISC", "_"


def misc_with_meanings(sentence: Sentence) -> tuple[str, ...]:
    """The MISC column of a sentence, with what its propositions mean."""
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
    if proposition.definition:
        yield f"Definition={_escape(proposition.definition)}"
    if proposition.guessed:
        yield "Guessed=Yes"
    for frame in proposition.frames:
        yield f"Frame={_escape(frame)}"
    for argument in proposition.arguments:
        if argument.meaning:
            yield f"Meaning[{_escape(argument.role, _IN_ROLE)}]={_escape(argument.meaning)}"


def _with_meanings(proposition: Proposition, entries: list[re.Match[str]]) -> Proposition:
    values = {each[1]: _unescape(each[3]) for each in entries}
    meanings = {_unescape(each[2]): _unescape(each[3]) for each in entries if each[2]}
    return replace(
        proposition,
        definition=values.get("Definition"),
        guessed="Guessed" in values,
        frames=tuple(_unescape(each[3]) for each in entries if each[1] == "Frame"),
        arguments=tuple(_with_meaning(each, meanings) for each in proposition.arguments),
    )


def _with_meaning(argument: Argument, meanings: Mapping[str, str]) -> Argument:
    return replace(argument, meaning=meanings.get(argument.role))


def _escape(text: str, escapes: Mapping[str, str] = _ESCAPES) -> str:
    return "".join(escapes.get(character, character) for character in text)


def _unescape(text: str) -> str:
    return re.sub(r"\\.", lambda found: _CHARACTERS.get(found[0], found[0]), text)
