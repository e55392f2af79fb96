"""Break the counts down by role, part of speech, length, number of arguments, distance, novelty.

A pair of propositions falls where its gold one does; a predicted proposition that gold does not
have falls where it would itself. So every count of the whole falls in exactly one row.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from capsrl.errors import ConfigError
from capsrl.score.counts import PRF, percent
from capsrl.score.matching import EMPTY, Compared, Match, split_sense
from capsrl.sentence import Sentence

# name -> what its rows are, in words
BREAKDOWNS: Mapping[str, str] = {
    "role": "role of the argument",
    "pos": "part of speech of the predicate",
    "length": "words in the sentence",
    "arguments": "arguments of the proposition",
    "distance": "words from predicate to argument",
    "lemma": "lemma of the predicate in the training file",
    "sense": "sense of the predicate in the training file",
}
OF_ARGUMENTS = frozenset(("role", "distance"))  # the others count senses and whole propositions too
OF_TRAINING = frozenset(("lemma", "sense"))
UNKNOWN = "?"


@dataclass(slots=True)
class Row(PRF):
    """One row of a breakdown: precision, recall, F1, and how many gold propositions are exact.

    In the breakdowns by role and by distance only arguments are counted, not propositions.
    """

    propositions: int = 0
    exact: int = 0

    @property
    def exact_match(self) -> float:
        """EM within the row."""
        return percent(self.exact, self.propositions)


@dataclass(slots=True)
class Seen:
    """The predicates of a training file: which lemmas and which senses it shows."""

    lemmas: set[str] = field(default_factory=set)
    senses: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, sentences: Iterable[Sentence]) -> "Seen":
        """Collect them from the training sentences."""
        seen = cls()
        for sentence in sentences:
            for proposition in sentence.propositions:
                if proposition.sense is not None and proposition.sense not in EMPTY:
                    lemma = _lemma(sentence, proposition.predicate, proposition.sense)
                    seen.lemmas.add(lemma)
                    seen.senses.add(proposition.sense)
        return seen


class Breakdowns:
    """Accumulates rows sentence by sentence; `tables` returns them in a readable order."""

    def __init__(self, by: Collection[str], seen: Seen | None = None) -> None:
        _check_names(by, seen)
        self._seen = seen or Seen()
        self._tables: dict[str, dict[str | int, Row]] = {name: {} for name in by}
        placers: Mapping[str, Callable[[Sentence, Match], str | int]] = {
            "pos": lambda sentence, match: _tag(sentence, match.predicate),
            "length": lambda sentence, match: len(sentence) // 10 * 10,
            "arguments": lambda sentence, match: len(_main(match).arguments),
            "lemma": lambda sentence, match: self._novelty(
                _lemma(sentence, match.predicate, _main(match).sense), self._seen.lemmas
            ),
            "sense": lambda sentence, match: self._novelty(_main(match).sense, self._seen.senses),
        }
        self._placers = {name: placers[name] for name in by if name not in OF_ARGUMENTS}

    def add(self, sentence: Sentence, matches: Iterable[Match]) -> None:
        """Count one sentence, the gold one, given how its propositions were matched."""
        for match in matches:
            for name, place in self._placers.items():
                key = place(sentence, match)
                _add_proposition(self._tables[name].setdefault(key, Row()), match)
            if "role" in self._tables:
                _add_arguments(self._tables["role"], match, lambda role, distance: role)
            if "distance" in self._tables:
                _add_arguments(self._tables["distance"], match, lambda role, distance: distance)

    def tables(self) -> dict[str, dict[str, Row]]:
        """Breakdown -> row name -> row, rows in their natural order."""
        return {name: _in_order(name, rows) for name, rows in self._tables.items()}

    @staticmethod
    def _novelty(item: str, known: set[str]) -> str:
        return "seen" if item in known else "unseen"


def _check_names(by: Collection[str], seen: Seen | None) -> None:
    unknown = [name for name in by if name not in BREAKDOWNS]
    if unknown:
        raise ConfigError(
            f"breakdown: expected one of {', '.join(BREAKDOWNS)}, got {', '.join(unknown)}"
        )
    untrained = [name for name in by if name in OF_TRAINING]
    if untrained and seen is None:
        raise ConfigError(
            f"breakdown by {' and '.join(untrained)}: expected a training file to know what was "
            "seen, got none; give it with --train"
        )


def _add_proposition(row: Row, match: Match) -> None:
    if match.gold is not None:
        row.gold += 1 + len(match.gold.arguments)
        row.propositions += 1
    if match.pred is not None:
        row.pred += 1 + len(match.pred.arguments)
    row.correct += match.sense_right + len(match.correct)
    row.exact += match.exact


def _add_arguments(
    rows: dict[str | int, Row], match: Match, place: Callable[[str, int], str | int]
) -> None:
    def row_of(role: str, words: tuple[int, ...]) -> Row:
        # For an argument of several words the nearest one counts.
        distance = min(abs(word - match.predicate) for word in words)
        return rows.setdefault(place(role, _bin(distance)), Row())

    for role, words in match.gold.arguments if match.gold else ():
        row_of(role, words).gold += 1
    for role, words in match.pred.arguments if match.pred else ():
        row_of(role, words).pred += 1
    for role, words in match.correct:
        row_of(role, words).correct += 1


def _bin(distance: int) -> int:
    """The smallest distance in the row: 0 to 5 have their own, then 6-10, 11-20, 21 and more."""
    return distance if distance <= 5 else 6 if distance <= 10 else 11 if distance <= 20 else 21


def _in_order(name: str, rows: dict[str | int, Row]) -> dict[str, Row]:
    if name in ("role", "pos"):  # most frequent first
        ordered = sorted(rows.items(), key=lambda item: (-item[1].gold, str(item[0])))
    else:
        ordered = sorted(rows.items())
    return {_row_name(name, key): row for key, row in ordered}


def _row_name(name: str, key: str | int) -> str:
    if name == "length" and isinstance(key, int):
        return f"{key}-{key + 9}"
    if name == "distance":
        return {6: "6-10", 11: "11-20", 21: "21+"}.get(int(key), str(key))
    return str(key)


def _main(match: Match) -> Compared:
    reading = match.gold or match.pred
    assert reading is not None, "a match has at least one side"
    return reading


def _tag(sentence: Sentence, predicate: int) -> str:
    return sentence.tags[predicate] if sentence.tags is not None else UNKNOWN


def _lemma(sentence: Sentence, predicate: int, sense: str) -> str:
    if sentence.lemmas is not None and sentence.lemmas[predicate] not in EMPTY:
        return sentence.lemmas[predicate]
    return split_sense(sense)[0]
