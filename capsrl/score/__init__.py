"""Scores of predicted propositions against gold ones; needs no torch.

sentences ──matching──▶ matches ──counts──▶ scores ──significance──▶ confidence intervals and tests
                         └──breakdown──▶ the same scores by role, length, ...
                         └──mistakes──▶ which roles are confused, and every mistake by itself
          ──phrase_scores──▶ scores of phrases, as in CoNLL-2005
          ──agreement──▶ kappa of two annotators
          ──calibration──▶ how far probabilities can be trusted
`scorer` makes all of them in one pass over the sentences.
"""

from capsrl.score.breakdown import BREAKDOWNS, Row
from capsrl.score.counts import PRF, Counts
from capsrl.score.matching import MODES, Mode
from capsrl.score.mistakes import Comparison, Confusion, compare_sentences
from capsrl.score.phrase_scores import PhraseScores
from capsrl.score.scorer import MisalignedError, Scores, official_lines, score, score_systems

__all__ = [
    "BREAKDOWNS",
    "MODES",
    "PRF",
    "Comparison",
    "Confusion",
    "Counts",
    "MisalignedError",
    "Mode",
    "Row",
    "Scores",
    "PhraseScores",
    "compare_sentences",
    "official_lines",
    "score",
    "score_systems",
]
