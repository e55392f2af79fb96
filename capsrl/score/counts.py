"""Count matches; all scores are properties of the counts."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from capsrl.score.matching import Arc, Compared, Match, is_core


def percent(part: int, whole: int) -> float:
    """`part` of `whole` in percent, 0 if `whole` is 0; multiplied first, as in eval09.pl."""
    return part * 100 / whole if whole else 0.0


def f1(precision: float, recall: float) -> float:
    """Harmonic mean, 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@dataclass(slots=True)
class PRF:
    """Precision, recall and F1 in percent, from three counts."""

    correct: int = 0
    gold: int = 0
    pred: int = 0

    @property
    def precision(self) -> float:
        """Share of the predicted ones that are right."""
        return percent(self.correct, self.pred)

    @property
    def recall(self) -> float:
        """Share of the gold ones that were found."""
        return percent(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of the two."""
        return f1(self.precision, self.recall)


@dataclass(slots=True)
class Counts:
    """Counts over a corpus in one mode; all scores derive from them.

    found_*      at the right place, whatever sense or role they have
    correct_*    right altogether
    *_core       of the arguments, those with a numbered role
    *_repeated   propositions in which a role occurs more than once
    """

    sentences: int = 0
    exact_sentences: int = 0
    gold_predicates: int = 0
    pred_predicates: int = 0
    found_predicates: int = 0
    correct_senses: int = 0
    gold_arguments: int = 0
    pred_arguments: int = 0
    found_arguments: int = 0
    correct_arguments: int = 0
    gold_core: int = 0
    pred_core: int = 0
    correct_core: int = 0
    correct_propositions: int = 0
    correct_argument_sets: int = 0
    gold_repeated: int = 0
    pred_repeated: int = 0

    def add(self, matches: Iterable[Match]) -> tuple[int, int, int]:
        """Count one sentence; returns its correct, gold and predicted arcs, including senses."""
        before = (self._correct, self._gold, self._pred)
        exact = True
        for match in matches:
            self._add_gold(match.gold)
            self._add_pred(match.pred)
            if match.gold is not None and match.pred is not None:
                self._add_pair(match)
            exact = exact and match.exact
        self.sentences += 1
        self.exact_sentences += exact
        return (self._correct - before[0], self._gold - before[1], self._pred - before[2])

    def _add_gold(self, reading: Compared | None) -> None:
        if reading is not None:
            self.gold_predicates += 1
            self.gold_arguments += len(reading.arguments)
            self.gold_core += _count_core(reading.arguments)
            self.gold_repeated += has_repeated_role(reading.arguments)

    def _add_pred(self, reading: Compared | None) -> None:
        if reading is not None:
            self.pred_predicates += 1
            self.pred_arguments += len(reading.arguments)
            self.pred_core += _count_core(reading.arguments)
            self.pred_repeated += has_repeated_role(reading.arguments)

    def _add_pair(self, match: Match) -> None:
        self.found_predicates += 1
        self.correct_senses += match.sense_right
        self.found_arguments += match.n_found
        self.correct_arguments += len(match.correct)
        self.correct_core += _count_core(match.correct)
        if match.arguments_right:
            self.correct_argument_sets += 1
            self.correct_propositions += match.sense_right

    @property
    def _correct(self) -> int:
        return self.correct_arguments + self.correct_senses

    @property
    def _gold(self) -> int:
        return self.gold_arguments + self.gold_predicates

    @property
    def _pred(self) -> int:
        return self.pred_arguments + self.pred_predicates

    @property
    def labeled(self) -> PRF:
        """Senses and arguments pooled: the figure systems are ranked by."""
        return PRF(self._correct, self._gold, self._pred)

    @property
    def unlabeled(self) -> PRF:
        """Positions of predicates and arguments pooled."""
        return PRF(self.found_arguments + self.found_predicates, self._gold, self._pred)

    @property
    def propositions(self) -> PRF:
        """Whole propositions: position, sense and every argument."""
        return PRF(self.correct_propositions, self.gold_predicates, self.pred_predicates)

    @property
    def predicates(self) -> PRF:
        """Predicate identification: positions."""
        return PRF(self.found_predicates, self.gold_predicates, self.pred_predicates)

    @property
    def senses(self) -> PRF:
        """Predicates with their senses, arguments ignored."""
        return PRF(self.correct_senses, self.gold_predicates, self.pred_predicates)

    @property
    def argument_positions(self) -> PRF:
        """Argument identification: positions, roles ignored."""
        return PRF(self.found_arguments, self.gold_arguments, self.pred_arguments)

    @property
    def arguments(self) -> PRF:
        """Arguments with their roles, senses ignored."""
        return PRF(self.correct_arguments, self.gold_arguments, self.pred_arguments)

    @property
    def core_arguments(self) -> PRF:
        """Arguments with numbered roles."""
        return PRF(self.correct_core, self.gold_core, self.pred_core)

    @property
    def context_arguments(self) -> PRF:
        """All other arguments."""
        return PRF(
            self.correct_arguments - self.correct_core,
            self.gold_arguments - self.gold_core,
            self.pred_arguments - self.pred_core,
        )

    @property
    def sense_accuracy(self) -> float:
        """Right senses, of the gold predicates that were found."""
        return percent(self.correct_senses, self.found_predicates)

    @property
    def role_accuracy(self) -> float:
        """Argument classification: right roles, of the arguments whose place was found."""
        return percent(self.correct_arguments, self.found_arguments)

    @property
    def exact_match(self) -> float:
        """EM: gold propositions whose sense and whole argument set are right."""
        return self.propositions.recall

    @property
    def exact_arguments(self) -> float:
        """Gold propositions whose whole argument set is right, whatever their sense."""
        return percent(self.correct_argument_sets, self.gold_predicates)

    @property
    def exact_semantic_match(self) -> float:
        """Sentences without any mistake; those without predicates count as right."""
        return percent(self.exact_sentences, self.sentences)

    def as_dict(self) -> dict[str, int]:
        """The counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _count_core(arguments: Iterable[Arc]) -> int:
    return sum(is_core(role) for role, _ in arguments)


def has_repeated_role(arguments: Iterable[Arc]) -> bool:
    """Whether some role is filled more than once; `C-A1` and `R-A1` are roles of their own."""
    roles = [role for role, _ in arguments]
    return len(set(roles)) < len(roles)
