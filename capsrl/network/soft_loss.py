"""The loss against the probabilities of teachers, for distillation."""

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.network.batches import Batch, SoftTargets, SparseTargets
from capsrl.network.loss import GOLD_FIELDS, PATTERN_SHARE, Losses, gumbel_like, weigh_iterations
from capsrl.network.network import Output
from capsrl.predict.inventory import NO_ROLE_ID


def count_soft(batch: Batch) -> Tensor:
    """How many predictions of the teachers there are.

    ->  one number for each of GOLD_FIELDS
    """
    assert batch.soft is not None, "expected soft targets"
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
    return torch.stack([counts[name] for name in GOLD_FIELDS])


def compute_soft_loss(
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
    weight: float = 1.0,
    temperature: float = 1.0,
    n_known: Tensor | None = None,
) -> Losses:
    """The cross-entropies with the teachers' probabilities, weighted like the terms of the loss.

    It equals `compute_loss`, whose arguments it shares, where the probabilities are 0 and 1.
    Iterations are matched from the last one backwards; a student with more of them than the
    teachers learns its first ones from the teachers' first.

    weight       of all terms, where a batch with gold answers weighs 1
    temperature  of the teachers' probabilities: p ** (1 / temperature), normalized
    n_known      as in `compute_loss`, from `count_soft`
    """
    soft = batch.soft
    assert soft is not None, "expected soft targets"
    n_known = count_soft(batch) if n_known is None else n_known
    n = dict(zip(GOLD_FIELDS, n_known.clamp(min=1), strict=True))
    propositions = output.propositions
    mask = batch.mask[batch.predicates.rows]  # P T
    sense_logits = propositions.senses
    zero = sense_logits.new_zeros(())
    roles = uniqueness = zero
    steps = list(weigh_iterations(propositions.routing, intermediate_weight))
    for number, (role_logits, step_weight) in enumerate(steps):
        if gumbel:
            role_logits = role_logits + gumbel_like(role_logits)
        step = max(0, len(soft.roles) - len(steps) + number)
        target = role_target(soft.roles[step], role_logits.shape, temperature)  # P T R
        entropy = -(target * role_logits.float().log_softmax(-1)).sum(-1)  # P T
        roles = roles + step_weight * (entropy * mask).sum() / n["roles"]
        if uniqueness_weight:
            unique = soft_uniqueness(role_logits.float(), target, mask) / n["roles"]
            uniqueness = uniqueness + step_weight * uniqueness_weight * unique
    if gumbel:
        sense_logits = sense_logits + gumbel_like(sense_logits)
    senses = _cross_entropy(sense_logits, soft.senses, temperature) / n["senses"]
    patterns = _cross_entropy(propositions.patterns, soft.patterns, temperature) / n["patterns"]
    senses = sense_weight * (senses + PATTERN_SHARE * patterns)
    predicates = _predicate_loss(output, batch, soft, temperature) / n["is_predicate"]
    predicates = predicate_weight * predicates
    tags = zero
    if output.tag_logits is not None and soft.tags is not None:
        tags = _cross_entropy(output.tag_logits.flatten(0, 1), soft.tags, temperature)
        tags = tag_weight * tags / n["tags"]
    spans = zero
    if propositions.spans is not None and soft.firsts is not None and soft.lasts is not None:
        firsts = _cross_entropy(propositions.spans.firsts.flatten(0, 1), soft.firsts, temperature)
        lasts = _cross_entropy(propositions.spans.lasts.flatten(0, 1), soft.lasts, temperature)
        spans = span_weight * (firsts / n["firsts"] + lasts / n["lasts"])
    total = roles + uniqueness + senses + predicates + tags + spans
    terms = (total, roles, uniqueness, senses, predicates, tags, spans)
    return Losses(*(weight * term for term in terms))


def _count_rows(targets: SparseTargets | None, like: Tensor) -> Tensor:
    """How many rows have targets, of which a row may have several.

    like  a scalar of the type and device of the result
    """
    if targets is None or not len(targets.rows):
        return torch.zeros_like(like)
    # The entries are sorted by row.
    return 1 + (targets.rows[1:] != targets.rows[:-1]).sum()


def role_target(targets: SparseTargets, shape: torch.Size, temperature: float) -> Tensor:
    """The probabilities of all roles; NO_ROLE has what the others leave.

    shape  P T R
    ->     P T R
    """
    dense = targets.probs.new_zeros(shape[0] * shape[1], shape[2])
    dense[targets.rows, targets.ids] = targets.probs
    dense[:, NO_ROLE_ID] = (1 - dense.sum(-1)).clamp(min=0)
    return _normalize(dense, temperature).view(shape)


def soft_uniqueness(role_logits: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Eq. 16 with probabilities: the words compete for each role as the teachers distribute it.

    role_logits, target  P T R
    mask                 P T    True at words
    ->                   the sum over predicates
    """
    is_word = mask.unsqueeze(-1)
    over_words = role_logits.masked_fill(~is_word, -torch.inf).log_softmax(1)
    over_words = over_words.masked_fill(~is_word, 0.0)
    is_role = torch.arange(target.shape[-1], device=target.device) != NO_ROLE_ID
    return -(over_words * target * is_role).sum()


def _predicate_loss(output: Output, batch: Batch, soft: SoftTargets, temperature: float) -> Tensor:
    probs = torch.stack([soft.predicate_probs, 1 - soft.predicate_probs], -1)  # B T 2
    losses = functional.binary_cross_entropy_with_logits(
        output.predicate_logits.float(), _normalize(probs, temperature)[..., 0], reduction="none"
    )
    return (losses * batch.mask[: batch.n_unmarked]).sum()


def _cross_entropy(logits: Tensor, targets: SparseTargets, temperature: float) -> Tensor:
    """The sum of the cross-entropies of all rows that have targets.

    logits  rows classes
    """
    dense = logits.new_zeros(logits.shape, dtype=torch.float32)
    dense[targets.rows, targets.ids] = targets.probs
    return -(_normalize(dense, temperature) * logits.float().log_softmax(-1)).sum()


def _normalize(probs: Tensor, temperature: float) -> Tensor:
    """Scale rows to a sum of 1 at this temperature; rows of zeros stay as they are.

    probs  ... classes
    """
    if temperature != 1.0:
        probs = probs ** (1 / temperature)
    return probs / probs.sum(-1, keepdim=True).clamp(min=1e-9)
