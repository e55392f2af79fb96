"""The training loss, against gold answers or the probabilities of teachers.

A gold answer is a probability of 1. It has code of its own where the probabilities of all classes
would take more time and memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.network.batches import Batch, Gold, SoftTargets, SparseTargets
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
    phrases: Tensor


TARGETS = tuple(field.name for field in fields(Gold))
PATTERN_SHARE = 0.1  # weight of the pattern term relative to that of the senses


def count_targets(batch: Batch) -> Tensor:
    """How many answers of gold or of the teachers are known.

    ->  one number for each of TARGETS
    """
    if batch.soft is None:
        assert batch.gold is not None, "a loss needs gold answers or soft targets"
        return torch.stack([(getattr(batch.gold, name) != IGNORED).sum() for name in TARGETS])
    n_words = batch.mask[: batch.n_unmarked].sum()
    n_candidates = batch.predicates.n_candidates
    counts = {
        "roles": batch.mask[batch.predicates.rows].sum(),
        "senses": (n_candidates > 0).sum(),
        "patterns": torch.full_like(n_words, len(n_candidates)),
        "is_predicate": n_words,
        "tags": n_words if batch.soft.tags is not None else torch.zeros_like(n_words),
        "firsts": _count_rows(batch.soft.firsts, n_words),
        "lasts": _count_rows(batch.soft.lasts, n_words),
    }
    return torch.stack([counts[name] for name in TARGETS])


def _count_rows(targets: SparseTargets | None, like: Tensor) -> Tensor:
    """How many rows have targets, of which a row may have several.

    like  a scalar of the type and device of the result
    """
    if targets is None or not len(targets.rows):
        return torch.zeros_like(like)
    return 1 + (targets.rows[1:] != targets.rows[:-1]).sum()  # the entries are sorted by row


def compute_loss(
    output: Output,
    batch: Batch,
    *,
    sense_weight: float,
    predicate_weight: float,
    tag_weight: float,
    phrase_weight: float,
    uniqueness_weight: float,
    intermediate_weight: float,
    gumbel: bool,
    sense_per_word: bool = False,
    unique_per_proposition: bool = False,
    soft_weight: float = 1.0,
    temperature: float = 1.0,
    n_known: Tensor | None = None,
) -> Losses:
    """The loss of a batch: eq. 18 for the roles, plus the terms of the other classifiers.

    The weights are relative to the term of the roles, whose weight is 1.

    uniqueness_weight    eta of eq. 18
    intermediate_weight  of the iterations before the last, see `weigh_iterations`
    gumbel               add Gumbel noise to role and sense logits (authors' code)
    sense_per_word       divide the sum of the sense losses by the words of all propositions, not by
                         the predicates (authors' code)
    unique_per_proposition  see `sum_uniqueness`
    soft_weight          of all terms of a batch with soft targets
    temperature          of the teachers' probabilities: p ** (1 / temperature), normalized
    n_known              if the batch is one process's share of a larger one: `count_targets` of
                         the larger one; the losses of the shares then add up to its loss

    Iterations are matched with those of the teachers from the last one backwards; a student with
    more of them learns its first ones from the teachers' first.
    The L2 term of eq. 16 is not included: the optimizer applies its gradient.
    """
    targets: Gold | SoftTargets | None = batch.gold if batch.soft is None else batch.soft
    counts = count_targets(batch) if n_known is None else n_known
    # A batch without known answers has loss 0, not NaN.
    n: dict[str, Tensor] = dict(zip(TARGETS, counts.clamp(min=1), strict=True))
    if sense_per_word:
        n["senses"] = n["patterns"] = n["roles"]
    propositions = output.propositions
    zero = propositions.senses.new_zeros(())

    def mean(name: str, logits: Tensor | None) -> Tensor:
        target: Tensor | SparseTargets | None = getattr(targets, name)
        if logits is None or target is None:
            return zero
        return sum_nll(logits, target, temperature) / n[name]

    roles = uniqueness = zero
    steps = list(weigh_iterations(propositions.routing, intermediate_weight))
    for number, (role_logits, weight) in enumerate(steps):
        if gumbel:
            role_logits = role_logits + gumbel_like(role_logits)
        target, is_word = _role_targets(batch, number - len(steps), role_logits.shape, temperature)
        roles = roles + weight * (_sum_role_nll(role_logits, target, is_word) / n["roles"])
        if uniqueness_weight:
            unique = sum_uniqueness(
                role_logits, target, is_word, per_proposition=unique_per_proposition
            )
            unique = unique / n["roles"]
            uniqueness = uniqueness + weight * uniqueness_weight * unique
    sense_logits = propositions.senses
    if gumbel:
        sense_logits = sense_logits + gumbel_like(sense_logits)
    # Patterns are used for unseen lemmas only, and are trained on all predicates.
    patterns = mean("patterns", propositions.patterns)
    senses = sense_weight * (mean("senses", sense_logits) + PATTERN_SHARE * patterns)
    predicates = _sum_predicate_loss(output.predicate_logits, batch, temperature)
    predicates = predicate_weight * (predicates / n["is_predicate"])
    tags = tag_weight * mean("tags", output.tag_logits)
    phrases = zero
    if propositions.phrases is not None:
        firsts = mean("firsts", propositions.phrases.firsts)
        phrases = phrase_weight * (firsts + mean("lasts", propositions.phrases.lasts))
    total = roles + uniqueness + senses + predicates + tags + phrases
    losses = Losses(total, roles, uniqueness, senses, predicates, tags, phrases)
    if batch.soft is None:
        return losses
    return Losses(**{f.name: soft_weight * getattr(losses, f.name) for f in fields(Losses)})


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


def sum_nll(logits: Tensor, target: Tensor | SparseTargets, temperature: float = 1.0) -> Tensor:
    """Negative log-likelihood of gold answers, or cross-entropy with probabilities; their sum.

    logits  ... classes
    target  ...          ids, or IGNORED; or probabilities, whose rows are those dimensions
                         flattened
    """
    logits = logits.flatten(0, -2).float()
    if isinstance(target, Tensor):
        return functional.cross_entropy(
            logits, target.flatten(), ignore_index=IGNORED, reduction="sum"
        )
    dense = logits.new_zeros(logits.shape)
    dense[target.rows, target.ids] = target.probs
    return -(_normalized(dense, temperature) * logits.log_softmax(-1)).sum()


def _role_targets(
    batch: Batch, iteration: int, shape: torch.Size, temperature: float
) -> tuple[Tensor, Tensor]:
    """The roles of all words of the predicates, as ids or as probabilities, and a mask.

    iteration      counted from the last, which is -1
    shape          P T R
    -> target      P T    gold ids; or P T R, the probabilities of teachers
    -> is_word     P T
    """
    if batch.soft is None:
        assert batch.gold is not None
        return batch.gold.roles, batch.gold.roles != IGNORED
    n_iterations = len(batch.soft.roles)
    sparse = batch.soft.roles[max(0, n_iterations + iteration)]
    return role_probs(sparse, shape, temperature), batch.mask[batch.predicates.rows]


def role_probs(targets: SparseTargets, shape: torch.Size, temperature: float) -> Tensor:
    """The probabilities of all roles; NO_ROLE has what the others leave.

    shape  P T R
    ->     P T R
    """
    dense = targets.probs.new_zeros(shape[0] * shape[1], shape[2])
    dense[targets.rows, targets.ids] = targets.probs
    dense[:, NO_ROLE_ID] = (1 - dense.sum(-1)).clamp(min=0)
    return _normalized(dense, temperature).view(shape)


def _sum_role_nll(role_logits: Tensor, target: Tensor, is_word: Tensor) -> Tensor:
    if not target.is_floating_point():
        return sum_nll(role_logits, target)
    entropy = -(target * role_logits.float().log_softmax(-1)).sum(-1)  # P T
    return (entropy * is_word).sum()


def sum_uniqueness(
    role_logits: Tensor, target: Tensor, is_word: Tensor, *, per_proposition: bool = False
) -> Tensor:
    """Make the words of a sentence compete for each role that is filled (eq. 17).

    Eq. 17 is printed without the index of the filling word and without a minus sign. This follows
    the authors' code: for every role in the gold proposition, the negative log-likelihood of the
    word that fills it in a softmax over the *words* (padding masked, NO_ROLE excluded). With
    probabilities, the words compete for each role as the teachers distribute it.

    role_logits  P T R
    target       P T    role ids; or P T R, probabilities
    is_word      P T
    per_proposition  multiply the term of a proposition with its number of words, which the mean
                 over words divides by, as the authors' code does
    ->           the sum over predicates
    """
    is_padding = ~is_word.unsqueeze(-1)
    over_words = role_logits.float().masked_fill(is_padding, -torch.inf).log_softmax(1)
    if not target.is_floating_point():
        is_filled = is_word & (target != NO_ROLE_ID)
        chosen = over_words.gather(2, target.clamp(min=0).unsqueeze(-1)).squeeze(-1)  # P T
        terms = chosen.masked_fill(~is_filled, 0.0)
    else:
        is_role = torch.arange(target.shape[-1], device=target.device) != NO_ROLE_ID
        terms = over_words.masked_fill(is_padding, 0.0) * target * is_role
    if per_proposition:
        terms = terms.flatten(1) * is_word.sum(1, keepdim=True)
    return -terms.sum()


def _sum_predicate_loss(logits: Tensor, batch: Batch, temperature: float) -> Tensor:
    if batch.soft is None:
        assert batch.gold is not None
        is_known = batch.gold.is_predicate != IGNORED
        probs = batch.gold.is_predicate.clamp(min=0).float()
    else:
        is_known = batch.mask[: batch.n_unmarked]
        both = torch.stack(
            [batch.soft.predicate_probs, 1 - batch.soft.predicate_probs], -1
        )  # B T 2
        probs = _normalized(both, temperature)[..., 0]
    losses = functional.binary_cross_entropy_with_logits(logits.float(), probs, reduction="none")
    return (losses * is_known).sum()


def _normalized(probs: Tensor, temperature: float) -> Tensor:
    """Scale rows to a sum of 1 at this temperature; rows of zeros stay as they are.

    probs  ... classes
    """
    if temperature != 1.0:
        probs = probs ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True).clamp(min=1e-9)


def gumbel_like(logits: Tensor) -> Tensor:
    """Gumbel(0, 1) noise: the argmax of noisy logits is a sample from their softmax."""
    uniform = torch.rand_like(logits).clamp(1e-9, 1 - 1e-9)  # the logarithms must be finite
    return -torch.log(-torch.log(uniform))
