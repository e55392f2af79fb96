"""Make sentences of constructions that are rare in the corpora, with their propositions.

`constructions.toml`, beside this file, has the rules and describes their notation. Alternatives are
drawn at random; which word has which role of which predicate is known from the rules, so nothing is
parsed. The same seed gives the same sentences. Nouns and adjectives are not annotated even where
they are predicates, so a recipe names the file in `data.partial`.

The texts of benchmarks/ are for measuring. No sentence overlaps them (`corpora.held_out`), and none
has a predicate and an argument that are both in one of those texts.
"""

import random
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from capsrl.errors import ConfigError
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.text.lemmatizer import Lemmatizer
from capsrl.text.sentences import read_text
from corpora.construction_grammar import Grammar, Item, make_passive
from corpora.held_out import HeldOut, HeldOutPairs

MEASURING = Path(__file__).parents[1] / "benchmarks"  # its texts must not be learned
OPTIONAL = 0.35  # how often an optional item is there
N_TRIALS = 30  # sentences made for each one wanted: many are repetitions

_ARTICLES = ("the", "a", "an")
_AS_SUBJECT = {"him": "he", "her": "she", "them": "they", "me": "I", "us": "we"}
_PLURAL_WORDS = ("we", "you", "they", "u")


def read_measuring(folder: str | Path = MEASURING) -> list[Sentence]:
    """Read the texts of the TOML files in a folder."""
    files = (
        tomllib.loads(f.read_text(encoding="utf-8")) for f in sorted(Path(folder).glob("*.toml"))
    )
    cases = (case for file in files for cases in file.values() for case in cases)
    return [sentence for case in cases for sentence in read_text(case["text"])]


def make_constructions(
    grammar: Grammar, *, seed: int = 1, held_out: Iterable[Sentence] = ()
) -> Iterator[Sentence]:
    """Yield different sentences of every construction, without those that overlap held_out."""
    held_out = list(held_out)
    sequences, pairs = HeldOut(held_out), HeldOutPairs(held_out)
    lemmatizer, seen = Lemmatizer(), set()
    for name, construction in grammar.constructions.items():
        rng = random.Random(f"{seed} {name}")
        n = construction["n"]
        for _ in range(n * N_TRIALS):
            maker = _Maker(grammar, rng, construction)
            maker.make(construction["start"])
            sentence = lemmatizer.fill(maker.sentence())
            words = tuple(map(str.lower, sentence.words))
            if words in seen or _repeats(sentence):
                continue
            if sequences.overlaps(words) or pairs.overlap(sentence):
                continue
            seen.add(words)
            yield sentence
            n -= 1
            if not n:
                break
        else:
            raise ConfigError(f"{name}: the rules give {construction['n'] - n} sentences")


def _repeats(sentence: Sentence) -> bool:
    """Whether a noun occurs twice: *begged the guests to call the guests*."""
    tagged = zip(sentence.words, sentence.tags or (), strict=True)
    nouns = [word.lower() for word, tag in tagged if tag.startswith("N")]
    return len(set(nouns)) < len(nouns)


@dataclass
class _Part:
    """What an item became.

    head       position of its head
    number     0 for I, 1 for singular, 2 for plural: which form of a verb agrees with it
    subjects   (predicate, role) pairs that wait for their subject
    modified   predicates to which modifiers of the whole part belong
    """

    head: int
    number: int = 1
    subjects: list[tuple[int, str]] = field(default_factory=list)
    modified: list[int] = field(default_factory=list)


