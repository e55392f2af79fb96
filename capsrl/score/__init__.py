"""Scores of predicted propositions against gold ones; needs no torch.

sentences ──matching──▶ matches ──counts──▶ scores ──significance──▶ confidence intervals and tests
                         └──breakdown──▶ the same scores by role, length, ...
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
