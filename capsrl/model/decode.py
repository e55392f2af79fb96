"""Decode the logits of the network to propositions with probabilities."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from capsrl.data.frame_index import NO_FRAMES, FrameIndex
from capsrl.model.inventory import NO_ROLE_ID, Inventory, sense_from
from capsrl.model.network import PropositionLogits
from capsrl.model.routing import RoutingResult
from capsrl.model.spans import SpanLogits
from capsrl.sentence import Argument, Phrase, Proposition, Trace


def decode(
    logits: PropositionLogits,
    *,
    positions: Sequence[int],
    lemmas: Sequence[str],
    lengths: Sequence[int],
    inventory: Inventory,
    trace: bool = False,
    frames: FrameIndex = NO_FRAMES,
) -> list[Proposition]:
    """The most probable sense of each predicate and role of each word.

    No constraints are applied: routing is meant to learn that a role is filled once. The
    probabilities are those of the network; `Calibration.apply` calibrates them.

    positions  P  position of each predicate
    lemmas     P  its lemma
    lengths    P  words of its sentence
    trace      add the role probabilities of every routing iteration
    frames     say what senses and roles mean
    """
    best, roles = (tensor.cpu().numpy() for tensor in _most_probable(logits.routing.final))  # P T
    sense_probs, senses = (t.tolist() for t in _most_probable(logits.senses))
    pattern_probs, patterns = (t.tolist() for t in _most_probable(logits.patterns))
    traces = _traces(logits.routing, lengths, inventory) if trace else [None] * len(positions)
    names = list(inventory.roles)
    phrases = _phrases(logits.spans)
    filled = roles != NO_ROLE_ID
    decoded: list[Proposition] = []
    for row, (position, lemma) in enumerate(zip(positions, lemmas, strict=True)):
        words = np.flatnonzero(filled[row, : lengths[row]]).tolist()
        candidates = inventory.candidates_of(lemma)
        if candidates:
            sense, probability = inventory.senses[candidates[senses[row]]], sense_probs[row]
        else:
            sense = sense_from(inventory.patterns[patterns[row]], lemma)
            probability = pattern_probs[row]
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
                definition=frames.definition(sense),
                frames=frames.links(sense),
            )
        )
    return decoded


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
