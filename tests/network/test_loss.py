import dataclasses
import math

import pytest
import torch
from torch.testing import assert_close

from capsrl.network.batches import SoftTargets, SparseTargets
from capsrl.network.loss import count_targets, gumbel_like, role_probs, sum_nll, sum_uniqueness
from capsrl.predict.indexing import IGNORED
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import SoftCorpus
from teachers.label import MIN_PROB, label_softly
from teachers.shards import write_shards
from tests.helpers.tiny_networks import (
    OLD_MAN,
    SENTENCES,
    compute_test_loss,
    make_config,
    make_labeler,
    make_teacher,
)

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
    roles = batch.gold.roles
    n_words = (roles != IGNORED).sum().item()
    nll = [sum_nll(step, roles).item() / n_words for step in steps]
    assert losses.roles.item() == pytest.approx((nll[0] / 2 + nll[1] / 2 + nll[2]) / 2, abs=1e-5)
    unique = [uniqueness(step, roles).item() / n_words for step in steps]
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


def uniqueness(logits, gold):
    return sum_uniqueness(logits, gold, gold != IGNORED)


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
    losses = compute_test_loss(output, batch, **ONLY_ROLES, uniqueness_weight=0.25)
    assert losses.uniqueness.item() == pytest.approx(0.25 * expected, abs=1e-5)
    assert losses.total.item() == pytest.approx(losses.roles.item() + 0.25 * expected, abs=1e-5)


def test_uniqueness_per_proposition_in_loops(network, batch):
    """The authors' code repeats the term of a proposition at each of its words."""
    output = network(batch)
    logits, gold = output.propositions.routing.final.tolist(), batch.gold.roles.tolist()
    lengths = [sum(role != IGNORED for role in row) for row in gold]
    terms = [
        uniqueness_in_loops([b], [row]) * n for b, row, n in zip(logits, gold, lengths, strict=True)
    ]
    repeated = [term for term, n in zip(terms, lengths, strict=True) for _ in range(n)]
    expected = sum(repeated) / len(repeated)
    weights = {**ONLY_ROLES, "uniqueness_weight": 0.25, "unique_per_proposition": True}
    losses = compute_test_loss(output, batch, **weights)
    assert losses.uniqueness.item() == pytest.approx(0.25 * expected, rel=1e-5)
    sure = torch.nn.functional.one_hot(batch.gold.roles.clamp(min=0), len(logits[0][0])).float()
    soft = sum_uniqueness(
        output.propositions.routing.final, sure, batch.gold.roles != IGNORED, per_proposition=True
    )
    assert soft.item() == pytest.approx(expected * len(repeated), rel=1e-5)


def test_senses_per_word(network, batch):
    output = network(batch)
    per_predicate, per_word = (
        compute_test_loss(output, batch, sense_weight=2.0, sense_per_word=each)
        for each in (False, True)
    )
    known = [int((ids != IGNORED).sum()) for ids in (batch.gold.senses, batch.gold.patterns)]
    senses, patterns = (
        sum_nll(logits, gold)
        for logits, gold in (
            (output.propositions.senses, batch.gold.senses),
            (output.propositions.patterns, batch.gold.patterns),
        )
    )
    n_words = sum(len(s.words) * len(s.propositions) for s in SENTENCES)
    expected = 2 * (senses / known[0] + 0.1 * patterns / known[1])
    assert_close(per_predicate.senses, expected)
    assert_close(per_word.senses, 2 * (senses + 0.1 * patterns) / n_words)
    assert per_word.roles.item() == per_predicate.roles.item()


def test_uniqueness_ignores_padding():
    logits = torch.randn(2, 3, 4, requires_grad=True)
    gold = torch.tensor([[1, 0, IGNORED], [2, IGNORED, IGNORED]])
    uniqueness(logits, gold).backward()
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
    known = count_targets(whole)
    shares = [network.collate(items[:3]), network.collate(items[3:])]
    parts = [compute_test_loss(network(share), share, **weights, n_known=known) for share in shares]
    expected = compute_test_loss(network(whole), whole, **weights)
    assert_close(parts[0].total + parts[1].total, expected.total, atol=0, rtol=1e-5)


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


# Soft targets: compared with loops and with gold answers.

WEIGHTS = {
    "uniqueness_weight": 0.3,
    "intermediate_weight": 0.5,
    "sense_weight": 0.7,
    "predicate_weight": 0.4,
    "tag_weight": 0.2,
}


@pytest.fixture(scope="module")
def student():
    return make_labeler(make_config(iterations=3, phrase_width=4)).network


def one_hot(gold):
    """Gold ids as probabilities of 0 and 1."""
    flat = gold.flatten()
    rows = (flat != IGNORED).nonzero().squeeze(1)
    return SparseTargets(rows=rows, ids=flat[rows], probs=torch.ones(len(rows)))


