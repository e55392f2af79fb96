import dataclasses
import math

import pytest
import torch
from torch.testing import assert_close

from capsrl.config import LossConfig
from capsrl.model.batches import IGNORED
from capsrl.model.loss import compute_loss, count_known, gumbel_like, mean_nll, uniqueness_loss
from tests.helpers.tiny_networks import SENTENCES, make_config, make_labeler

PLAIN = LossConfig(sense=0.0, predicates=0.0)


@pytest.fixture(scope="module")
def network():
    return make_labeler(make_config(iterations=3)).network


@pytest.fixture(scope="module")
def batch(network):
    return network.collate([network.index(s) for s in SENTENCES])


def log_softmax(row):
    total = math.log(sum(math.exp(x) for x in row))
    return [x - total for x in row]


def test_roles_cost_the_mean_nll_of_the_last_iteration(network, batch):
    output = network(batch)
    logits = output.propositions.beliefs.logits[-1].tolist()
    costs = [
        -log_softmax(logits[p][i])[role]
        for p, row in enumerate(batch.gold.roles.tolist())
        for i, role in enumerate(row)
        if role != IGNORED
    ]
    losses = compute_loss(output, batch, PLAIN)
    assert len(costs) == sum(len(s.words) * len(s.propositions) for s in SENTENCES)
    assert losses.roles.item() == pytest.approx(sum(costs) / len(costs), abs=1e-5)
    assert losses.total.item() == pytest.approx(losses.roles.item())


def test_earlier_iterations_count_as_much_as_asked_for(network, batch):
    output = network(batch)
    config = dataclasses.replace(PLAIN, earlier=0.5, uniqueness=0.25)
    losses = compute_loss(output, batch, config)
    steps = output.propositions.beliefs.logits[1:]
    assert len(steps) == 3
    nll = [mean_nll(step, batch.gold.roles).item() for step in steps]
    assert losses.roles.item() == pytest.approx((nll[0] / 2 + nll[1] / 2 + nll[2]) / 2, abs=1e-5)
    unique = [uniqueness_loss(step, batch.gold.roles).item() for step in steps]
    expected = 0.25 * (unique[0] / 2 + unique[1] / 2 + unique[2]) / 2
    assert losses.uniqueness.item() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("variant", ["word", "baseline"])
def test_a_single_guess_is_learned_from_whatever_earlier_ones_weigh(variant):
    network = make_labeler(make_config(variant=variant)).network
    batch = network.collate([network.index(s) for s in SENTENCES])
    output = network(batch)
    plain = compute_loss(output, batch, PLAIN)
    earlier = compute_loss(output, batch, dataclasses.replace(PLAIN, earlier=0.5))
    assert earlier.roles.item() == plain.roles.item() > 0


def test_before_a_first_iteration_there_is_nothing_to_learn_from(network, batch):
    output = network(batch, n_iterations=1)
    plain = compute_loss(output, batch, PLAIN)
    earlier = compute_loss(output, batch, dataclasses.replace(PLAIN, earlier=0.5))
    assert earlier.roles.item() == plain.roles.item() > 0


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


def test_uniqueness_lets_words_compete_for_the_filled_roles(network, batch):
    output = network(batch)
    logits = output.propositions.beliefs.final
    expected = uniqueness_in_loops(logits.tolist(), batch.gold.roles.tolist())
    assert uniqueness_loss(logits, batch.gold.roles).item() == pytest.approx(expected, abs=1e-5)
    losses = compute_loss(output, batch, dataclasses.replace(PLAIN, uniqueness=0.25))
    assert losses.uniqueness.item() == pytest.approx(0.25 * expected, abs=1e-5)
    assert losses.total.item() == pytest.approx(losses.roles.item() + 0.25 * expected, abs=1e-5)


def test_uniqueness_has_finite_gradients_at_padding():
    logits = torch.randn(2, 3, 4, requires_grad=True)
    gold = torch.tensor([[1, 0, IGNORED], [2, IGNORED, IGNORED]])
    uniqueness_loss(logits, gold).backward()
    assert bool(logits.grad.isfinite().all())
    assert bool((logits.grad[gold == IGNORED] == 0).all())
    assert logits.grad[0, 0, 1] < 0 < logits.grad[0, 1, 1]


