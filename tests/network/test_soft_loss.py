"""The loss against teachers' probabilities, compared with loops and with gold answers."""

import dataclasses
import math

import pytest
import torch

from capsrl.network.batches import SoftTargets, SparseTargets
from capsrl.network.soft_loss import count_soft, role_target
from capsrl.predict.indexing import IGNORED
from capsrl.sentence import Sentence
from capsrl.train.soft_corpus import SoftCorpus
from capsrl.train.soft_labels import MIN_PROB
from teachers.label import label_softly
from teachers.shards import write_shards
from tests.helpers.tiny_networks import (
    OLD_MAN,
    SENTENCES,
    compute_test_loss,
    make_config,
    make_labeler,
    make_teacher,
)

WEIGHTS = {
    "uniqueness_weight": 0.3,
    "intermediate_weight": 0.5,
    "sense_weight": 0.7,
    "predicate_weight": 0.4,
    "tag_weight": 0.2,
}
ROLES_ONLY = {"sense_weight": 0.0, "predicate_weight": 0.0, "tag_weight": 0.0}


@pytest.fixture(scope="module")
def network():
    return make_labeler(make_config(iterations=3, phrase_width=4)).network


def one_hot(gold):
    """Gold ids as probabilities of 0 and 1."""
    flat = gold.flatten()
    rows = (flat != IGNORED).nonzero().squeeze(1)
    return SparseTargets(rows=rows, ids=flat[rows], probs=torch.ones(len(rows)))


def test_certain_teachers_equal_gold(network):
    batch = network.collate([network.index(s) for s in (*SENTENCES, OLD_MAN)])
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
    output = network(batch)
    expected = compute_test_loss(output, batch, **WEIGHTS)
    found = compute_test_loss(output, dataclasses.replace(batch, soft=soft), **WEIGHTS)
    for field in dataclasses.fields(expected):
        one, other = getattr(expected, field.name), getattr(found, field.name)
        assert one.item() == pytest.approx(other.item(), rel=1e-5), field.name


def probs_of(logits):
    weights = [math.exp(x - max(logits)) for x in logits]
    return [weight / sum(weights) for weight in weights]


def test_roles_against_loops(network, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    sentences = [Sentence(s.words) for s in SENTENCES]
    write_shards(teacher, sentences, tmp_path, teachers=["t"], texts={})
    corpus = SoftCorpus(tmp_path, network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    n_predicates = len(batch.predicates.rows)
    assert n_predicates > 3
    teacher_logits = teacher.network.eval()(batch).propositions.routing.logits[1:]
    output = network.eval()(batch)
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
    losses = compute_test_loss(output, batch, **ROLES_ONLY, intermediate_weight=0.5)
    # Probabilities below the threshold count as no role, and those kept are of half precision.
    assert losses.roles.item() == pytest.approx(expected, rel=5e-3)
    assert losses.total.item() == pytest.approx(losses.roles.item())


def test_lower_temperature_is_sharper():
    targets = SparseTargets(torch.tensor([0, 0]), torch.tensor([1, 2]), torch.tensor([0.6, 0.2]))
    shape = torch.Size([1, 1, 4])
    assert role_target(targets, shape, 1.0).flatten().tolist() == pytest.approx([0.2, 0.6, 0.2, 0])
    squared = [0.04, 0.36, 0.04, 0]
    expected = [value / sum(squared) for value in squared]
    assert role_target(targets, shape, 0.5).flatten().tolist() == pytest.approx(expected)


def test_shares_add_up(network, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    write_shards(
        teacher, [Sentence(s.words) for s in SENTENCES], tmp_path, teachers=["t"], texts={}
    )
    corpus = SoftCorpus(tmp_path, network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    whole = corpus.collate(planned)
    parts = [
        corpus.collate(dataclasses.replace(planned, members=planned.members[rank::2]))
        for rank in range(2)
    ]
    n_known = sum(count_soft(part) for part in parts)
    assert n_known.tolist() == count_soft(whole).tolist()
    network.eval()
    losses = [compute_test_loss(network(part), part, **WEIGHTS, n_known=n_known) for part in parts]
    expected = compute_test_loss(network(whole), whole, **WEIGHTS)
    assert sum(loss.total.item() for loss in losses) == pytest.approx(
        expected.total.item(), rel=1e-4
    )


def test_student_without_iterations(network, tmp_path):
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
    target = role_target(batch.soft.roles[-1], output.propositions.routing.final.shape, 1.0)
    log_probs = output.propositions.routing.final.log_softmax(-1)
    mask = batch.mask[batch.predicates.rows]
    expected = -((target * log_probs).sum(-1) * mask).sum() / mask.sum()
    found = compute_test_loss(output, batch, **ROLES_ONLY).roles
    torch.testing.assert_close(found, expected)


def test_weight_scales_every_term(network, tmp_path):
    teacher = make_teacher(make_config(iterations=3), seed=5)
    write_shards(teacher, SENTENCES, tmp_path, teachers=["t"], texts={})
    corpus = SoftCorpus(tmp_path, network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    output = network.eval()(batch)
    once, half = (compute_test_loss(output, batch, **WEIGHTS, weight=w) for w in (1.0, 0.5))
    for field in dataclasses.fields(once):
        assert getattr(half, field.name).item() == pytest.approx(
            getattr(once, field.name).item() / 2
        )
