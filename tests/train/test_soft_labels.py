"""Soft labels on disk, in memory and in batches, and the phrases in them."""

import dataclasses

import numpy as np
import pytest
import torch

import teachers.shards
from capsrl.errors import DataError
from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import (
    SoftCorpus,
    SoftLabels,
    join_labels,
    load_labels,
    load_lengths,
)
from teachers.label import label_softly
from teachers.shards import save_labels, write_shards
from tests.helpers.tiny_networks import (
    SENTENCES,
    compute_test_loss,
    make_config,
    make_labeler,
    make_teacher,
)

TEXT = [Sentence(s.words) for s in SENTENCES]


@pytest.fixture(scope="module")
def predictor():
    return make_teacher(make_config(iterations=2), seed=5)


@pytest.fixture(scope="module")
def labels(predictor):
    return label_softly(predictor, TEXT)


def assert_same(one: SoftLabels, other: SoftLabels) -> None:
    assert one.words == other.words
    assert one.lemmas == other.lemmas
    for name in ("lengths", "predicate_probs", "n_predicates", "positions"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.sparse.keys() == other.sparse.keys()
    for name, sparse in one.sparse.items():
        for field in dataclasses.fields(sparse):
            mine, theirs = (getattr(x.sparse[name], field.name) for x in (one, other))
            if field.name == "probs":  # the batch around a sentence changes the last digits
                np.testing.assert_allclose(mine, theirs, rtol=2e-3)
            else:
                np.testing.assert_array_equal(mine, theirs)


def test_round_trip(labels, tmp_path):
    save_labels(tmp_path / "shard", labels)
    assert_same(load_labels(tmp_path / "shard"), labels)
    assert load_lengths(tmp_path / "shard").tolist() == labels.lengths.tolist()
    assert [path.name for path in tmp_path.iterdir()] == ["shard"]


def test_parts_join_to_the_whole(predictor, labels):
    parts = [label_softly(predictor, part) for part in (TEXT[:2], TEXT[2:3], TEXT[3:])]
    assert_same(join_labels(parts), labels)


def test_part_without_predicates(labels):
    shy = make_teacher(make_config(iterations=2), seed=5)
    torch.nn.init.constant_(shy.network.finder.score.bias, -1000.0)
    empty = label_softly(shy, TEXT)
    assert empty.n_predicates.tolist() == [0] * len(TEXT)
    assert empty.sparse.keys() == {"senses", "patterns", "roles.0"}
    joined = join_labels([empty, labels])
    assert len(joined) == 2 * len(TEXT)
    for name, sparse in labels.sparse.items():
        np.testing.assert_array_equal(joined.sparse[name].owners, sparse.owners)


def test_damaged_file(tmp_path):
    (tmp_path / "shard").write_bytes(b"no tensors")
    for read in (load_labels, load_lengths):
        with pytest.raises(DataError, match="shard: damaged: .*; delete the file"):
            read(tmp_path / "shard")


def test_damaged_content(labels, tmp_path):
    """One byte of a probability, which would be another."""
    file = tmp_path / "shard"
    save_labels(file, labels)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(DataError, match="shard: damaged: .*SHA-256.*; delete the file"):
        load_labels(file)


def test_phrases_of_teachers_are_the_targets(tmp_path):
    config = make_config(phrase_width=4)
    texts = [Sentence(each.words) for each in SENTENCES]
    write_shards(make_teacher(config, seed=5), texts, tmp_path, teachers=["t"], texts={})
    labeler = make_labeler(config, seed=5)
    corpus = SoftCorpus(tmp_path, labeler.network)
    [[planned]] = corpus.plan(batch_words=1000, seed=1)
    batch = corpus.collate(planned)
    members = [texts[n] for n in planned.members]
    labeled = labeler.label_sentences(members, predicates="found", consistent=False)
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
