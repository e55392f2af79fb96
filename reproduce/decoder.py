"""The control of every claim about refinement: a decoder that allows each core role once.

Rules only, nothing learned and no frames:

- A core role (a numbered one: A0, arg1-pat) is filled once; the most probable word keeps it.
- R-X needs X.

A word that loses its role takes the most probable of those that are left to it, or none. Routing
is meant to learn such things; what it adds to a decoder that has them is what it adds at all.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from capsrl.sentence import Sentence
from reproduce.results import Slips

REFERENCE = "R-"


def is_core(role: str) -> bool:
    """Whether a role is numbered, and does not refer to one or continue it (R-A0, C-A0)."""
    return role[1:2] != "-" and any(character.isdigit() for character in role)


def settle(beliefs: NDArray[np.float32], roles: Sequence[str]) -> NDArray[np.intp]:
    """The role of each word by these rules, as numbers of `roles`, of which the first is none.

    beliefs  T R  probabilities
    -> T
    """
    left = beliefs.copy()
    core = [number for number, role in enumerate(roles) if is_core(role)]
    needs = {
        number: roles.index(role[2:])
        for number, role in enumerate(roles)
        if role.startswith(REFERENCE) and role[2:] in roles
    }
    while True:
        best: NDArray[np.intp] = left.argmax(1)
        probs = left.max(1)
        lost: list[tuple[int, int]] = []
        for role in core:
            words = np.flatnonzero(best == role)
            keeper = words[probs[words].argmax()] if len(words) else -1
            lost += [(word, role) for word in words.tolist() if word != keeper]
        if not lost:
            held = set(best.tolist())
            lost = [
                (word, role)
                for word, role in enumerate(best.tolist())
                if role in needs and needs[role] not in held
            ]
        if not lost:
            return best
        for word, role in lost:
            left[word, role] = -1.0


def count_slips(gold: Iterable[Sentence], labeled: Iterable[Sentence]) -> Slips:
    """How often gold and predicted arguments break the rules."""
    gold_repeats, gold_orphans = _sum(gold)
    pred_repeats, pred_orphans = _sum(labeled)
    return Slips(gold_repeats, pred_repeats, gold_orphans, pred_orphans)


def _sum(sentences: Iterable[Sentence]) -> tuple[int, int]:
    repeats = orphans = 0
    for proposition in (each for sentence in sentences for each in sentence.propositions):
        counts = Counter(argument.role for argument in proposition.arguments)
        repeats += sum(count - 1 for role, count in counts.items() if is_core(role))
        orphans += sum(
            count
            for role, count in counts.items()
            if role.startswith(REFERENCE) and role[2:] not in counts
        )
    return repeats, orphans
