import dataclasses
import math

import pytest
import torch
from torch.testing import assert_close

from capsrl.network.loss import count_known, gumbel_like, mean_nll, uniqueness_loss
from capsrl.predict.indexing import IGNORED
from tests.helpers.tiny_networks import SENTENCES, compute_test_loss, make_config, make_labeler

ONLY_ROLES = {"sense_weight": 0.0, "predicate_weight": 0.0}


@pytest.fixture(scope="module")
def network():
    return make_labeler(make_config(iterations=3)).network


@pytest.fixture(scope="module")
def batch(network):
    return network.collate([network.index(s) for s in SENTENCES])


def log_softmax(row):
    total = math.log(sum(math.exp(x) for x in row))
    return [x - total for x in row]


def test_roles_are_trained_on_the_last_iteration(network, batch):
    output = network(batch)
    logits = output.propositions.routing.logits[-1].tolist()
    costs = [
        -log_softmax(logits[p][i])[role]
        for p, row in enumerate(batch.gold.roles.tolist())
        for i, role in enumerate(row)
        if role != IGNORED
    ]
    losses = compute_test_loss(output, batch, **ONLY_ROLES)
    assert len(costs) == sum(len(s.words) * len(s.propositions) for s in SENTENCES)
    assert losses.roles.item() == pytest.approx(sum(costs) / len(costs), abs=1e-5)
    assert losses.total.item() == pytest.approx(losses.roles.item())


def test_intermediate_iterations_are_weighted(network, batch):
    output = network(batch)
    losses = compute_test_loss(
        output, batch, **ONLY_ROLES, intermediate_weight=0.5, uniqueness_weight=0.25
    )
    steps = output.propositions.routing.logits[1:]
    assert len(steps) == 3
    nll = [mean_nll(step, batch.gold.roles).item() for step in steps]
    assert losses.roles.item() == pytest.approx((nll[0] / 2 + nll[1] / 2 + nll[2]) / 2, abs=1e-5)
    unique = [uniqueness_loss(step, batch.gold.roles).item() for step in steps]
    expected = 0.25 * (unique[0] / 2 + unique[1] / 2 + unique[2]) / 2
    assert losses.uniqueness.item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("variant", ["word", "baseline"])
def test_without_iterations_no_weights_apply(variant):
    network = make_labeler(make_config(variant=variant)).network
    batch = network.collate([network.index(s) for s in SENTENCES])
    output = network(batch)
    plain = compute_test_loss(output, batch, **ONLY_ROLES)
    intermediate = compute_test_loss(output, batch, **ONLY_ROLES, intermediate_weight=0.5)
    assert intermediate.roles.item() == plain.roles.item() > 0


def test_the_zeros_before_routing_do_not_count(network, batch):
    output = network(batch, n_iterations=1)
    plain = compute_test_loss(output, batch, **ONLY_ROLES)
    intermediate = compute_test_loss(output, batch, **ONLY_ROLES, intermediate_weight=0.5)
    assert intermediate.roles.item() == plain.roles.item() > 0


def uniqueness_in_loops(logits, gold):
    total, known = 0.0, 0
    for p, row in enumerate(gold):
        words = [i for i, role in enumerate(row) if role != IGNORED]
        known += len(words)
        for i in words:
            if row[i] != 0:
                over_words = log_softmax([logits[p][other][row[i]] for other in words])
                total -= over_words[words.index(i)]
    return total / known


def test_uniqueness_in_loops(network, batch):
    output = network(batch)
    logits = output.propositions.routing.final
    expected = uniqueness_in_loops(logits.tolist(), batch.gold.roles.tolist())
    assert uniqueness_loss(logits, batch.gold.roles).item() == pytest.approx(expected, abs=1e-5)
    losses = compute_test_loss(output, batch, **ONLY_ROLES, uniqueness_weight=0.25)
    assert losses.uniqueness.item() == pytest.approx(0.25 * expected, abs=1e-5)
    assert losses.total.item() == pytest.approx(losses.roles.item() + 0.25 * expected, abs=1e-5)


def test_uniqueness_ignores_padding():
    logits = torch.randn(2, 3, 4, requires_grad=True)
    gold = torch.tensor([[1, 0, IGNORED], [2, IGNORED, IGNORED]])
    uniqueness_loss(logits, gold).backward()
    assert bool(logits.grad.isfinite().all())
    assert bool((logits.grad[gold == IGNORED] == 0).all())
    assert logits.grad[0, 0, 1] < 0 < logits.grad[0, 1, 1]


