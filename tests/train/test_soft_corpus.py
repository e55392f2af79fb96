"""Batches of soft labels, and the phrases in them."""

import pytest
import torch

import teachers.shards
from capsrl.errors import DataError
from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Sentence
from capsrl.train.soft_corpus import SoftCorpus
from teachers.shards import write_shards
from tests.helpers.tiny_networks import (
    SENTENCES,
    compute_test_loss,
    make_config,
    make_labeler,
    make_teacher,
)


def test_phrases_of_teachers_are_the_targets(tmp_path):
    config = make_config(phrase_width=4)
    texts = [Sentence(each.words) for each in SENTENCES]
    write_shards(make_teacher(config, seed=5), texts, tmp_path, teachers=["t"], texts={})
    labeler = make_labeler(config, seed=5)
    corpus = SoftCorpus(tmp_path, labeler.network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    labeled = labeler.label_sentences([texts[n] for n in planned.members], predicates="found")
    arguments = [
        (argument.word, argument.phrase)
        for each in labeled
        for proposition in each.propositions
        for argument in proposition.arguments
    ]
    n_words = batch.mask.shape[1]
    for name, edge in (("firsts", "first"), ("lasts", "last")):
        targets = getattr(batch.soft, name)
        dense = torch.zeros(len(batch.predicates.rows) * n_words, n_words)
        dense[targets.rows, targets.ids] = targets.probs
        rows = targets.rows.unique().tolist()
        assert [row % n_words for row in rows] == [word for word, _ in arguments]
        for row, (_, phrase) in zip(rows, arguments, strict=True):  # within half precision
            assert dense[row, getattr(phrase, edge)] >= dense[row].max() - 1e-3
        assert len(arguments) > 3


def test_a_student_like_its_teacher_has_the_smallest_loss(tmp_path):
    """Cross-entropy is smallest where student and teacher agree."""
    config = make_config(phrase_width=4)
    texts = [Sentence(each.words) for each in SENTENCES]
    write_shards(make_teacher(config, seed=5), texts, tmp_path, teachers=["t"], texts={})
    losses = []
    for seed in (5, 6):
        network = make_labeler(config, seed=seed).network
        corpus = SoftCorpus(tmp_path, network)
        [[planned]] = corpus.plan(batch_words=1000, seed=1)
        batch = corpus.collate(planned)
        losses.append(compute_test_loss(network(batch), batch).phrases.item())
    assert 0 < losses[0] < losses[1]


def test_teachers_without_phrases(tmp_path):
    texts = [Sentence(each.words) for each in SENTENCES]
    write_shards(make_teacher(make_config(), seed=5), texts, tmp_path, teachers=["t"], texts={})
    network = make_labeler(make_config(phrase_width=4)).network
    corpus = SoftCorpus(tmp_path, network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    assert batch.soft.firsts is None
    assert compute_test_loss(network(batch), batch).phrases.item() == 0


TEXT = [Sentence(s.words) for s in SENTENCES] * 3


@pytest.fixture
def teacher(tmp_path, monkeypatch):
    """A network that has made five shards in the folder of the test."""
    monkeypatch.setattr(teachers.shards, "SHARD", 4)
    made = make_teacher(make_config(iterations=2))
    write_shards(made, TEXT, tmp_path, teachers=["one"], texts={"text.jsonl": "0123"})
    return made


def test_student_of_another_corpus(teacher, tmp_path):
    network = make_network(make_config(), build_inventory(SENTENCES[:3]))
    message = "the teachers have other senses, candidates, patterns than this corpus; train"
    with pytest.raises(DataError, match=message):
        SoftCorpus(tmp_path, network)


def test_groups_of_shards_have_every_sentence_once(teacher, tmp_path):
    corpus = SoftCorpus(tmp_path, teacher.network, at_once=8)
    assert len(corpus) == 18
    plan = corpus.plan(batch_words=30, seed=3)
    assert len(plan) == 3
    assert plan == corpus.plan(batch_words=30, seed=3) != corpus.plan(batch_words=30, seed=4)
    seen = []
    for group in plan:
        assert len(group[0].shards) <= 2
        for planned in group:
            batch = corpus.collate(planned)
            seen += [(planned.shards, member) for member in planned.members]
            assert batch.soft.predicate_probs.shape == batch.mask.shape
            is_predicate = batch.soft.predicate_probs > 0.5
            assert int(is_predicate.sum()) == len(batch.predicates.rows)
    assert len(set(seen)) == 18
