"""The network's answers and the gold ones in, one number to minimise out."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.config import LossConfig
from capsrl.model.batches import IGNORED, Batch, Gold
from capsrl.model.inventory import NO_ROLE_ID
from capsrl.model.network import Output
from capsrl.model.routing import Beliefs


@dataclass(frozen=True)
class Losses:
    """The terms of the loss, weighted, and their sum; scalars."""

    total: Tensor
    roles: Tensor
    uniqueness: Tensor
    senses: Tensor
    predicates: Tensor
    tags: Tensor


KINDS = tuple(field.name for field in fields(Gold))  # of gold answers


def count_known(gold: Gold) -> Tensor:
    """How many gold answers of each kind are known.

    ->  one number per name of KINDS
    """
    return torch.stack([(getattr(gold, kind) != IGNORED).sum() for kind in KINDS])


def compute_loss(
    output: Output, batch: Batch, config: LossConfig, *, n_known: Tensor | None = None
) -> Losses:
    """Loss of a batch: eq. 17 of the last iteration, or its mean over several, and what joins it.

    n_known  where the batch is one process's share of a larger one: what `count_known` says of
             the larger one; the losses of the shares then add up to its loss

    The L2 term of eq. 15 is not here: its gradient is applied by the optimiser.
    """
    gold = batch.gold
    assert gold is not None, "a loss needs gold answers"
    n = {} if n_known is None else dict(zip(KINDS, n_known, strict=True))
    sense_logits = output.propositions.sense_logits
    zero = sense_logits.new_zeros(())
    roles = uniqueness = zero
    for role_logits, weight in weigh_iterations(output.propositions.beliefs, config.earlier):
        if config.gumbel:
            role_logits = role_logits + gumbel_like(role_logits)
        roles = roles + weight * mean_nll(role_logits, gold.roles, n.get("roles"))
        if config.uniqueness:
            unique = uniqueness_loss(role_logits, gold.roles, n.get("roles"))
            uniqueness = uniqueness + weight * config.uniqueness * unique
    if config.gumbel:
        sense_logits = sense_logits + gumbel_like(sense_logits)
    senses = mean_nll(sense_logits, gold.senses, n.get("senses"))
    # Patterns speak for lemmas never seen; learned on the side from those that were.
    patterns = mean_nll(output.propositions.pattern_logits, gold.patterns, n.get("patterns"))
    senses = config.sense * (senses + 0.1 * patterns)
    predicates = config.predicates * _predicate_loss(
        output.predicate_logits, gold.is_predicate, n.get("is_predicate")
    )
    tags = zero
    if output.tag_logits is not None:
        tags = config.tags * mean_nll(output.tag_logits, gold.tags, n.get("tags"))
    total = roles + uniqueness + senses + predicates + tags
    return Losses(total, roles, uniqueness, senses, predicates, tags)


def weigh_iterations(beliefs: Beliefs, earlier: float) -> Iterator[tuple[Tensor, float]]:
    """The role logits to learn from, each with its weight; the weights add up to 1.

    earlier  of an iteration before the last, where that weighs 1
    -> logits  P T R
    """
    if not earlier:
        yield beliefs.final, 1.0
        return
    # Without routing there is one guess. With it, what stands before the first iteration is none.
    steps = beliefs.logits[1:] or beliefs.logits
    weights = [earlier] * (len(steps) - 1) + [1.0]
    for logits, weight in zip(steps, weights, strict=True):
        yield logits, weight / sum(weights)


def mean_nll(logits: Tensor, gold: Tensor, n_known: Tensor | None = None) -> Tensor:
    """Negative log-likelihood of the gold answers, averaged over those that are known.

    logits  ... classes
    gold    ...          ids, or IGNORED
    """
    logits, gold = logits.flatten(0, -2).float(), gold.flatten()
    total = functional.cross_entropy(logits, gold, ignore_index=IGNORED, reduction="sum")
    return total / _or_count(n_known, gold)


def uniqueness_loss(role_logits: Tensor, gold: Tensor, n_known: Tensor | None = None) -> Tensor:
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
    return -chosen.masked_fill(~filled, 0.0).sum() / _or_count(n_known, gold)


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel(0, 1) noise: the argmax of noisy logits is a sample from their softmax."""
    uniform = torch.rand_like(logits).clamp(1e-9, 1 - 1e-9)
    return -torch.log(-torch.log(uniform))


def _predicate_loss(logits: Tensor, gold: Tensor, n_known: Tensor | None) -> Tensor:
    known = gold != IGNORED
    losses = functional.binary_cross_entropy_with_logits(
        logits.float(), gold.clamp(min=0).float(), reduction="none"
    )
    return (losses * known).sum() / _or_count(n_known, gold)


def _or_count(n_known: Tensor | None, gold: Tensor) -> Tensor:
    count = (gold != IGNORED).sum() if n_known is None else n_known
    return count.clamp(min=1)  # nothing known in a batch must cost 0, not NaN