def test_other_terms_in_loops(network, batch):
    output = network(batch)
    gold = batch.gold
    found = output.propositions
    senses = [
        -log_softmax(row)[answer]
        for row, answer in zip(found.senses.tolist(), gold.senses.tolist(), strict=True)
        if answer != IGNORED
    ]
    patterns = [
        -log_softmax(row)[answer]
        for row, answer in zip(found.patterns.tolist(), gold.patterns.tolist(), strict=True)
        if answer != IGNORED
    ]
    predicates = [
        math.log1p(math.exp(-score if answer else score))
        for scores, answers in zip(
            output.predicate_logits.tolist(), gold.is_predicate.tolist(), strict=True
        )
        for score, answer in zip(scores, answers, strict=True)
        if answer != IGNORED
    ]
    losses = compute_test_loss(output, batch, sense_weight=2.0, predicate_weight=3.0)
    expected = 2 * (sum(senses) / len(senses) + 0.1 * sum(patterns) / len(patterns))
    assert losses.senses.item() == pytest.approx(expected, abs=1e-4)
    expected = 3 * sum(predicates) / len(predicates)
    assert losses.predicates.item() == pytest.approx(expected, abs=1e-4)
    assert losses.tags.item() == 0.0
    parts = [getattr(losses, f.name) for f in dataclasses.fields(losses) if f.name != "total"]
    assert losses.total.item() == pytest.approx(sum(parts).item(), abs=1e-5)


@pytest.mark.parametrize("intermediate_weight", [0.0, 0.5])
def test_shares_add_up(network, intermediate_weight):
    items = [network.index(s) for s in SENTENCES]
    weights = {"uniqueness_weight": 0.5, "intermediate_weight": intermediate_weight}
    whole = network.collate(items)
    known = count_known(whole.gold)
    shares = [network.collate(items[:3]), network.collate(items[3:])]
    parts = [compute_test_loss(network(share), share, **weights, n_known=known) for share in shares]
    expected = compute_test_loss(network(whole), whole, **weights)
    assert_close(parts[0].total + parts[1].total, expected.total, atol=0, rtol=1e-5)


def test_no_known_answers_have_loss_zero():
    gold = torch.full((2, 3), IGNORED)
    assert mean_nll(torch.randn(2, 3, 4), gold).item() == 0.0


def test_a_batch_without_predicates(network):
    batch = network.collate([network.index(SENTENCES[3])])
    losses = compute_test_loss(network(batch), batch, uniqueness_weight=1.0)
    assert losses.roles.item() == losses.senses.item() == losses.uniqueness.item() == 0.0
    assert losses.total.item() == pytest.approx(losses.predicates.item()) and losses.total > 0
    losses.total.backward()


def test_moments_of_gumbel_noise():
    torch.manual_seed(1)
    noise = gumbel_like(torch.zeros(200_000))
    assert bool(noise.isfinite().all())
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.01)
    assert noise.var().item() == pytest.approx(math.pi**2 / 6, abs=0.03)


def test_gumbel_noise_samples_the_softmax():
    torch.manual_seed(1)
    logits = torch.tensor([0.5, -1.0, 2.0, 0.0])
    many = logits.expand(100_000, 4)
    shares = (many + gumbel_like(many)).argmax(-1).bincount(minlength=4) / len(many)
    assert_close(shares, logits.softmax(-1), atol=0.01, rtol=0)


def test_noise_is_added_to_roles_and_senses(network, batch):
    output = network(batch)
    torch.manual_seed(1)
    noisy = compute_test_loss(output, batch, gumbel=True)
    plain = compute_test_loss(output, batch)
    assert noisy.roles.item() != pytest.approx(plain.roles.item(), abs=1e-3)
    assert noisy.senses.item() != pytest.approx(plain.senses.item(), abs=1e-3)
    assert noisy.predicates.item() == plain.predicates.item()
    every = compute_test_loss(output, batch, gumbel=True, intermediate_weight=1.0)
    plain = compute_test_loss(output, batch, intermediate_weight=1.0)
    assert every.roles.item() != pytest.approx(plain.roles.item(), abs=1e-3)
