"""Make the arguments of a proposition consistent, as those of PropBank are.

Roles, if the model is English and has PropBank's frames:

- Numbered roles, and what refers to them (R-A1) or continues them (C-A1), are in the roleset.
- A numbered role is filled once; of several words that fill it the most probable one keeps it.
- R-A1 and C-A1 need A1, R-AM-LOC needs AM-LOC.

A word that loses its role takes the most probable of those that are left, or none. Other corpora
break these rules: in Universal PropBank 2 to 4 % of the propositions with A1 have two.

Phrases, if the model finds them:

- Two words of the same role, each in the phrase of the other, are one argument: the more probable
  word is its head, the other has no role.
- Phrases do not overlap: one that contains the head of another ends where that one begins.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from capsrl.frames.kinds import CORE_ROLES, PREFIXES
from capsrl.predict import Ids
from capsrl.predict.backend import PropositionScores
from capsrl.predict.inventory import NO_ROLE_ID, Inventory
from capsrl.sentence import Sentence
from capsrl.text.phrases import without_edges

_ONCE = (*CORE_ROLES, "AA")
_ALL = slice(NO_ROLE_ID + 1, None)


class Consistency:
    """The rules for the roles of an inventory; none for one without PropBank's frames."""

    def __init__(self, inventory: Inventory) -> None:
        known = inventory.roles if inventory.has_propbank else ()
        self._ids = {name: inventory.roles.id(name) for name in known}
        self._frames = inventory.frames
        self._lacking: dict[str, frozenset[int]] = {}
        self._once = {self._ids[name] for name in _ONCE if name in self._ids}
        self._needs = {
            number: self._ids[name[2:]]
            for name, number in self._ids.items()
            if name[:2] in PREFIXES and name[2:] in self._ids
        }

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
        given: list[dict[int, int]] = [{} for _ in senses]  # word -> its role
        ids = scores.roles[owners, words].tolist()
        for row, word, role in zip(owners.tolist(), words.tolist(), ids, strict=True):
            given[row][word] = role
        rows = [
            row for row, sense in enumerate(senses) if self._lost(given[row], sense, scores, row)
        ]
        if not rows:
            return scores
        settled = replace(scores, roles=scores.roles.copy(), probs=scores.probs.copy())
        for row, logits in zip(rows, scores.role_logits(np.array(rows)), strict=True):
            n, heads = lengths[row], given[row]
            left = logits[:n].copy()  # T R; NO_ROLE is never lost
            while lost := self._lost(heads, senses[row], settled, row):
                for word, taken in lost:
                    left[word, taken] = -np.inf
                settled.roles[row, :n] = left.argmax(1)
                # Relative to the most probable role: 1 for a word that keeps it.
                settled.probs[row, :n] = scores.probs[row, :n] * np.exp(
                    left.max(1) - logits[:n].max(1)
                )
                heads = {word: role for word, role in enumerate(left.argmax(1).tolist()) if role}
        return settled

    def _lost(
        self, heads: Mapping[int, int], sense: str, scores: PropositionScores, row: int
    ) -> list[tuple[int, int | slice]]:
        """The words that lose their role by the first rule that is broken, and what they lose.

        Repeated until no rule is broken, this is the deferred acceptance of Gale and Shapley
        (1962): the order of the words does not matter.

        heads  word -> its role, in the order of the words
        """
        lacking = self._lacking_roles(sense)
        lost: list[tuple[int, int | slice]] = [
            (word, role) for word, role in heads.items() if role in lacking
        ]
        if lost:
            return lost
        holders: dict[int, int] = {}  # role -> the last word that keeps it
        for word, role in heads.items():
            other, holders[role] = holders.get(role), word
            if other is None:
                continue
            is_one = _are_one(other, word, scores, row)
            if is_one or role in self._once:
                is_weaker = scores.probs[row, word] <= scores.probs[row, other]
                holders[role], loser = (other, word) if is_weaker else (word, other)
                lost.append((loser, _ALL if is_one else role))
        return lost or [
            (word, role)
            for word, role in heads.items()
            if self._needs.get(role, role) not in holders
        ]

    def _lacking_roles(self, sense: str) -> frozenset[int]:
        """The numbered roles that the roleset of a sense does not have."""
        if sense not in self._lacking:
            known = {role.name for role in self._frames.roles_of(sense)}
            lacking = {*CORE_ROLES} - known if self._frames.has(sense) else ()
            names = {prefix + role for prefix in PREFIXES for role in lacking}
            self._lacking[sense] = frozenset(self._ids[name] for name in names & self._ids.keys())
        return self._lacking[sense]


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


def _are_one(before: int, word: int, scores: PropositionScores, row: int) -> bool:
    """Whether two words are in each other's phrase."""
    if scores.firsts is None or scores.lasts is None:
        return False
    return bool(scores.lasts[row, before] >= word and scores.firsts[row, word] <= before)
