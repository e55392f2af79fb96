"""Measure a trained model: everything that the paper's tables and figures need."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsrl.config import ROUTED
from capsrl.labeler import Labeler
from capsrl.score import Counts, Row, score, score_systems
from capsrl.sentence import Argument, Proposition, Sentence, Trace
from reproduce.decoder import count_slips, settle
from reproduce.results import NO_ROLE, Change, Measured, Slips

MAX_ITERATIONS = 6  # figures 4 and 5 of the paper go from 1 to 6


def measure(labeler: Labeler, files: Mapping[str, Sequence[Sentence]]) -> Measured:
    """Score a model on its files, and on dev after each iteration of routing.

    files  gold sentences: "dev", "test" and perhaps "ood"
    """
    sets: dict[str, Counts] = {}
    decoded: dict[str, Counts] = {}
    slips: dict[str, Slips] = {}
    breakdowns: dict[str, Mapping[str, Row]] = {}
    for name, gold in files.items():
        by = ("length", "arguments") if name == "test" else ()
        # Each word by itself, as in the paper, and with the decoder as control.
        labeled, settled = _label_twice(labeler, gold)
        scores = score(gold, labeled, by=by)
        sets[name] = scores.counts
        decoded[name] = score(gold, settled).counts
        slips[name] = count_slips(gold, labeled)
        breakdowns |= scores.breakdowns
    dev = files["dev"]
    sweep: dict[int, Counts] = {}
    transitions: dict[int, tuple[Change, ...]] = {}
    if labeler.config.capsules.variant in ROUTED:
        sweep, transitions = measure_iterations(labeler, dev)
    return Measured(
        sets=sets,
        lengths=dict(breakdowns.get("length", {})),
        arguments=dict(breakdowns.get("arguments", {})),
        sweep=sweep,
        transitions=transitions,
        gold_roles=dict(Counter(a.role for s in dev for p in s.propositions for a in p.arguments)),
        decoded=decoded,
        slips=slips,
        parameters={
            "routing": sum(each.numel() for each in labeler.network.routing.parameters()),
            "all": sum(each.numel() for each in labeler.network.parameters()),
        },
    )


def _label_twice(
    labeler: Labeler, gold: Sequence[Sentence]
) -> tuple[list[Sentence], list[Sentence]]:
    """Label by the network alone, and with the decoder of decoder.py on the same beliefs."""
    alone, settled = [], []
    for sentence in labeler.label_sentences(
        gold, predicates="marked", trace=True, consistent=False
    ):
        traces = [_trace(proposition) for proposition in sentence.propositions]
        found = [np.array(t.roles)[settle(t.beliefs[-1], t.roles)] for t in traces]
        settled.append(_relabel(sentence, found))
        alone.append(
            sentence.with_propositions(replace(each, trace=None) for each in sentence.propositions)
        )
    return alone, settled


def measure_iterations(
    labeler: Labeler, gold: Sequence[Sentence]
) -> tuple[dict[int, Counts], dict[int, tuple[Change, ...]]]:
    """Counts after 1 to 6 iterations, and the role changes between consecutive ones.

    One pass with traces is enough: a model that runs n iterations predicts the roles that the
    trace has after n of them.
    """
    steps = range(1, MAX_ITERATIONS + 1)
    after: dict[int, list[Sentence]] = {n: [] for n in steps}
    changes: dict[int, dict[tuple[str, str], list[int]]] = {n: {} for n in steps[:-1]}
    labeled = labeler.label_sentences(
        gold, predicates="marked", iterations=MAX_ITERATIONS, trace=True
    )
    for gold_sentence, sentence in zip(gold, labeled, strict=True):
        labels = [_labels(proposition) for proposition in sentence.propositions]
        for n in steps:
            after[n].append(_relabel(sentence, [found[n] for found in labels]))
        by_predicate = sorted(gold_sentence.propositions, key=lambda p: p.predicate)
        for proposition, found in zip(by_predicate, labels, strict=True):
            for n, counts in changes.items():
                for key, kind in _changes(proposition, found[n], found[n + 1]):
                    counts.setdefault(key, [0, 0, 0])[kind] += 1
    scores, _ = score_systems(gold, list(after.values()))
    return (
        {n: found.counts for n, found in zip(steps, scores, strict=True)},
        {n: tuple(Change(*key, *c) for key, c in sorted(changes[n].items())) for n in changes},
    )


def _labels(proposition: Proposition) -> NDArray[np.str_]:
    """The most probable role of each word after 0, 1, ... iterations: N+1 T."""
    trace = _trace(proposition)
    roles: NDArray[np.str_] = np.array(trace.roles)
    labels: NDArray[np.str_] = roles[trace.beliefs.argmax(-1)]
    return labels


def _trace(proposition: Proposition) -> Trace:
    assert proposition.trace is not None, "traces were asked for"
    return proposition.trace


def _relabel(sentence: Sentence, labels: Sequence[NDArray[np.str_]]) -> Sentence:
    """The sentence with these roles of its words for each of its propositions."""
    return sentence.with_propositions(
        replace(
            proposition,
            trace=None,
            arguments=tuple(
                Argument(str(role), word) for word, role in enumerate(roles) if role != NO_ROLE
            ),
        )
        for proposition, roles in zip(sentence.propositions, labels, strict=True)
    )


def _changes(
    gold: Proposition, before: NDArray[np.str_], after: NDArray[np.str_]
) -> Iterator[tuple[tuple[str, str], int]]:
    """The role changes of words, each with 0 (right), 1 (wrong) or 2 (other)."""
    for word in np.flatnonzero(before != after).tolist():
        old, new = str(before[word]), str(after[word])
        right = {a.role for a in gold.arguments if a.word == word} or {NO_ROLE}
        yield (old, new), 0 if new in right else 1 if old in right else 2
