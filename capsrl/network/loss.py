"""The training loss."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.network.batches import Batch, Gold
from capsrl.network.network import Output
from capsrl.network.routing import RoutingResult
from capsrl.predict.indexing import IGNORED
from capsrl.predict.inventory import NO_ROLE_ID


@dataclass(frozen=True)
class Losses:
    """The weighted terms of the loss and their sum, all scalars."""

    total: Tensor
    roles: Tensor
    uniqueness: Tensor
    senses: Tensor
    predicates: Tensor
    tags: Tensor
    spans: Tensor


GOLD_FIELDS = tuple(field.name for field in fields(Gold))
PATTERN_SHARE = 0.1  # weight of the pattern term relative to that of the senses


def count_known(gold: Gold) -> Tensor:
    """How many gold answers are known.

    ->  one number for each of GOLD_FIELDS
    """
    return torch.stack([(getattr(gold, name) != IGNORED).sum() for name in GOLD_FIELDS])


def compute_loss(
    output: Output,
    batch: Batch,
    *,
    sense_weight: float,
    predicate_weight: float,
    tag_weight: float,
    span_weight: float,
    uniqueness_weight: float,
    intermediate_weight: float,
    gumbel: bool,
    n_known: Tensor | None = None,
) -> Losses:
    """The loss of a batch: eq. 17 for the roles, plus the terms of the other classifiers.

    The weights are relative to the term of the roles, whose weight is 1.

    uniqueness_weight    eta of eq. 17
    intermediate_weight  of the iterations before the last, see `weigh_iterations`
    gumbel               add Gumbel noise to role and sense logits (authors' code)
    n_known              if the batch is one process's share of a larger one: `count_known` of the
                         larger one; the losses of the shares then add up to its loss

    The L2 term of eq. 15 is not included: the optimizer applies its gradient.
    """
    gold = batch.gold
    assert gold is not None, "a loss needs gold answers"
    n = {} if n_known is None else dict(zip(GOLD_FIELDS, n_known, strict=True))
    sense_logits = output.propositions.senses
    zero = sense_logits.new_zeros(())
    roles = uniqueness = zero
    for role_logits, weight in weigh_iterations(output.propositions.routing, intermediate_weight):
        if gumbel:
            role_logits = role_logits + gumbel_like(role_logits)
        roles = roles + weight * mean_nll(role_logits, gold.roles, n.get("roles"))
        if uniqueness_weight:
            unique = uniqueness_loss(role_logits, gold.roles, n.get("roles"))
            uniqueness = uniqueness + weight * uniqueness_weight * unique
    if gumbel:
        sense_logits = sense_logits + gumbel_like(sense_logits)
    senses = mean_nll(sense_logits, gold.senses, n.get("senses"))
    # Patterns are used for unseen lemmas only, and are trained on all predicates.
    patterns = mean_nll(output.propositions.patterns, gold.patterns, n.get("patterns"))
    senses = sense_weight * (senses + PATTERN_SHARE * patterns)
    predicates = predicate_weight * _predicate_loss(
        output.predicate_logits, gold.is_predicate, n.get("is_predicate")
    )
    tags = zero
    if output.tag_logits is not None:
        tags = tag_weight * mean_nll(output.tag_logits, gold.tags, n.get("tags"))
    spans = zero
    if output.propositions.spans is not None:
        logits = output.propositions.spans
        firsts = mean_nll(logits.firsts, gold.firsts, n.get("firsts"))
        spans = span_weight * (firsts + mean_nll(logits.lasts, gold.lasts, n.get("lasts")))
    total = roles + uniqueness + senses + predicates + tags + spans
    return Losses(total, roles, uniqueness, senses, predicates, tags, spans)


def weigh_iterations(
    routing: RoutingResult, intermediate_weight: float
) -> Iterator[tuple[Tensor, float]]:
    """The role logits of the iterations that are trained, with weights that add up to 1.

    intermediate_weight  of each iteration before the last, relative to the last; 0 (the paper)
                         trains only the last
    -> logits            P T R
    """
    if not intermediate_weight:
        yield routing.final, 1.0
        return
    # The first entry is the zeros before routing, except in variants without iterations, where it
    # is the only one.
    steps = routing.logits[1:] or routing.logits
    weights = [intermediate_weight] * (len(steps) - 1) + [1.0]
    for logits, weight in zip(steps, weights, strict=True):
        yield logits, weight / sum(weights)


def mean_nll(logits: Tensor, gold: Tensor, n_known: Tensor | None = None) -> Tensor:
    """Negative log-likelihood of the gold answers, averaged over those that are known.

    logits   ... classes
    gold     ...          ids, or IGNORED
    n_known  the number to divide by, if not the number of known answers
    """
    logits, gold = logits.flatten(0, -2).float(), gold.flatten()
    total = functional.cross_entropy(logits, gold, ignore_index=IGNORED, reduction="sum")
    return total / _or_count(n_known, gold)


def uniqueness_loss(role_logits: Tensor, gold: Tensor, n_known: Tensor | None = None) -> Tensor:
    """Make the words of a sentence compete for each role that is filled (eq. 16).

    Eq. 16 is printed without the index of the filling word and without a minus sign. This follows
    the authors' code: for every role in the gold proposition, the negative log-likelihood of the
    word that fills it in a softmax over the *words* (padding masked, NO_ROLE excluded), averaged
    like the main loss.

    role_logits  P T R
    gold         P T    role ids, IGNORED at padding
    """
    known = gold != IGNORED
    over_words = role_logits.float().masked_fill(~known.unsqueeze(-1), -torch.inf).log_softmax(1)
    filled = known & (gold != NO_ROLE_ID)
    chosen = over_words.gather(2, gold.clamp(min=0).unsqueeze(-1)).squeeze(-1)  # P T
    return -chosen.masked_fill(~filled, 0.0).sum() / _or_count(n_known, gold)


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel(0, 1) noise: the argmax of noisy logits is a sample from their softmax."""
    uniform = torch.rand_like(logits).clamp(1e-9, 1 - 1e-9)  # the logarithms must be finite
    return -torch.log(-torch.log(uniform))


def _predicate_loss(logits: Tensor, gold: Tensor, n_known: Tensor | None) -> Tensor:
    known = gold != IGNORED
    losses = functional.binary_cross_entropy_with_logits(
        logits.float(), gold.clamp(min=0).float(), reduction="none"
    )
    return (losses * known).sum() / _or_count(n_known, gold)


def _or_count(n_known: Tensor | None, gold: Tensor) -> Tensor:
    count = (gold != IGNORED).sum() if n_known is None else n_known
    return count.clamp(min=1)  # a batch without known answers has loss 0, not NaN
