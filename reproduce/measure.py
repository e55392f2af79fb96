"""A trained model in, everything the paper's tables and figures need of it out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsrl.config import ROUTED
from capsrl.labeler import Labeler
from capsrl.model.inventory import NO_ROLE
from capsrl.score import Counts, Row, score
from capsrl.score.matching import match_sentence
from capsrl.sentence import Argument, Proposition, Sentence, Trace
from reproduce.results import Change, Measured

MOST_ITERATIONS = 6  # the paper's figures 4 and 5 go from 1 to 6


def measure(labeler: Labeler, files: Mapping[str, Sequence[Sentence]]) -> Measured:
    """Score a model on its files, by length and by number of arguments, and watch it refine.

    files  gold sentences: "dev", "test" and perhaps "ood"
    """
    sets: dict[str, Counts] = {}
    breakdowns: dict[str, Mapping[str, Row]] = {}
    for name, gold in files.items():
        by = ("length", "arguments") if name == "test" else ()
        scores = score(gold, labeler.label_sentences(gold), by=by)
        sets[name] = scores.counts
        breakdowns |= scores.breakdowns
    watched = Refinement(files["dev"])
    if labeler.config.capsules.variant in ROUTED:
        watched.watch(labeler)
    return Measured(
        sets=sets,
        lengths=dict(breakdowns.get("length", {})),
        arguments=dict(breakdowns.get("arguments", {})),
        sweep=watched.sweep,
        transitions=watched.transitions(),
        gold_roles=watched.gold_roles,
    )


class Refinement:
    """How the propositions of a file change from one iteration to the next.

    One pass of six iterations shows all: what is believed after n of them is what a model asked
    for n says.
    """

    def __init__(self, gold: Sequence[Sentence]) -> None:
        self._gold = gold
        self.gold_roles = dict(
            Counter(
                argument.role
                for sentence in gold
                for proposition in sentence.propositions
                for argument in proposition.arguments
            )
        )
        self.sweep: dict[int, Counts] = {}
        self._changes: dict[int, dict[tuple[str, str], list[int]]] = {}

    def watch(self, labeler: Labeler) -> None:
        """Label the file in one to six iterations."""
        self.sweep = {n: Counts() for n in range(1, MOST_ITERATIONS + 1)}
        self._changes = {n: {} for n in range(1, MOST_ITERATIONS)}
        labelled = labeler.label_sentences(self._gold, iterations=MOST_ITERATIONS, trace=True)
        for gold, pred in zip(self._gold, labelled, strict=True):
            for n, counts in self.sweep.items():
                counts.add(match_sentence(gold, _after(pred, n)))
            for gold_one, pred_one in zip(_by_predicate(gold), pred.propositions, strict=True):
                self._compare(gold_one, _trace(pred_one))

    def transitions(self) -> dict[int, tuple[Change, ...]]:
        """What changed between iterations n and n + 1, for each n, by role."""
        return {
            n: tuple(Change(*roles, *counts) for roles, counts in sorted(changes.items()))
            for n, changes in self._changes.items()
        }

    def _compare(self, gold: Proposition, trace: Trace) -> None:
        right: dict[int, set[str]] = {}
        for argument in gold.arguments:
            right.setdefault(argument.word, set()).add(argument.role)
        labels = _labels(trace)
        for n, changes in self._changes.items():
            for word in np.flatnonzero(labels[n] != labels[n + 1]).tolist():
                before, after = (trace.roles[labels[step, word]] for step in (n, n + 1))
                gold_roles = right.get(word, {NO_ROLE})
                kind = 0 if after in gold_roles else 1 if before in gold_roles else 2
                changes.setdefault((before, after), [0, 0, 0])[kind] += 1


def _by_predicate(sentence: Sentence) -> Iterable[Proposition]:
    return sorted(sentence.propositions, key=lambda proposition: proposition.predicate)


def _after(sentence: Sentence, n: int) -> Sentence:
    """What the sentence would be labelled as in n iterations."""
    return sentence.with_propositions(
        replace(proposition, arguments=_arguments(_trace(proposition), n))
        for proposition in sentence.propositions
    )


def _arguments(trace: Trace, n: int) -> tuple[Argument, ...]:
    roles = trace.beliefs[n].argmax(-1)
    words = np.flatnonzero(roles).tolist()
    return tuple(Argument(trace.roles[roles[word]], word) for word in words)


def _labels(trace: Trace) -> NDArray[np.int64]:
    """N+1 T, the role of each word after each iteration by number, 0 for none."""
    labels: NDArray[np.int64] = trace.beliefs.argmax(-1)
    return labels


def _trace(proposition: Proposition) -> Trace:
    assert proposition.trace is not None, "traces were asked for"
    return proposition.trace
