"""Match predicted predicates, senses and arguments against gold.

What counts as right depends on the mode: as in the CoNLL-2009 scorer, the same with lemmas, or as
in PriMeSRL-Eval (Jindal et al., 2022). All counts derive from these matches.

In PriMeSRL-Eval an argument in several pieces is one argument, right only if all of its pieces
are; a reference is right only if what it refers to is right too. The rules are those of the
authors' published code, restated; on the 19 worked examples that come with it the figures agree.
"""

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal, get_args

from capsrl.errors import DataError
from capsrl.sentence import Argument, Proposition, Sentence

Mode = Literal["official", "strict", "primesrl"]
MODES: tuple[Mode, ...] = get_args(Mode)

# An argument as it is compared: its role and its words, one word unless the mode merges some.
Arc = tuple[str, tuple[int, ...]]

CONTINUATION, REFERENCE = "C-", "R-"
EMPTY = frozenset((None, "", "_", "-"))  # the Chinese files of 2009 write a dash


@dataclass(slots=True)
class Compared:
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
    gold: Compared | None
    pred: Compared | None
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


def _match(predicate: int, gold: Compared, pred: Compared, mode: Mode) -> Match:
    sense_right = gold.key == pred.key
    if gold.arguments == pred.arguments:
        correct, n_found = gold.arguments, len(gold.arguments)
    else:
        correct, n_found = gold.arguments & pred.arguments, _count_same_words(gold, pred)
    if mode == "primesrl" and not sense_right:  # A0 of another sense is another role
        correct = {arc for arc in correct if not is_core(arc[0])}
    return Match(predicate, gold, pred, sense_right, correct, n_found)


def _count_same_words(gold: Compared, pred: Compared) -> int:
    gold_words = Counter(words for _, words in gold.arguments)
    pred_words = Counter(words for _, words in pred.arguments)
    return (gold_words & pred_words).total()


def _readings(sentence: Sentence, mode: Mode) -> dict[int, Compared]:
    readings: dict[int, Compared] = {}
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
        readings[proposition.predicate] = Compared(sense, key, _arguments(proposition, mode))
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


@cache
def is_core(role: str) -> bool:
    """Whether a role is numbered, so that its meaning depends on the sense of the predicate."""
    return any(character.isdigit() for character in role)


def merge_arguments(arguments: Iterable[Argument]) -> set[tuple[str, tuple[int, ...]]]:
    """The arguments of one proposition as (role, words), words of a merged argument together.

    `C-A1` joins the first A1 of the sentence; without one it is the A1 itself, and later pieces
    join it. `R-A1` stands for its own word and that of the first A1, in this order, or for its
    own alone where there is none. `C-V` is a piece of the predicate, not an argument.
    """
    ordered = sorted({(a.word, a.role) for a in arguments if a.role not in ("", "_", "-")})
    first: dict[str, int] = {}  # word of the first argument of each role
    for word, role in ordered:
        first.setdefault(role, word)
    pieces: dict[tuple[str, int], list[int]] = {}  # (role, main word) -> its words
    merged: set[tuple[str, tuple[int, ...]]] = set()
    for word, role in ordered:
        if role.startswith(REFERENCE):
            antecedent = first.get(role.removeprefix(REFERENCE))
            merged.add((role, (word,) if antecedent is None else (word, antecedent)))
        elif not role.startswith(CONTINUATION):
            pieces[role, word] = [word]
    for word, role in ordered:
        if role.startswith(CONTINUATION):
            whole = role.removeprefix(CONTINUATION)
            main = first.setdefault(whole, word)
            pieces.setdefault((whole, main), []).append(word)
    merged |= {(role, tuple(sorted(words))) for (role, _), words in pieces.items()}
    return {(role, words) for role, words in merged if role not in ("V", "R-V")}
