"""The network's answers and the gold ones in, one number to minimise out."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.config import LossConfig
from capsrl.data.batches import IGNORED, Batch, Gold
from capsrl.data.inventory import NO_ROLE_ID
from capsrl.model.network import Output
from capsrl.model.syntax import Parse


@dataclass(frozen=True)
class Losses:
    """The terms of the loss, weighted, and their sum; scalars."""

    total: Tensor
    roles: Tensor
    uniqueness: Tensor
    senses: Tensor
    predicates: Tensor
    syntax: Tensor


def compute_loss(output: Output, batch: Batch, config: LossConfig) -> Losses:
    """Loss of a batch: eq. 17 on the last iteration, joined by senses and predicates.

    The L2 term of eq. 15 is not here: its gradient is applied by the optimiser.
    """
    gold = batch.gold
    assert gold is not None, "a loss needs gold answers"
    role_logits, sense_logits = output.propositions.beliefs.final, output.propositions.sense_logits
    if config.gumbel:
        role_logits = role_logits + gumbel_like(role_logits)
        sense_logits = sense_logits + gumbel_like(sense_logits)
    zero = role_logits.new_zeros(())
    roles = mean_nll(role_logits, gold.roles)
    uniqueness = zero
    if config.uniqueness:
        uniqueness = config.uniqueness * uniqueness_loss(role_logits, gold.roles)
    senses = mean_nll(sense_logits, gold.senses)
    # Patterns speak for lemmas never seen; learned on the side from those that were.
    senses = config.sense * (
        senses + 0.1 * mean_nll(output.propositions.pattern_logits, gold.patterns)
    )
    predicates = config.predicates * _predicate_loss(output.predicate_logits, gold.is_predicate)
    syntax = zero if output.parse is None else config.syntax * _syntax_loss(output.parse, gold)
    total = roles + uniqueness + senses + predicates + syntax
    return Losses(total, roles, uniqueness, senses, predicates, syntax)


def mean_nll(logits: Tensor, gold: Tensor) -> Tensor:
    """Negative log-likelihood of the gold answers, averaged over those that are known.

    logits  ... classes
    gold    ...          ids, or IGNORED
    """
    logits, gold = logits.flatten(0, -2).float(), gold.flatten()
    total = functional.cross_entropy(logits, gold, ignore_index=IGNORED, reduction="sum")
    # Not reduction="mean": nothing known in a batch must cost 0, not NaN.
    return total / (gold != IGNORED).sum().clamp(min=1)


def uniqueness_loss(role_logits: Tensor, gold: Tensor) -> Tensor:
    """The words of a sentence compete for each role that is filled (eq. 16).

    As printed, eq. 16 has neither the index of the filling word nor a minus sign. The authors'
    code settles it: for every role that the gold proposition fills, the negative
    log-likelihood of the word that fills it in a softmax over the *words* (padding masked, NO_ROLE
    left out), averaged as the main loss is.

    role_logits  P T R
    gold         P T    role ids, IGNORED at padding
    """
    real = gold != IGNORED
    over_words = role_logits.float().masked_fill(~real.unsqueeze(-1), -torch.inf).log_softmax(1)
    filled = real & (gold != NO_ROLE_ID)
    chosen = over_words.gather(2, gold.clamp(min=0).unsqueeze(-1)).squeeze(-1)  # P T
    return -chosen.masked_fill(~filled, 0.0).sum() / real.sum().clamp(min=1)


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel(0, 1) noise: the argmax of noisy logits is a sample from their softmax."""
    uniform = torch.rand_like(logits).clamp(1e-9, 1 - 1e-9)
    return -torch.log(-torch.log(uniform))


def _predicate_loss(logits: Tensor, gold: Tensor) -> Tensor:
    known = gold != IGNORED
    losses = functional.binary_cross_entropy_with_logits(
        logits.float(), gold.clamp(min=0).float(), reduction="none"
    )
    return (losses * known).sum() / known.sum().clamp(min=1)


def _syntax_loss(parse: Parse, gold: Gold) -> Tensor:
    # A word whose head is unknown has no finite score to learn from at padding: mean_nll skips it.
    return (
        mean_nll(parse.heads, gold.heads)
        + mean_nll(parse.relations, gold.relations)
        + mean_nll(parse.tags, gold.tags)
    )
