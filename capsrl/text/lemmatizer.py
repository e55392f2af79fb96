"""Lemmatize English predicates, by what training text showed, by a table, and by rules.

Senses belong to lemmas, so labeling raw text needs the lemmas of its predicates: verbs, nouns and
adjectives, lemmatized as in EWT. Without a tag a word gets the lemma that predicates of its form
had most often in training: *meeting* stays a noun, *signing* becomes *sign*.

The table, english_forms.txt, has the English verbs and the forms that the rules get wrong. The
rules are about English suffixes: of the possible lemmas of a form they prefer one of the table. A
word of another language is returned in lower case.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from capsrl.errors import ModelError
from capsrl.sentence import Sentence

_POS = ("", "verb", "noun", "adjective")  # what `predicate_pos` returns
_NAMES = ("NNP", "NNPS", "PROPN")
_VOWELS = "aeiou"
# Endings of stems that lost an e, and of exceptions to them.
_LOST_E = tuple("at iz is uc ag ur iv v c u dg rg ng ns ib id ud as us ut ir rs ps".split())
_KEPT_ALL = tuple("eat oat ing ong our oid aid out air ocus".split())
_SIBILANTS = ("s", "x", "z", "ch", "sh", "o")  # endings that take -es
_BASE_TAGS, _PAST_TAGS = ("VB", "VBP"), ("VBD", "VBN")
_Counts = defaultdict[tuple[str, str], Counter[str]]  # (part of speech, form) -> lemma -> count


@dataclass(frozen=True)
class Lemmatizer:
    """Find lemmas by training text, table and rules; an empty one has table and rules alone.

    known       lemmas seen in training, which tell *hoped* (hope) from *mapped* (map)
    exceptions  part of speech ("" without a tag) -> form in lower case -> lemma, where table and
                rules err
    """

    known: frozenset[str] = frozenset()
    exceptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, word: str, tag: str | None = None) -> str:
        """Return the lemma of a predicate; its tag (Penn or universal) helps if it is known."""
        form, pos = word.lower(), predicate_pos(tag)
        if tag == "VBG" and form.endswith(("in", "in'")):
            form = form.removesuffix("'") + "g"  # goin
        if tag in _BASE_TAGS + _PAST_TAGS and english_forms().is_ambiguous(form):
            return form if tag in _BASE_TAGS else english_forms().forms["verb"][form]
        return self.exceptions.get(pos, {}).get(form) or _by_table(form, pos, self.known)

    def fill(self, sentence: Sentence) -> Sentence:
        """Return the sentence with a lemma for every word, if it has tags and no lemmas.

        The rules are for words that can be predicates: verbs, nouns and adjectives. Names stay as
        they are; the lemma of any other word is the word in lower case.
        """
        lemmas = self.lemmas(sentence)
        return sentence if lemmas is sentence.lemmas else replace(sentence, lemmas=lemmas)

    def lemmas(self, sentence: Sentence) -> tuple[str, ...] | None:
        """The lemmas that `fill` gives a sentence, or those that it has."""
        if sentence.lemmas is not None or sentence.tags is None:
            return sentence.lemmas
        return tuple(map(self._lemma, sentence.words, sentence.tags))

    def _lemma(self, word: str, tag: str) -> str:
        if tag in _NAMES:
            return word
        return self.find(word, tag) if predicate_pos(tag) else word.lower()

    def to_dict(self) -> dict[str, Any]:
        """Return the lemmatizer as plain data, the inverse of `from_dict`."""
        return {
            "known": sorted(self.known),
            "exceptions": {pos: dict(forms) for pos, forms in sorted(self.exceptions.items())},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, source: str = "vocab.json") -> "Lemmatizer":
        """Make a lemmatizer from the output of `to_dict`; raises ModelError naming `source`."""
        data = data if isinstance(data, dict) else {}
        known, exceptions = data.get("known"), data.get("exceptions")
        if not isinstance(known, list) or not all(isinstance(lemma, str) for lemma in known):
            raise ModelError(
                f"{source}: expected lemmas.known to be a list of words, got {known!r}"
            )
        if not isinstance(exceptions, dict) or not all(map(_is_table, exceptions.items())):
            raise ModelError(
                f"{source}: expected lemmas.exceptions to map ({', '.join(map(repr, _POS))}) "
                f"to words and their lemmas, got {exceptions!r}"
            )
        return cls(frozenset(known), exceptions)


def learn_lemmas(sentences: Iterable[Sentence]) -> Lemmatizer:
    """Learn the exceptions to the rules from sentences with lemmas; ignore the others.

    Without tags only the table for untagged words is filled. For a form that was a predicate, only
    its uses as a predicate count: other uses of *left* say little about the predicate *left*.
    """
    predicates: _Counts = defaultdict(Counter)
    others: _Counts = defaultdict(Counter)
    for sentence in sentences:
        if sentence.lemmas is None:
            continue
        chosen = set(sentence.predicates)
        for position, lemma in enumerate(sentence.lemmas):
            tag = sentence.tags[position] if sentence.tags is not None else None
            pos = predicate_pos(tag)
            counts = predicates if position in chosen else others
            if lemma == "_" or (counts is others and not pos):
                continue
            form = sentence.words[position].lower()
            for key in {"", pos}:
                counts[key, form][lemma.lower()] += 1
    best = {
        key: _most_common(predicates.get(key) or others[key]) for key in {**others, **predicates}
    }
    known = frozenset(lemma for (_, form), lemma in best.items() if _comes_from(form, lemma))
    exceptions: dict[str, dict[str, str]] = {}
    for (pos, form), lemma in sorted(best.items()):
        if _by_table(form, pos, known) != lemma:
            exceptions.setdefault(pos, {})[form] = lemma
    return Lemmatizer(known, exceptions)


@lru_cache(maxsize=1024)
def predicate_pos(tag: str | None) -> str:
    """Return verb, noun or adjective for a Penn or universal tag; "" for any other tag or none."""
    if tag is None or tag in ("PROPN", "AUX"):
        return ""
    if tag == "ADJ" or tag.startswith("JJ"):
        return "adjective"
    if tag == "NOUN" or tag.startswith("NN"):
        return "noun"
    return "verb" if tag.startswith("V") else ""


def _most_common(counts: Counter[str]) -> str:
    return min(counts, key=lambda lemma: (-counts[lemma], lemma))


def _comes_from(form: str, lemma: str) -> bool:
    # Inflected forms only: no words that are their own lemmas, and no corrected misspellings.
    return form != lemma and lemma.isalpha() and form.startswith(lemma[: max(2, len(lemma) - 2)])


def _is_table(item: tuple[object, object]) -> bool:
    pos, forms = item
    return (
        pos in _POS
        and isinstance(forms, dict)
        and all(isinstance(word, str) for pair in forms.items() for word in pair)
    )


@dataclass(frozen=True)
class EnglishForms:
    """English lemmas and their irregular forms, by part of speech (verb, noun, adjective or "").

    lemmas  all verbs, and the adjectives that are compared; "" has the verbs
    forms   form -> lemma, where the rules would find another lemma
    """

    lemmas: Mapping[str, frozenset[str]]
    forms: Mapping[str, Mapping[str, str]]

    def is_ambiguous(self, form: str) -> bool:
        """Whether a form is a verb and the past of another: *lay* of *lie*, *found* of *find*."""
        return form in self.forms["verb"] and form in self.lemmas["verb"]


@cache
def english_forms() -> EnglishForms:
    """Read the table, once."""
    return parse_forms(Path(__file__).with_name("english_forms.txt").read_text("utf-8"))


def parse_forms(text: str) -> EnglishForms:
    """Parse lines of a part of speech (v, n, j), a lemma, and its irregular forms."""
    letters = {pos[0]: pos for pos in ("verb", "noun")} | {"j": "adjective"}
    lemmas: dict[str, set[str]] = {pos: set() for pos in _POS}
    forms: dict[str, dict[str, str]] = {pos: {} for pos in _POS}
    for line in text.splitlines():
        letter, lemma, *irregular = line.split()
        if letter == "#":
            continue
        pos = letters[letter]
        lemmas[pos].add(lemma)
        for form in irregular:
            forms[pos][form] = lemma
    lemmas["noun"] = set()
    lemmas[""] = lemmas["verb"]
    forms[""] = forms["adjective"] | forms["noun"] | forms["verb"]
    return EnglishForms({pos: frozenset(found) for pos, found in lemmas.items()}, forms)


def _by_table(form: str, pos: str, known: frozenset[str]) -> str:
    table = english_forms()
    if form in table.forms[pos]:
        return table.forms[pos][form]
    if pos == "verb" and form in table.lemmas[pos]:
        return form
    return find_by_rule(form, pos, _Known(known, table.lemmas[pos]))


@dataclass(frozen=True)
class _Known:
    """Two sets of lemmas as one, without copying them."""

    first: frozenset[str]
    second: frozenset[str]

    def __contains__(self, lemma: object) -> bool:
        return lemma in self.first or lemma in self.second


def find_by_rule(form: str, pos: str, known: Container[str]) -> str:
    """Find the lemma of a form by its suffix.

    pos    verb, noun, adjective, or "" if that is unknown
    known  lemmas that are preferred
    """
    if not pos and form in known:
        return form
    if pos in ("", "verb") and len(form) > 4:
        for ending in ("ing", "ed"):
            stem = form.removesuffix(ending)
            if stem != form and any(letter in _VOWELS + "y" for letter in stem):
                return _verb(stem, ending, known)
    if pos != "adjective" and form.endswith("s") and len(form) > 3:
        return _without_s(form, known)
    if pos == "adjective":
        return _positive(form, known)
    return form


def _verb(stem: str, ending: str, known: Container[str]) -> str:
    """Return the verb of a stem: mak -> make, runn -> run, carri -> carry, beli -> belie."""
    if ending == "ed" and stem.endswith("i"):
        return _from_i(stem, known)
    doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS
    # mimicking, and most double consonants: the last letter belongs to the ending.
    readings = [stem + "e", stem] + ([stem[:-1]] if doubled or stem.endswith("ck") else [])
    seen = [lemma for lemma in readings if lemma in known]
    if seen:
        return seen[-1] if doubled and stem not in seen else seen[0]
    if doubled and stem[-1] not in "lsfz":
        return stem[:-1]
    return stem + "e" if _lost_e(stem) else stem


def _lost_e(stem: str) -> bool:
    """Whether an unknown stem lost an e: after soft consonants, or one vowel in a short word."""
    if stem.endswith(_LOST_E):
        return stem.endswith("creat") or not stem.endswith(_KEPT_ALL)
    if len(stem) > 2 and stem[-1] == "l" and stem[-2] in "bcdfgkptz":
        return True
    short = sum(letter in _VOWELS for letter in stem) == 1
    return short and len(stem) > 2 and stem[-1] not in _VOWELS + "wxyh" and stem[-2] in _VOWELS


def _from_i(stem: str, known: Container[str]) -> str:
    """Return the lemma of a stem in -i: carri -> carry, but beli -> belie if that is known."""
    with_y = stem[:-1] + "y"
    return stem + "e" if stem + "e" in known and with_y not in known else with_y


def _without_s(form: str, known: Container[str]) -> str:
    if form.endswith(("ss", "us", "is")):
        return form
    if form.endswith("ies") and len(form) > 4:
        return _from_i(form[:-2], known)
    if form.endswith("es") and form[:-2].endswith(_SIBILANTS) and form[:-1] not in known:
        # houses, uses, sizes keep their e; classes, boxes, watches lose it
        single = form[-3] in "sz" and form[-4] not in "sz"
        return form[:-1] if single else form[:-2]
    return form[:-1]


def _positive(form: str, known: Container[str]) -> str:
    """Return the positive of a comparative or superlative if it is known, else the form itself."""
    for ending in ("er", "est"):
        stem = form.removesuffix(ending)
        readings = (stem, stem + "e", stem[:-1], stem[:-1] + "y")
        if stem != form:
            return next((lemma for lemma in readings if lemma in known), form)
    return form
