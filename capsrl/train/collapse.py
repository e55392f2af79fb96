"""Recognize a run that has collapsed, or that has not begun to learn arguments.

In a collapse, a fine-tuned encoder gives all words the same vector. Such a model predicts the most
frequent senses and hardly any arguments, and does not recover.
"""

import math

from capsrl.score import Scores
from capsrl.train.checkpoint import State

_LOW = 0.8  # times the best F1: sound runs stay above it, even at the highest rates
_FEW = 0.1  # times the number of gold arguments


def is_low(f1: float, best_f1: float) -> bool:
    """Whether an F1 is far below the best one so far."""
    return f1 < _LOW * best_f1


def find_collapse(dev: Scores, state: State, *, n_epochs: int) -> str | None:
    """Describe what is wrong after an epoch; None if nothing is, or if it was reported before.

    state     after the epoch, with `low_epochs` and `predicts_arguments` updated
    n_epochs  of the whole run; in its first quarter, few predicted arguments are normal
    """
    advice = "lower train.transformer_rate or train.learning_rate, or try another train.seed"
    counts = dev.counts
    if state.low_epochs == 2:
        return (
            f"epoch {state.epoch}: dev F1 is {dev.labeled_f1:.2f}, after {state.best_f1:.2f} in "
            f"epoch {state.best_epoch}; the run has collapsed: {advice}"
        )
    is_time = state.epoch == max(4, math.ceil(n_epochs / 4))
    if is_time and counts.gold_arguments and not state.predicts_arguments:
        return (
            f"epoch {state.epoch}: no argument has been predicted on dev so far; dev F1 is that of "
            "senses alone: raise train.learning_rate, or lower train.transformer_rate if the "
            "encoder is fine-tuned"
        )
    if is_time and counts.pred_arguments < _FEW * counts.gold_arguments:
        return (
            f"epoch {state.epoch}: {counts.pred_arguments} arguments are predicted on dev, gold "
            f"has {counts.gold_arguments}; the run may have collapsed: {advice}"
        )
    return None
