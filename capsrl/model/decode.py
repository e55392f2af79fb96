"""Decode the logits of the network to propositions with probabilities."""

from collections.abc import Sequence, Set

import numpy as np
import torch
from torch import Tensor

from capsrl.data.frame_index import NO_FRAMES, FrameIndex
from capsrl.model.candidates import Candidates, Scores, guess_sense, probability_of, score_senses
from capsrl.model.inventory import NO_ROLE_ID, Inventory
from capsrl.model.network import PropositionLogits
from capsrl.model.routing import RoutingResult
from capsrl.model.spans import SpanLogits
from capsrl.sentence import Argument, Phrase, Proposition, Trace

_NUMBERED = frozenset(f"A{number}" for number in range(6))


def decode(
    logits: PropositionLogits,
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
    best, roles = (tensor.cpu().numpy() for tensor in _most_probable(logits.routing.final))  # P T
    sense_logits, pattern_logits = (t.cpu().numpy() for t in (logits.senses, logits.patterns))
    traces = _traces(logits.routing, lengths, inventory) if trace else [None] * len(positions)
    names = list(inventory.roles)
    phrases = _phrases(logits.spans)
    filled = roles != NO_ROLE_ID
    decoded: list[Proposition] = []
    for row, (position, possible) in enumerate(zip(positions, candidates, strict=True)):
        words = np.flatnonzero(filled[row, : lengths[row]]).tolist()
        numbered = {names[role] for role in roles[row, : lengths[row]]} & _NUMBERED
        sense, probability = _choose_sense(
            possible, sense_logits[row], pattern_logits[row], numbered, inventory
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
    logits: Scores,
    patterns: Scores,
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


def _phrases(spans: SpanLogits | None) -> list[list[tuple[int, int]]] | None:
    """The first and last word of the phrase of every word for every predicate."""
    if spans is None:
        return None
    best = torch.stack([spans.firsts.argmax(-1), spans.lasts.argmax(-1)], -1)  # P T 2
    phrases: list[list[tuple[int, int]]] = best.tolist()
    return phrases


def _most_probable(logits: Tensor) -> tuple[Tensor, Tensor]:
    """The probability of the most probable class, in double precision, and its id.

    logits  ... classes
    """
    probs = logits.softmax(-1)
    ids = probs.argmax(-1)
    # Half of the probabilities are so near to 1 that single precision would round them to it.
    others = probs.scatter(-1, ids.unsqueeze(-1), 0.0).sum(-1)
    return 1 - others.cpu().double(), ids


def _traces(
    routing: RoutingResult, lengths: Sequence[int], inventory: Inventory
) -> list[Trace | None]:
    probs = np.stack([logits.softmax(-1).cpu().numpy() for logits in routing.logits], 1)
    capsules = [step.cpu().numpy() for step in routing.capsules]
    nodes = [step.cpu().numpy() for step in routing.nodes]
    return [
        Trace(
            roles=tuple(inventory.roles),
            beliefs=probs[row, :, :length],
            capsules=np.stack([step[row] for step in capsules]) if capsules else None,
            nodes=np.stack([step[row] for step in nodes]) if nodes else None,
        )
        for row, length in enumerate(lengths)
    ]
