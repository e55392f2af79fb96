"""Find the mistakes of a prediction, one by one, and count which roles and senses are confused."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from capsrl.score.matching import Arc, Compared, Match, Mode, match_sentence
from capsrl.sentence import Argument, Proposition, Sentence

WRONG_ROLE, WRONG_HEAD = "wrong role", "wrong head"
MISSED_ARGUMENT, SPURIOUS_ARGUMENT = "missed argument", "spurious argument"
WRONG_SENSE = "wrong sense"
MISSED_PREDICATE, SPURIOUS_PREDICATE = "missed predicate", "spurious predicate"
MISTAKE_KINDS = (
    WRONG_ROLE,
    WRONG_HEAD,
    MISSED_ARGUMENT,
    SPURIOUS_ARGUMENT,
    WRONG_SENSE,
    MISSED_PREDICATE,
    SPURIOUS_PREDICATE,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """An argument in gold and what the prediction has in its place; one of them may be missing."""

    gold: Arc | None
    pred: Arc | None

    @property
    def kind(self) -> str | None:
        """The kind of the mistake, one of MISTAKE_KINDS; None where both agree."""
        if self.gold == self.pred:
            return None
        if self.gold is None:
            return SPURIOUS_ARGUMENT
        if self.pred is None:
            return MISSED_ARGUMENT
        return WRONG_ROLE if self.gold[1] == self.pred[1] else WRONG_HEAD

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of both sides, each once."""
        return tuple(dict.fromkeys(arc[0] for arc in (self.gold, self.pred) if arc is not None))


def pair_arguments(match: Match) -> list[Pair]:
    """Pair the arguments of two propositions at one predicate, in the order of their words.

    First those with the same role and words, then those with the same words (wrong role), then
    those with the same role (wrong head), the nearest first. What is left has no counterpart.
    """
    golds, preds = (
        sorted(reading.arguments if reading is not None else (), key=_place)
        for reading in (match.gold, match.pred)
    )
    pairs = [Pair(arc, arc) for arc in golds if arc in preds]
    golds, preds = [a for a in golds if a not in preds], [a for a in preds if a not in golds]
    candidates = [(gold, pred) for gold in golds for pred in preds if _similarity(gold, pred)]
    for gold, pred in sorted(candidates, key=lambda each: _similarity(*each)):
        if gold in golds and pred in preds:
            golds.remove(gold)
            preds.remove(pred)
            pairs.append(Pair(gold, pred))
    pairs += [Pair(gold, None) for gold in golds] + [Pair(None, pred) for pred in preds]
    return sorted(pairs, key=lambda pair: _place(pair.gold or pair.pred or ("", ())))


def _place(arc: Arc) -> tuple[tuple[int, ...], str]:
    return arc[1], arc[0]


def _similarity(gold: Arc, pred: Arc) -> tuple[int, ...]:
    """A key that sorts the most similar arguments first; empty if nothing is the same."""
    if gold[1] == pred[1]:
        return (0,)
    return (1, abs(gold[1][0] - pred[1][0])) if gold[0] == pred[0] else ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """The gold and predicted propositions at one predicate.

    number  0-based number of the sentence
    match   as `match_sentence` gives it; one side may be missing
    pairs   the arguments of both, see `pair_arguments`
    """

    number: int
    gold: Sentence
    pred: Sentence
    match: Match
    pairs: list[Pair]

    @property
    def predicate_mistake(self) -> str | None:
        """What is wrong with the predicate or its sense, one of MISTAKE_KINDS, or None."""
        if self.match.gold is None:
            return SPURIOUS_PREDICATE
        if self.match.pred is None:
            return MISSED_PREDICATE
        return None if self.match.sense_right else WRONG_SENSE

    def mistakes(self) -> Iterator[tuple[str, Pair | None]]:
        """The kind of each mistake, and its arguments; None where it is the predicate or sense."""
        if self.predicate_mistake is not None:
            yield self.predicate_mistake, None
        for pair in self.pairs:
            if pair.kind is not None:
                yield pair.kind, pair

    def records(self) -> Iterator[dict[str, Any]]:
        """One flat record of each mistake, for JSON lines and tables."""
        predicted = _proposition(self.pred, self.match)
        common = {
            "sentence": self.number,
            "id": self.gold.id,
            "predicate": self.match.predicate,
            "form": self.gold.words[self.match.predicate],
            "gold_sense": _sense(self.match.gold),
            "pred_sense": _sense(self.match.pred),
        }
        for kind, pair in self.mistakes():
            yield {
                "kind": kind,
                **common,
                **_side("gold", None if pair is None else pair.gold, self.gold),
                **_side("pred", None if pair is None else pair.pred, self.gold),
                "probability": _probability(kind, predicted, pair),
                "text": " ".join(self.gold.words),
            }


