"""Lemmatize English predicates, by exceptions learned from training text and by rules.

Senses belong to lemmas, so labeling raw text needs the lemmas of its predicates: verbs, nouns and
adjectives, lemmatized as in EWT. Without a tag a word gets the lemma that predicates of its form
had most often in training: *meeting* stays a noun, *signing* becomes *sign*.

The rules are about English suffixes. A word of another language is returned in lower case.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
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
# A lemma and its irregular forms; training text adds more.
_IRREGULAR_FORMS = (
    "be am are is was were been|bear bore borne|beat beaten|become became|begin began begun|"
    "bend bent|bind bound|bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|"
    "bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|cling clung|"
    "come came|creep crept|deal dealt|dig dug|do does did done|draw drew drawn|dream dreamt|"
    "drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|"
    "fight fought|find found|flee fled|fling flung|fly flew flown|forbid forbade forbidden|"
    "forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|"
    "give gave given|go goes went gone|grind ground|grow grew grown|hang hung|have has had|"
    "hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|"
    "lean leant|leap leapt|leave left|lend lent|lie lain lying|light lit|lose lost|make made|"
    "mean meant|meet met|mistake mistook mistaken|overcome overcame|pay paid|prove proven|"
    "quit quitting|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|see saw seen|"
    "seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|show shown|"
    "shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|slay slew slain|sleep slept|"
    "slide slid|sling slung|sneak snuck|sow sown|speak spoke spoken|speed sped|spend spent|"
    "spin spun|spring sprang sprung|stand stood|steal stole stolen|stick stuck|sting stung|"
    "stink stank stunk|strike struck stricken|string strung|strive strove|swear swore sworn|"
    "sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|"
    "tear tore torn|tell told|think thought|throw threw thrown|tie tying|undergo underwent|"
    "understand understood|undertake undertook|uphold upheld|vie vying|die dying|"
    "wake woke woken|wear wore worn|weave wove woven|weep wept|win won|wind wound|"
    "withdraw withdrew withdrawn|withhold withheld|withstand withstood|wring wrung|"
    "write wrote written|good better best|bad worse worst|far farther further farthest furthest|"
    "man men|woman women|child children|foot feet|tooth teeth|life lives|wife wives|knife knives|"
    "loss losses|analysis analyses|crisis crises|thesis theses|basis bases|diagnosis diagnoses"
)
_IRREGULAR = {
    form: lemma for lemma, *forms in map(str.split, _IRREGULAR_FORMS.split("|")) for form in forms
}

_Counts = defaultdict[tuple[str, str], Counter[str]]  # (part of speech, form) -> lemma -> count


@dataclass(frozen=True)
class Lemmatizer:
    """Find lemmas by rules and by what training text showed; an empty one has the rules alone.

    known       lemmas seen in training, which tell *hoped* (hope) from *mapped* (map)
    exceptions  part of speech ("" without a tag) -> form in lower case -> lemma, where rules err
    """

    known: frozenset[str] = frozenset()
    exceptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, word: str, tag: str | None = None) -> str:
        """Return the lemma of a predicate; its tag (Penn or universal) helps if it is known."""
        form, pos = word.lower(), predicate_pos(tag)
        return self.exceptions.get(pos, {}).get(form) or _by_rule(form, pos, self.known)

    def fill(self, sentence: Sentence) -> Sentence:
        """Return the sentence with a lemma for every word, if it has tags and no lemmas.

        The rules are for words that can be predicates: verbs, nouns and adjectives. Names stay as
        they are; the lemma of any other word is the word in lower case.
        """
        if sentence.lemmas is not None or sentence.tags is None:
            return sentence
        lemmas = tuple(map(self._lemma, sentence.words, sentence.tags))
        return replace(sentence, lemmas=lemmas)

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
        if _by_rule(form, pos, known) != lemma:
            exceptions.setdefault(pos, {})[form] = lemma
    return Lemmatizer(known, exceptions)


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


def _by_rule(form: str, pos: str, known: frozenset[str]) -> str:
    if form in _IRREGULAR:
        return _IRREGULAR[form]
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


def _verb(stem: str, ending: str, known: frozenset[str]) -> str:
    """Return the verb of a stem: mak -> make, runn -> run, carri -> carry."""
    if ending == "ed" and stem.endswith("i"):
        return stem[:-1] + "y"
    doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS
    readings = [stem + "e", stem] + ([stem[:-1]] if doubled else [])
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


def _without_s(form: str, known: frozenset[str]) -> str:
    if form.endswith(("ss", "us", "is")):
        return form
    if form.endswith("ies") and len(form) > 4:
        return form[:-3] + "y"
    if form.endswith("es") and form[:-2].endswith(_SIBILANTS) and form[:-1] not in known:
        # houses, uses, sizes keep their e; classes, boxes, watches lose it
        single = form[-3] in "sz" and form[-4] not in "sz"
        return form[:-1] if single else form[:-2]
    return form[:-1]


def _positive(form: str, known: frozenset[str]) -> str:
    """Return the positive of a comparative or superlative if it is known, else the form itself."""
    for ending in ("er", "est"):
        stem = form.removesuffix(ending)
        readings = (stem, stem + "e", stem[:-1], stem[:-1] + "y")
        if stem != form:
            return next((lemma for lemma in readings if lemma in known), form)
    return form
