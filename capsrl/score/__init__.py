"""Scores of predicted propositions against gold ones; needs no torch.

sentences ──matching──▶ what is right ──counts──▶ figures ──significance──▶ how sure they are
                              └──breakdown──▶ the same figures by role, length, ...
"""

from capsrl.score.breakdown import BREAKDOWNS, Row
from capsrl.score.counts import PRF, Counts
from capsrl.score.matching import MODES, Mode
from capsrl.score.scorer import MisalignedError, Scores, official_lines, score, score_systems

__all__ = [
    "BREAKDOWNS",
    "MODES",
    "PRF",
    "Counts",
    "MisalignedError",
    "Mode",
    "Row",
    "Scores",
    "official_lines",
    "score",
    "score_systems",
]
