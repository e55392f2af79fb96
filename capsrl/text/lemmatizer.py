"""A predicate word in, its lemma out: by what training text showed, then by rules.

Senses are filed under lemmas, so raw text needs them, but only of its predicates: verbs, nouns and
adjectives, lemmatised as EWT does. Without a tag a word gets the lemma that predicates of its form
had most often in training: *meeting* stays a noun, *signing* goes to *sign*.

English only, by its suffixes. A word in another language comes back in lower case.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from capsrl.errors import ModelError
from capsrl.sentence import Sentence

KINDS = ("", "verb", "noun", "adjective")  # "" stands for no tag

_NAMES = ("NNP", "NNPS", "PROPN")
_VOWELS = "aeiou"
# How stems end that lost an e, and which of them did not.
_LOST_E = tuple("at iz is uc ag ur iv v c u dg rg ng ns ib id ud as us ut ir rs ps".split())
_KEPT_ALL = tuple("eat oat ing ong our oid aid out air ocus".split())
_SHUT = ("s", "x", "z", "ch", "sh", "o")  # what takes -es
# Forms no suffix leads back from, each with its lemma; training text adds what it shows.
_IRREGULAR = (
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


@dataclass(frozen=True)
class Lemmas:
    """What is known of lemmas beyond the rules; empty, it lemmatises by rules alone.

    known       lemmas seen in training, which tell *hoped* (hope) from *mapped* (map)
    exceptions  kind (one of KINDS) -> form in lower case -> lemma, where the rules would err
    """

    known: frozenset[str] = frozenset()
    exceptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def find(self, word: str, tag: str | None = None) -> str:
        """The lemma of a predicate; its tag (Penn or universal) helps if it is known."""
        form, kind = word.lower(), kind_of(tag)
        return self.exceptions.get(kind, {}).get(form) or _by_rule(form, kind, self.known)

    def fill(self, sentence: Sentence) -> Sentence:
        """The sentence with a lemma for every word, if it has tags and no lemmas.

        The rules are for what can be a predicate: verbs, nouns and adjectives. Names stay as they
        are, and all other words are their own lemmas in lower case.
        """
        if sentence.lemmas is not None or sentence.tags is None:
            return sentence
        lemmas = tuple(map(self._lemma, sentence.words, sentence.tags))
        return replace(sentence, lemmas=lemmas)

    def _lemma(self, word: str, tag: str) -> str:
        if tag in _NAMES:
            return word
        return self.find(word, tag) if kind_of(tag) else word.lower()

    def to_dict(self) -> dict[str, Any]:
        """As plain data, the inverse of `from_dict`."""
        return {
            "known": sorted(self.known),
            "exceptions": {kind: dict(forms) for kind, forms in sorted(self.exceptions.items())},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, source: str = "vocab.json") -> "Lemmas":
        """From what `to_dict` gave; raises ModelError naming `source` if it is anything else."""
        known, exceptions = data.get("known"), data.get("exceptions")
        if not isinstance(known, list) or not all(isinstance(lemma, str) for lemma in known):
            raise ModelError(
                f"{source}: expected lemmas.known to be a list of words, got {known!r}"
            )
        if not isinstance(exceptions, dict) or not all(map(_is_table, exceptions.items())):
            raise ModelError(
                f"{source}: expected lemmas.exceptions to map ({', '.join(map(repr, KINDS))}) "
                f"to words and their lemmas, got {exceptions!r}"
            )
        return cls(frozenset(known), exceptions)


def learn_lemmas(sentences: Iterable[Sentence]) -> Lemmas:
    """Collect what the rules would get wrong from sentences with lemmas; others teach nothing.

    Where tags are missing only the untagged table is filled. A form that was a predicate
    counts as such alone: other uses of *left* say little about the predicate *left*.
    """
    predicates: _Counts = defaultdict(Counter)
    others: _Counts = defaultdict(Counter)
    for sentence in sentences:
        if sentence.lemmas is None:
            continue
        chosen = set(sentence.predicates)
        for position, lemma in enumerate(sentence.lemmas):
            tag = sentence.tags[position] if sentence.tags is not None else None
            kind = kind_of(tag)
            counts = predicates if position in chosen else others
            if lemma == "_" or (counts is others and not kind):
                continue
            form = sentence.words[position].lower()
            for key in {"", kind}:
                counts[key, form][lemma.lower()] += 1
    best = {key: _commonest(predicates.get(key) or others[key]) for key in {**others, **predicates}}
    known = frozenset(lemma for (_, form), lemma in best.items() if _comes_from(form, lemma))
    exceptions: dict[str, dict[str, str]] = {}
    for (kind, form), lemma in sorted(best.items()):
        if _by_rule(form, kind, known) != lemma:
            exceptions.setdefault(kind, {})[form] = lemma
    return Lemmas(known, exceptions)


def kind_of(tag: str | None) -> str:
    """The kind of word a Penn or universal tag names; "" for the kinds predicates are not."""
    if tag is None or tag in ("PROPN", "AUX"):
        return ""
    if tag == "ADJ" or tag.startswith("JJ"):
        return "adjective"
    if tag == "NOUN" or tag.startswith("NN"):
        return "noun"
    return "verb" if tag.startswith("V") else ""


_Counts = defaultdict[tuple[str, str], Counter[str]]  # (kind, form) -> lemma -> how often


def _commonest(counts: Counter[str]) -> str:
    return min(counts, key=lambda lemma: (-counts[lemma], lemma))


def _comes_from(form: str, lemma: str) -> bool:
    # Inflected forms only, or the lemma of each plural and participle would be stored twice over;
    # and no corrected misspellings.
    return form != lemma and lemma.isalpha() and form.startswith(lemma[: max(2, len(lemma) - 2)])


def _is_table(item: tuple[object, object]) -> bool:
    kind, forms = item
    return (
        kind in KINDS
        and isinstance(forms, dict)
        and all(isinstance(word, str) for pair in forms.items() for word in pair)
    )


@cache
def _irregular() -> dict[str, str]:
    groups = (group.split() for group in _IRREGULAR.split("|"))
    return {form: lemma for lemma, *forms in groups for form in forms}


def _by_rule(form: str, kind: str, known: frozenset[str]) -> str:
    if form in _irregular():
        return _irregular()[form]
    if not kind and form in known:
        return form
    if kind in ("", "verb") and len(form) > 4:
        for ending in ("ing", "ed"):
            stem = form.removesuffix(ending)
            if stem != form and any(letter in _VOWELS + "y" for letter in stem):
                return _verb(stem, ending, known)
    if kind != "adjective" and form.endswith("s") and len(form) > 3:
        return _without_s(form, known)
    if kind == "adjective":
        return _positive(form, known)
    return form


def _verb(stem: str, ending: str, known: frozenset[str]) -> str:
    """The verb a stem is left of: mak -> make, runn -> run, carri -> carry."""
    if ending == "ed" and stem.endswith("i"):
        return stem[:-1] + "y"
    doubled = len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS
    readings = [stem + "e", stem] + ([stem[:-1]] if doubled else [])
    seen = [lemma for lemma in readings if lemma in known]
    if seen:
        return seen[-1] if doubled and stem not in seen else seen[0]
    if doubled and stem[-1] not in "lsfz":
        return stem[:-1]
    return stem + "e" if _wants_e(stem) else stem


def _wants_e(stem: str) -> bool:
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
    if form.endswith("es") and form[:-2].endswith(_SHUT) and form[:-1] not in known:
        # houses, uses, sizes keep their e; classes, boxes, watches lose it
        single = form[-3] in "sz" and form[-4] not in "sz"
        return form[:-1] if single else form[:-2]
    return form[:-1]


def _positive(form: str, known: frozenset[str]) -> str:
    """The adjective itself, or what a comparative or superlative compares, if that is known."""
    for ending in ("er", "est"):
        stem = form.removesuffix(ending)
        readings = (stem, stem + "e", stem[:-1], stem[:-1] + "y")
        if stem != form:
            return next((lemma for lemma in readings if lemma in known), form)
    return form
