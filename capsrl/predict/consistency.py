"""Make the arguments of a proposition consistent, as those of PropBank are.

Roles, if the model is English and has PropBank's frames:

- A numbered role is filled once; of several words that fill it the most probable one keeps it.
- Numbered roles, and what refers to them (R-A1) or continues them (C-A1), are in the roleset.
- R-A1 and C-A1 need A1, R-AM-LOC needs AM-LOC.

A word that loses its role takes the most probable of those that are left, or none. Other corpora
break these rules: in Universal PropBank 2 to 4 % of the propositions with A1 have two.

Phrases, if the model finds them:

- Neighboring arguments of the same role, each in the phrase of the other, are one argument: the
  more probable word is its head, the other has no role.
- Phrases do not overlap: one that contains the head of another ends where that one begins.

Few propositions break a rule: only these are decoded one by one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from capsrl.frames.index import NO_FRAMES
from capsrl.frames.kinds import CORE_ROLES, PREFIXES
from capsrl.predict import Floats, Ids
from capsrl.predict.backend import PropositionScores
from capsrl.predict.inventory import NO_ROLE_ID, Inventory
from capsrl.sentence import Sentence
from capsrl.text.phrases import without_edges

_Bools = NDArray[np.bool_]
_Doubles = NDArray[np.float64]
_ONCE = (*CORE_ROLES, "AA")


class Consistency:
    """The rules for the roles of an inventory."""

    def __init__(self, inventory: Inventory) -> None:
        names = list(inventory.roles)
        self._frames = inventory.frames if inventory.has_propbank else NO_FRAMES
        # R: the role that each needs, which may be itself; and the role by which frames know it.
        self._needed, self._own = np.arange(len(names)), list(names)
        self._once = np.zeros(len(names), bool)
        self._possible: dict[str, _Bools] = {}
        if inventory.has_propbank:
            self._once[:] = [name in _ONCE for name in names]
            for number, name in enumerate(names):
                if name.startswith(PREFIXES[1:]):
                    self._own[number] = name[2:]
                    self._needed[number] = inventory.role_id(name[2:]) or number

    def settle(
        self,
        scores: PropositionScores,
        senses: Sequence[str],
        lengths: Sequence[int],
        owners: Ids,
        words: Ids,
    ) -> PropositionScores:
        """The scores with other roles, and their probabilities, where roles are inconsistent.

        senses   P
        lengths  P  words of the sentence of each predicate
        owners   A  the predicate of each argument
        words    A  its head
        """
        itself = np.broadcast_to(np.arange(scores.roles.shape[1]), scores.roles.shape)
        firsts = itself if scores.firsts is None else scores.firsts
        lasts = itself if scores.lasts is None else scores.lasts
        possible = np.stack([self._possible_roles(sense) for sense in senses])  # P R
        given = scores.roles[owners, words]
        cells = np.bincount(owners * possible.shape[1] + given, minlength=possible.size)
        counts = cells.reshape(possible.shape)  # P R
        has_needed = (counts > 0)[:, self._needed]
        is_bad = (counts > 1) & self._once | (counts > 0) & ~(possible & has_needed)
        is_one = _are_one(words, given, firsts[owners, words], lasts[owners, words])
        is_one &= owners[1:] == owners[:-1]
        rows = np.union1d(np.nonzero(is_bad)[0], owners[1:][is_one])
        if not len(rows):
            return scores
        roles, probs = scores.roles.copy(), scores.probs.copy()
        for row, logits in zip(rows.tolist(), scores.role_logits(rows), strict=True):
            n = lengths[row]
            log_probs = _log_softmax(logits[:n])
            found = self._settle(log_probs, possible[row], firsts[row, :n], lasts[row, :n])
            # The others keep their probabilities, which are exact near 1.
            changed = np.flatnonzero(found != roles[row, :n])
            roles[row, changed] = found[changed]
            probs[row, changed] = np.exp(log_probs[changed, found[changed]])
        return replace(scores, roles=roles, probs=probs)

    def _possible_roles(self, sense: str) -> _Bools:
        """The roles that a sense can have: R."""
        if sense not in self._possible:
            known = {role.name for role in self._frames.roles_of(sense)}
            lacking = {*CORE_ROLES} - known if self._frames.has(sense) else ()
            self._possible[sense] = np.array([name not in lacking for name in self._own])
        return self._possible[sense]

    def _settle(self, log_probs: _Doubles, possible: _Bools, firsts: Ids, lasts: Ids) -> Ids:
        """The roles of the words of a proposition: T.

        log_probs  T R
        possible   R
        firsts     T    first word of the phrase of each word
        lasts      T    last word
        """
        left = np.where(possible, log_probs, -np.inf)  # T R; NO_ROLE is always left
        while True:
            roles: Ids = left.argmax(1)
            chosen = log_probs[np.arange(len(roles)), roles]
            words = np.flatnonzero(roles)
            is_one = _are_one(words, roles[words], firsts[words], lasts[words])
            if is_one.any():
                pair = words[:-1][is_one], words[1:][is_one]
                left[np.where(chosen[pair[0]] < chosen[pair[1]], *pair), NO_ROLE_ID + 1 :] = -np.inf
                continue
            once = np.flatnonzero(self._once[roles])
            ranked = once[np.argsort(-chosen[once], kind="stable")]
            losers = np.delete(ranked, np.unique(roles[ranked], return_index=True)[1])
            if not len(losers):
                losers = np.flatnonzero(~np.isin(self._needed[roles], roles))
            if not len(losers):
                return roles
            left[losers, roles[losers]] = -np.inf


def separate_phrases(
    phrases: Sequence[tuple[int, int]],
    heads: Sequence[int],
    owners: Sequence[int],
    sentences: Sequence[Sentence],
) -> list[tuple[int, int]]:
    """Cut the phrases of arguments so that those of a proposition do not overlap.

    Every phrase keeps its head. Of two that contain each other's head, the second begins at its
    head. Punctuation at the cut is left out.

    phrases    A  first and last words
    heads      A  rising within a proposition
    owners     A  the proposition of each argument
    sentences  P
    """
    found = list(phrases)
    for number in range(1, len(found)):
        (first, last), (next_first, next_last) = found[number - 1 : number + 1]
        if last < next_first or owners[number - 1] != owners[number]:
            continue
        head, next_head = heads[number - 1 : number + 1]
        last = min(last, (next_first if next_first > head else next_head) - 1)
        words = sentences[owners[number]].words
        found[number - 1] = without_edges(words, head, first, last)
        found[number] = without_edges(words, next_head, max(next_first, last + 1), next_last)
    return found


def _are_one(words: Ids, roles: Ids, firsts: Ids, lasts: Ids) -> _Bools:
    """Whether an argument and the next have the same role and are in each other's phrase: A-1."""
    is_same: _Bools = roles[1:] == roles[:-1]
    return is_same & (lasts[:-1] >= words[1:]) & (firsts[1:] <= words[:-1])


def _log_softmax(logits: Floats) -> _Doubles:
    shifted = logits.astype(np.float64) - logits.max(-1, keepdims=True)
    found: _Doubles = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return found