def test_certain_teachers_equal_gold(student):
    batch = student.collate([student.index(s) for s in (*SENTENCES, OLD_MAN)])
    gold = batch.gold
    roles = one_hot(gold.roles)
    filled = roles.ids != 0
    roles = SparseTargets(roles.rows[filled], roles.ids[filled], roles.probs[filled])
    soft = SoftTargets(
        predicate_probs=gold.is_predicate.clamp(min=0).float(),
        tags=None,
        senses=one_hot(gold.senses),
        patterns=one_hot(gold.patterns),
        roles=(roles,) * 3,
        firsts=one_hot(gold.firsts),
        lasts=one_hot(gold.lasts),
    )
    output = student(batch)
    expected = compute_test_loss(output, batch, **WEIGHTS)
    found = compute_test_loss(output, dataclasses.replace(batch, soft=soft), **WEIGHTS)
    for field in dataclasses.fields(expected):
        one, other = getattr(expected, field.name), getattr(found, field.name)
        assert one.item() == pytest.approx(other.item(), rel=1e-5), field.name


def probs_of(logits):
    weights = [math.exp(x - max(logits)) for x in logits]
    return [weight / sum(weights) for weight in weights]


def test_roles_against_loops(student, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    sentences = [Sentence(s.words) for s in SENTENCES]
    write_shards(teacher, sentences, tmp_path, teachers=["t"], texts={})
    corpus = SoftCorpus(tmp_path, student)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    n_predicates = len(batch.predicates.rows)
    assert n_predicates > 3
    teacher_logits = teacher.network.eval()(batch).propositions.routing.logits[1:]
    output = student.eval()(batch)
    expected = 0.0
    for weight, theirs, ours in zip(
        (0.25, 0.25, 0.5), teacher_logits, output.propositions.routing.logits[1:], strict=True
    ):
        costs = []
        for p in range(n_predicates):
            for t in range(int(batch.mask[batch.predicates.rows[p]].sum())):
                target = probs_of(theirs[p, t].tolist())
                log_probs = [math.log(q) for q in probs_of(ours[p, t].tolist())]
                costs.append(-sum(a * b for a, b in zip(target, log_probs, strict=True)))
        expected += weight * sum(costs) / len(costs)
    losses = compute_test_loss(output, batch, **ONLY_ROLES, intermediate_weight=0.5)
    # Probabilities below the threshold count as no role, and those kept are of half precision.
    assert losses.roles.item() == pytest.approx(expected, rel=5e-3)
    assert losses.total.item() == pytest.approx(losses.roles.item())


def test_lower_temperature_is_sharper():
    targets = SparseTargets(torch.tensor([0, 0]), torch.tensor([1, 2]), torch.tensor([0.6, 0.2]))
    shape = torch.Size([1, 1, 4])
    assert role_probs(targets, shape, 1.0).flatten().tolist() == pytest.approx([0.2, 0.6, 0.2, 0])
    squared = [0.04, 0.36, 0.04, 0]
    expected = [value / sum(squared) for value in squared]
    assert role_probs(targets, shape, 0.5).flatten().tolist() == pytest.approx(expected)


def test_shares_of_soft_targets_add_up(student, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    write_shards(
        teacher, [Sentence(s.words) for s in SENTENCES], tmp_path, teachers=["t"], texts={}
    )
    corpus = SoftCorpus(tmp_path, student)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    whole = corpus.collate(planned)
    parts = [
        corpus.collate(dataclasses.replace(planned, members=planned.members[rank::2]))
        for rank in range(2)
    ]
    n_known = sum(count_targets(part) for part in parts)
    assert n_known.tolist() == count_targets(whole).tolist()
    student.eval()
    losses = [compute_test_loss(student(part), part, **WEIGHTS, n_known=n_known) for part in parts]
    expected = compute_test_loss(student(whole), whole, **WEIGHTS)
    assert sum(loss.total.item() for loss in losses) == pytest.approx(
        expected.total.item(), rel=1e-4
    )


def test_student_without_iterations(tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    labels = label_softly(teacher, [Sentence(s.words) for s in SENTENCES])
    assert "roles.2" in labels.sparse and "roles.3" not in labels.sparse
    assert labels.sparse["roles.0"].probs.min() >= MIN_PROB * 0.99
    write_shards(
        teacher, [Sentence(s.words) for s in SENTENCES], tmp_path, teachers=["t"], texts={}
    )
    student = make_labeler(make_config(variant="baseline"), seed=2).network.eval()
    [[planned]] = SoftCorpus(tmp_path, student).plan(batch_words=1000, seed=1)
    batch = SoftCorpus(tmp_path, student).collate(planned)
    output = student(batch)
    target = role_probs(batch.soft.roles[-1], output.propositions.routing.final.shape, 1.0)
    log_probs = output.propositions.routing.final.log_softmax(-1)
    mask = batch.mask[batch.predicates.rows]
    expected = -((target * log_probs).sum(-1) * mask).sum() / mask.sum()
    found = compute_test_loss(output, batch, **ONLY_ROLES).roles
    torch.testing.assert_close(found, expected)


def test_weight_scales_every_term(student, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    write_shards(teacher, SENTENCES, tmp_path, teachers=["t"], texts={})
    corpus = SoftCorpus(tmp_path, student)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    output = student.eval()(batch)
    once, half = (compute_test_loss(output, batch, **WEIGHTS, soft_weight=w) for w in (1.0, 0.5))
    for field in dataclasses.fields(once):
        assert getattr(half, field.name).item() == pytest.approx(
            getattr(once, field.name).item() / 2
        )
