"""The rules and words that sentences of rare constructions are made by.

`constructions.toml` describes the notation. Verbs are inflected by rule; irregular forms are in
`construction_words.toml`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError

RULES = Path(__file__).with_name("constructions.toml")
WORDS = Path(__file__).with_name("construction_words.toml")

_ITEM = re.compile(
    r"(?P<optional>\?)?(?:(?P<role>[A-Z][-A-Z0-9]*):)?"
    r"(?:<(?P<rule>[\w ]+)(?::(?P<form>\w+))?(?:=(?P<subject>\w+|\^)(?:&(?P<pronoun>\w+))?)?>"
    r"|@(?P<sense>[\w.]+)(?:/(?P<fixed>\w+))?"
    r"|\{(?P<auxiliary>\w+):(?P<tense>\w+)(?:=(?P<agrees>\w+))?\}"
    r"|(?P<word>[^\s/#<@*]+)(?:/(?P<tag>[^\s#*]+))?)"
    r"(?:#(?P<name>\w+))?(?P<head>\*)?"
)
# Items are separated by spaces, but names of rules may contain them.
_ITEMS = re.compile(r"(?:<[^>]*>|\S)+")
_BE = {"past": ("was", "was", "were"), "pres": ("am", "is", "are")}  # I, singular, plural


@dataclass(frozen=True)
class Item:
    """A part of a rule: a word, a predicate, an auxiliary, or what another rule makes.

    The notation in constructions.toml gives all fields but the last:

    subject     name of the item that is the subject of its predicates; ^ is that of the rule
    pronoun     name of the relative pronoun that stands for this subject
    agrees      name of the item that the auxiliary agrees with
    fixed       the form of the predicate, if it is not that of the rule
    nominative  set for an object that a passive has made the subject: *her* becomes *she*
    """

    optional: str | None = None
    role: str | None = None
    rule: str | None = None
    form: str | None = None
    sense: str | None = None
    fixed: str | None = None
    auxiliary: str | None = None
    tense: str | None = None
    agrees: str | None = None
    word: str | None = None
    tag: str | None = None
    subject: str | None = None
    pronoun: str | None = None
    name: str | None = None
    head: str | None = None
    nominative: str | None = None


@dataclass(frozen=True)
class Rule:
    """Items, and the role that the subject of their predicates has; None if it has none."""

    items: tuple[Item, ...]
    subject_role: str | None = "A0"


@dataclass(frozen=True)
class Grammar:
    """What the files say.

    words          set -> (word, tag) pairs
    rules          name -> alternatives
    tags           tags of the words in rules that have none there
    forms          lemma -> past, participle, -ing form, where they are irregular
    constructions  their tables: start (a rule), vp and subject (rules), n (sentences), style
    """

    words: Mapping[str, Sequence[tuple[str, str]]]
    rules: Mapping[str, Sequence[Rule]]
    tags: Mapping[str, str]
    forms: Mapping[str, Sequence[str]]
    constructions: Mapping[str, Mapping[str, Any]]

    def tag_of(self, word: str) -> str:
        """The tag of a word in a rule; raise ConfigError if the file has none."""
        if word not in self.tags:
            raise ConfigError(f"{word}: no tag, neither with the word nor in [tags]")
        return self.tags[word]

    def inflect(self, lemma: str, form: str, number: int) -> tuple[str, str]:
        """The form of a verb and its tag.

        number  of its subject: 0 for I, 1 for singular, 2 for plural
        """
        third = number == 1
        if lemma == "be" and form in _BE:
            return _BE[form][number], "VBD" if form == "past" else "VBZ" if third else "VBP"
        if form in ("VB", "") or (form == "pres" and not third):
            return lemma, "VBP" if form == "pres" else "VB"
        past, participle, gerund, singular = _forms_of(lemma, *self.forms.get(lemma, ()))
        return {
            "past": (past, "VBD"),
            "pres": (singular, "VBZ"),
            "VBN": (participle, "VBN"),
            "VBG": (gerund, "VBG"),
        }[form]


def read_grammar(*paths: str | Path) -> Grammar:
    """Read words and rules, by default those here; raise ConfigError for an unreadable item."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths or (RULES, WORDS):
        for table, rows in tomllib.loads(Path(path).read_text(encoding="utf-8")).items():
            found.setdefault(table, {}).update(rows)
    return Grammar(
        {
            name: [(word, tag) for word in words.split()]
            for tag, sets in found["words"].items()
            for name, words in sets.items()
        },
        {name: [_read_rule(rule) for rule in rules] for name, rules in found["rules"].items()},
        {word: tag for tag, words in found["tags"].items() for word in words.split()},
        {lemma: forms.split() for lemma, forms in found["forms"].items()},
        found["constructions"],
    )


def _read_rule(text: str) -> Rule:
    subject_role, mark, rest = text.partition("^ ")
    if not mark or " " in subject_role:
        subject_role, rest = "A0", text
    items = []
    for part in _ITEMS.findall(rest):
        found = _ITEM.fullmatch(part)
        if not found:
            raise ConfigError(f"{text}: cannot read {part}")
        items.append(Item(**found.groupdict()))
    return Rule(tuple(items), None if subject_role == "-" else subject_role)


def make_passive(items: Sequence[Item]) -> list[Item]:
    """The items with the first argument behind the predicate in front, and a form of *be*."""
    verb = next(at for at, item in enumerate(items) if item.sense)
    first = next(item for item in items[verb:] if item.role and item.rule)
    rest = [item for item in items if item is not first]
    name = first.name or "first"
    be = Item(auxiliary="be", tense="past", agrees=name)
    return [replace(first, name=name, nominative="yes"), be, *rest]


@cache
def _forms_of(lemma: str, *known: str) -> tuple[str, str, str, str]:
    """Past, participle, -ing form and third person of a verb, by rule where they are not known."""
    stem = lemma.removesuffix("e")
    y_after_consonant = lemma.endswith("y") and lemma[-2] not in "aeiou"
    past = lemma[:-1] + "ied" if y_after_consonant else stem + "ed"
    gerund = (lemma if lemma.endswith("ee") else stem) + "ing"
    singular = lemma + "s"
    if y_after_consonant:
        singular = lemma[:-1] + "ies"
    elif lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        singular = lemma + "es"
    by_rule = [past, past, gerund, singular]
    if len(known) == 1:
        known *= 2
    past, participle, gerund, singular = [*known, *by_rule[len(known) :]]
    return past, participle, gerund, singular
