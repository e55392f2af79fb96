"""Match predicted predicates, senses and arguments against gold.

What counts as right depends on the mode: as in the CoNLL-2009 scorer, the same with lemmas, or as
in PriMeSRL-Eval (Jindal et al., 2022). All counts derive from these matches.
"""

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, get_args

from capsrl.errors import DataError
from capsrl.score.primesrl import is_core, merge_arguments
from capsrl.sentence import Proposition, Sentence

Mode = Literal["official", "strict", "primesrl"]
MODES: tuple[Mode, ...] = get_args(Mode)

# An argument as it is compared: its role and its words, one word unless the mode merges some.
Arc = tuple[str, tuple[int, ...]]

EMPTY = frozenset((None, "", "_", "-"))  # the Chinese files of 2009 write a dash


@dataclass(slots=True)
class Reading:
    """A proposition prepared for comparison in a mode.

    sense      the PRED as written
    key        two senses match if their keys are equal
    arguments  merged and filtered as the mode requires
    """

    sense: str
    key: str
    arguments: Set[Arc]


@dataclass(slots=True)
class Match:
    """The gold and predicted propositions at one predicate position; one may be missing.

    sense_right  both have it, with the same sense
    correct      arguments that count as right, role and words
    n_found      arguments whose words are right, whatever their role
    """

    predicate: int
    gold: Reading | None
    pred: Reading | None
    sense_right: bool = False
    correct: Set[Arc] = frozenset()
    n_found: int = 0

    @property
    def arguments_right(self) -> bool:
        """Both propositions exist and have the same arguments."""
        return (
            self.gold is not None
            and self.pred is not None
            and len(self.correct) == len(self.gold.arguments) == len(self.pred.arguments)
        )

    @property
    def exact(self) -> bool:
        """Sense and arguments are right."""
        return self.sense_right and self.arguments_right


def match_sentence(gold: Sentence, pred: Sentence, mode: Mode = "official") -> list[Match]:
    """Pair the propositions of two sentences by the position of their predicate.

    Propositions without a sense are ignored, as for the official scorer, which looks at
    PRED alone. Raises DataError where two propositions share a predicate.
    """
    gold_readings, pred_readings = _readings(gold, mode), _readings(pred, mode)
    matches = []
    for predicate, reading in gold_readings.items():
        other = pred_readings.pop(predicate, None)
        if other is None:
            matches.append(Match(predicate, reading, None))
        else:
            matches.append(_match(predicate, reading, other, mode))
    matches.extend(Match(predicate, None, reading) for predicate, reading in pred_readings.items())
    return matches


def _match(predicate: int, gold: Reading, pred: Reading, mode: Mode) -> Match:
    sense_right = gold.key == pred.key
    if gold.arguments == pred.arguments:
        correct, n_found = gold.arguments, len(gold.arguments)
    else:
        correct, n_found = gold.arguments & pred.arguments, _count_same_words(gold, pred)
    if mode == "primesrl" and not sense_right:  # A0 of another sense is another role
        correct = {arc for arc in correct if not is_core(arc[0])}
    return Match(predicate, gold, pred, sense_right, correct, n_found)


def _count_same_words(gold: Reading, pred: Reading) -> int:
    gold_words = Counter(words for _, words in gold.arguments)
    pred_words = Counter(words for _, words in pred.arguments)
    return (gold_words & pred_words).total()


def _readings(sentence: Sentence, mode: Mode) -> dict[int, Reading]:
    readings: dict[int, Reading] = {}
    for proposition in sentence.propositions:
        sense = proposition.sense
        if sense is None or sense in EMPTY:
            continue
        if proposition.predicate in readings:
            raise DataError(
                f"{' '.join(sentence.words)!r}: expected one proposition per predicate, got two "
                f"at word {proposition.predicate + 1}"
            )
        key = _official_key(sense) if mode == "official" else _strict_key(sense)
        readings[proposition.predicate] = Reading(sense, key, _arguments(proposition, mode))
    return readings


def _arguments(proposition: Proposition, mode: Mode) -> Set[Arc]:
    if mode == "primesrl":
        return merge_arguments(proposition.arguments)
    return {(a.role, (a.word,)) for a in proposition.arguments if a.role not in EMPTY}


def split_sense(sense: str) -> tuple[str, str]:
    """Lemma and sense of a PRED with exactly one inner dot; any other PRED is returned as both."""
    lemma, dot, number = sense.partition(".")
    if dot and lemma and number and "." not in number:
        return lemma, number
    return sense, sense


@lru_cache(maxsize=1 << 16)
def _official_key(sense: str) -> str:
    number = split_sense(sense)[1]
    if number.isascii() and number.isdigit():
        return number.lstrip("0") or "0"  # .1 and .01 are the same sense
    return number


@lru_cache(maxsize=1 << 16)
def _strict_key(sense: str) -> str:
    lemma, number = split_sense(sense)
    return f"{lemma}.{_official_key(sense)}" if lemma != number else sense
