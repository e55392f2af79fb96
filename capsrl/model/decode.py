"""Decode the scores of the network to propositions with probabilities."""

from collections.abc import Sequence, Set

import numpy as np
from numpy.typing import NDArray

from capsrl.data.frame_index import NO_FRAMES, FrameIndex
from capsrl.model.backend import Floats, Ids, Scores
from capsrl.model.candidates import Candidates, guess_sense, probability_of, score_senses
from capsrl.model.inventory import NO_ROLE_ID, Inventory
from capsrl.sentence import Argument, Phrase, Proposition, Trace

_NUMBERED = frozenset(f"A{number}" for number in range(6))


def decode(
    scores: Scores,
    *,
    positions: Sequence[int],
    candidates: Sequence[Candidates],
    lengths: Sequence[int],
    inventory: Inventory,
    trace: bool = False,
    frames: FrameIndex = NO_FRAMES,
) -> list[Proposition]:
    """The most probable sense of each predicate and role of each word.

    No constraints are applied: routing is meant to learn that a role is filled once. The
    probabilities are those of the network; `Calibration.apply` calibrates them.

    positions  P  position of each predicate
    candidates P  its possible senses
    lengths    P  words of its sentence
    trace      add the role probabilities of every routing iteration
    frames     say what senses and roles mean
    """
    best, roles = most_probable(scores.roles)  # P T
    traces = _traces(scores, lengths, inventory) if trace else [None] * len(positions)
    names = list(inventory.roles)
    phrases = _phrases(scores)
    filled = roles != NO_ROLE_ID
    decoded: list[Proposition] = []
    for row, (position, possible) in enumerate(zip(positions, candidates, strict=True)):
        words = np.flatnonzero(filled[row, : lengths[row]]).tolist()
        numbered = {names[role] for role in roles[row, : lengths[row]]} & _NUMBERED
        sense, probability = _choose_sense(
            possible, scores.senses[row], scores.patterns[row], numbered, inventory
        )
        decoded.append(
            Proposition(
                predicate=position,
                sense=sense,
                arguments=tuple(
                    Argument(
                        role := names[roles[row, word]],
                        word,
                        float(best[row, word]),
                        phrase=None if phrases is None else Phrase(*phrases[row][word]),
                        meaning=frames.meaning(sense, role),
                    )
                    for word in words
                ),
                probability=probability,
                joint_probability=probability * float(best[row, : lengths[row]].prod()),
                trace=traces[row],
                guessed=possible.guessed,
                definition=frames.definition(sense),
                frames=frames.links(sense),
            )
        )
    return decoded


def _choose_sense(
    candidates: Candidates,
    logits: Floats,
    patterns: Floats,
    roles: Set[str],
    inventory: Inventory,
) -> tuple[str, float]:
    """The most probable candidate and its probability; a guess, if there are no candidates.

    logits    C  of the trained candidates, then padding
    patterns  K
    roles     the numbered roles of the predicate
    """
    if not candidates.ids and not candidates.untrained:
        return guess_sense(candidates.lemma, patterns, inventory)
    logits = logits[: len(candidates.ids)]
    more, logits = score_senses(candidates, logits, patterns, roles, inventory.frames)
    best = int(logits.argmax())
    senses = (*(inventory.senses[id] for id in candidates.ids), *more)
    return senses[best], probability_of(best, logits)


def _phrases(scores: Scores) -> list[list[tuple[int, int]]] | None:
    """The first and last word of the phrase of every word for every predicate."""
    if scores.firsts is None or scores.lasts is None:
        return None
    phrases: list[list[tuple[int, int]]] = np.stack([scores.firsts, scores.lasts], -1).tolist()
    return phrases


def most_probable(logits: Floats) -> tuple[NDArray[np.float64], Ids]:
    """The probability of the most probable class, in double precision, and its id.

    logits  ... classes
    """
    ids = logits.argmax(-1)
    best = np.expand_dims(ids, -1)
    odds = np.exp(logits - np.take_along_axis(logits, best, -1))
    # Half of the probabilities are so near to 1 that single precision would round them to it: the
    # others are summed by themselves.
    np.put_along_axis(odds, best, 0.0, -1)
    return 1 / (1 + odds.sum(-1, dtype=np.float64)), ids


def softmax(logits: Floats) -> Floats:
    """Probabilities of classes.

    logits  ... classes
    """
    odds = np.exp(logits - logits.max(-1, keepdims=True))
    probs: Floats = odds / odds.sum(-1, keepdims=True)
    return probs


def _traces(scores: Scores, lengths: Sequence[int], inventory: Inventory) -> list[Trace | None]:
    assert scores.steps is not None
    probs = softmax(scores.steps)  # N+1 P T R
    return [
        Trace(
            roles=tuple(inventory.roles),
            beliefs=probs[:, row, :length],
            capsules=None if scores.capsules is None else scores.capsules[:, row],
            nodes=None if scores.nodes is None else scores.nodes[:, row],
        )
        for row, length in enumerate(lengths)
    ]