class _Maker:
    """Makes one sentence, from left to right."""

    def __init__(
        self, grammar: Grammar, rng: random.Random, construction: Mapping[str, Any]
    ) -> None:
        self._grammar, self._rng, self._style = grammar, rng, construction.get("style")
        self._bound = {"V": construction.get("vp", ""), "S": construction.get("subject", "person")}
        self._words: list[str] = []
        self._tags: list[str] = []
        self._propositions: dict[int, Proposition] = {}

    def sentence(self) -> Sentence:
        words = list(self._words)
        for at, (word, following) in enumerate(zip(words, words[1:], strict=False)):
            if word == "a" and following[0] in "aeiouAEIOU":
                words[at] = "an"
        if self._style == "chat":
            words = [word.lower() for word in words]
        else:
            words[0] = words[0][0].upper() + words[0][1:]
        propositions = (
            replace(p, arguments=tuple(sorted(p.arguments, key=lambda each: each.word)))
            for _, p in sorted(self._propositions.items())
        )
        return Sentence(tuple(words), tuple(propositions), tags=tuple(self._tags))

    def make(self, name: str, form: str = "", number: int = 1) -> _Part:
        """Add a word of a set or what a rule makes."""
        name = self._bound.get(name, name)
        if name in self._grammar.words:
            return self._noun(self._add(*self._rng.choice(self._grammar.words[name])))
        rule = self._rng.choice(self._grammar.rules[name])
        items = [i for i in rule.items if not i.optional or self._rng.random() < OPTIONAL]
        if form == "passive":
            items, form = make_passive(items), "VBN"
            rule = replace(rule, subject_role=None)
        return self._make_items(items, rule.subject_role, form, number)

    def _make_items(
        self, items: Sequence[Item], subject_role: str | None, form: str, number: int
    ) -> _Part:
        parts: list[tuple[Item, _Part]] = []
        named: dict[str, _Part] = {}
        predicates = []
        for item in items:
            agrees = item.subject or item.agrees
            of_subject = named[agrees].number if agrees in named else number
            if item.rule:
                part = self.make(item.rule, item.form or (form if item.subject else ""), of_subject)
                if item.nominative and self._tags[part.head] == "PRP":
                    self._words[part.head] = _AS_SUBJECT.get(word := self._words[part.head], word)
                    part = self._noun(part.head)
            elif item.sense:
                lemma = re.split(r"[_.]", item.sense)[0]
                part = _Part(self._add(*self._grammar.inflect(lemma, item.fixed or form, number)))
                self._propositions[part.head] = Proposition(part.head, item.sense)
                predicates.append(part.head)
            elif item.auxiliary:
                if self._style == "headline":
                    continue
                word, tag = self._grammar.inflect(item.auxiliary, item.tense or "", of_subject)
                part = _Part(self._add(word, tag))
            else:
                assert item.word
                if self._style == "headline" and item.word in _ARTICLES:
                    continue
                part = self._noun(self._add(item.word, item.tag or self._grammar.tag_of(item.word)))
            parts.append((item, part))
            if item.name:
                named[item.name] = part
        return self._join(parts, named, predicates, subject_role)

    def _join(
        self,
        parts: Sequence[tuple[Item, _Part]],
        named: Mapping[str, _Part],
        predicates: Sequence[int],
        subject_role: str | None,
    ) -> _Part:
        """Give the items of a rule their roles, and find its head."""
        clauses = [part for item, part in parts if (item.form or item.subject) and not item.role]
        of_clauses = [at for part in clauses for at in part.modified]
        modified = list(predicates) or of_clauses
        subjects = [(at, subject_role) for at in predicates] if subject_role else []
        for item, part in parts:
            if item.role:
                for at in modified:
                    # A particle directly behind its verb has no role in the corpora.
                    if item.role != "C-V" or part.head > at + 1:
                        self._give(at, item.role, part.head)
            for at, role in part.subjects:
                if item.subject == "^":
                    subjects.append((at, role))
                elif item.subject:
                    self._give(at, role, named[item.subject].head)
                if item.pronoun:
                    self._give(at, f"R-{role}", named[item.pronoun].head)
        marked = [part for item, part in parts if item.head]
        head = (marked or clauses or [parts[-1][1]])[0]
        if predicates and not marked:
            head = _Part(predicates[0])
        is_both = not clauses and any(item.word == "and" for item, _ in parts)
        return _Part(head.head, 2 if is_both else head.number, subjects, modified)

    def _give(self, predicate: int, role: str, word: int) -> None:
        old = self._propositions[predicate]
        arguments = (*old.arguments, Argument(role, word))
        self._propositions[predicate] = replace(old, arguments=arguments)

    def _add(self, word: str, tag: str) -> int:
        self._words.append(word)
        self._tags.append(tag)
        return len(self._words) - 1

    def _noun(self, at: int) -> _Part:
        word, tag = self._words[at], self._tags[at]
        plural = tag in ("NNS", "NNPS") or word in _PLURAL_WORDS
        return _Part(at, 0 if word in ("I", "i") else 2 if plural else 1)