def compare_sentences(
    gold: Iterable[Sentence], pred: Iterable[Sentence], mode: Mode = "official"
) -> Iterator[Comparison]:
    """Compare the propositions of sentences that are the same but for their propositions.

    In the mode primesrl the pieces of an argument are merged. An argument whose role and words are
    right is not a mistake there either, whatever the sense of its predicate.
    """
    for number, (ours, theirs) in enumerate(zip(gold, pred, strict=True)):
        matches = match_sentence(ours, theirs, mode)
        for match in sorted(matches, key=lambda each: each.predicate):
            yield Comparison(number, ours, theirs, match, pair_arguments(match))


@dataclass(slots=True)
class Confusion:
    """How often each gold answer got each predicted one; None stands for no answer.

    roles   (gold role, predicted role) of arguments with the same words
    senses  (gold sense, predicted sense) of predicates whose sense is wrong or missing

    The counts of a gold role add up to the number of its arguments, those of a predicted role too.
    """

    roles: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    senses: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)

    def add(self, matches: Iterable[Match]) -> None:
        """Count the propositions of one sentence."""
        for match in matches:
            if not match.sense_right:
                self.senses[_sense(match.gold), _sense(match.pred)] += 1
            for pair in pair_arguments(match):
                gold, pred = pair.gold and pair.gold[0], pair.pred and pair.pred[0]
                if pair.kind == WRONG_HEAD:
                    self.roles[gold, None] += 1
                    self.roles[None, pred] += 1
                else:
                    self.roles[gold, pred] += 1

    def labels(self) -> list[str | None]:
        """All roles, the most frequent in gold first, then None."""
        golds: Counter[str] = Counter()
        for (gold, pred), count in self.roles.items():
            golds.update({gold: count} if gold is not None else {})
            golds.update({pred: 0} if pred is not None else {})
        return [*sorted(golds, key=lambda role: (-golds[role], role)), None]

    def matrix(self) -> list[list[int]]:
        """The counts, with gold roles as rows and predicted ones as columns, as `labels`."""
        labels = self.labels()
        return [[self.roles[gold, pred] for pred in labels] for gold in labels]


def most_common(
    counts: Counter[tuple[str | None, str | None]],
) -> list[tuple[str | None, str | None, int]]:
    """The confusions, the most frequent first."""
    wrong = [(*pair, count) for pair, count in counts.items() if pair[0] != pair[1]]
    return sorted(wrong, key=lambda each: (-each[2], each[0] or "~", each[1] or "~"))


def _sense(reading: Compared | None) -> str | None:
    return None if reading is None else reading.sense


def _proposition(sentence: Sentence, match: Match) -> Proposition | None:
    if match.pred is None:
        return None
    return next(each for each in sentence.propositions if each.predicate == match.predicate)


def _side(name: str, arc: Arc | None, sentence: Sentence) -> dict[str, Any]:
    role, words = arc if arc is not None else (None, ())
    return {
        f"{name}_role": role,
        f"{name}_word": words[0] if words else None,
        f"{name}_form": " ".join(sentence.words[word] for word in words) if words else None,
    }


def _probability(kind: str, pred: Proposition | None, pair: Pair | None) -> float | None:
    """The probability of the predicted answer, if there is one and it has one."""
    if pred is None:
        return None
    if pair is None:
        return pred.predicate_probability if kind == SPURIOUS_PREDICATE else pred.probability
    argument = find_argument(pred, pair.pred)
    return None if argument is None else argument.probability


def find_argument(proposition: Proposition | None, arc: Arc | None) -> Argument | None:
    """The argument of a proposition that was compared as this arc."""
    if proposition is None or arc is None:
        return None
    role, words = arc
    found = (a for a in proposition.arguments if a.word in words and a.role == role)
    return next(found, None)