def test_senses_patterns_predicates_and_tags_in_plain_loops(network, batch):
    output = network(batch)
    gold = batch.gold
    found = output.propositions
    senses = [
        -log_softmax(row)[answer]
        for row, answer in zip(found.sense_logits.tolist(), gold.senses.tolist(), strict=True)
        if answer != IGNORED
    ]
    patterns = [
        -log_softmax(row)[answer]
        for row, answer in zip(found.pattern_logits.tolist(), gold.patterns.tolist(), strict=True)
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
    losses = compute_loss(output, batch, LossConfig(sense=2.0, predicates=3.0))
    expected = 2 * (sum(senses) / len(senses) + 0.1 * sum(patterns) / len(patterns))
    assert losses.senses.item() == pytest.approx(expected, abs=1e-4)
    expected = 3 * sum(predicates) / len(predicates)
    assert losses.predicates.item() == pytest.approx(expected, abs=1e-4)
    assert losses.tags.item() == 0.0
    parts = [getattr(losses, f.name) for f in dataclasses.fields(losses) if f.name != "total"]
    assert losses.total.item() == pytest.approx(sum(parts).item(), abs=1e-5)


@pytest.mark.parametrize("earlier", [0.0, 0.5])
def test_shares_of_a_batch_add_up_to_its_loss(network, earlier):
    items = [network.index(s) for s in SENTENCES]
    config = LossConfig(uniqueness=0.5, earlier=earlier)
    whole = network.collate(items)
    known = count_known(whole.gold)
    shares = [network.collate(items[:3]), network.collate(items[3:])]
    parts = [compute_loss(network(share), share, config, n_known=known) for share in shares]
    expected = compute_loss(network(whole), whole, config)
    assert_close(parts[0].total + parts[1].total, expected.total, atol=0, rtol=1e-5)


def test_nothing_known_costs_nothing():
    gold = torch.full((2, 3), IGNORED)
    assert mean_nll(torch.randn(2, 3, 4), gold).item() == 0.0


def test_a_batch_without_predicates_can_be_learned_from(network):
    batch = network.collate([network.index(SENTENCES[3])])
    losses = compute_loss(network(batch), batch, LossConfig(uniqueness=1.0))
    assert losses.roles.item() == losses.senses.item() == losses.uniqueness.item() == 0.0
    assert losses.total.item() == pytest.approx(losses.predicates.item()) and losses.total > 0
    losses.total.backward()


def test_gumbel_noise_has_the_mean_and_spread_of_gumbel():
    torch.manual_seed(1)
    noise = gumbel_like(torch.zeros(200_000))
    assert bool(noise.isfinite().all())
    assert noise.mean().item() == pytest.approx(0.5772, abs=0.01)
    assert noise.var().item() == pytest.approx(math.pi**2 / 6, abs=0.03)


def test_the_argmax_of_noisy_logits_is_a_sample_of_their_softmax():
    torch.manual_seed(1)
    logits = torch.tensor([0.5, -1.0, 2.0, 0.0])
    many = logits.expand(100_000, 4)
    shares = (many + gumbel_like(many)).argmax(-1).bincount(minlength=4) / len(many)
    assert_close(shares, logits.softmax(-1), atol=0.01, rtol=0)


def test_noise_is_added_where_asked_for(network, batch):
    output = network(batch)
    torch.manual_seed(1)
    noisy = compute_loss(output, batch, LossConfig(gumbel=True))
    plain = compute_loss(output, batch, LossConfig())
    assert noisy.roles.item() != pytest.approx(plain.roles.item(), abs=1e-3)
    assert noisy.senses.item() != pytest.approx(plain.senses.item(), abs=1e-3)
    assert noisy.predicates.item() == plain.predicates.item()
    every = compute_loss(output, batch, LossConfig(gumbel=True, earlier=1.0))
    plain = compute_loss(output, batch, LossConfig(earlier=1.0))
    assert every.roles.item() != pytest.approx(plain.roles.item(), abs=1e-3)
