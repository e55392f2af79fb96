"""Soft labels on disk and in memory."""

import dataclasses

import numpy as np
import pytest
import torch

from capsrl.errors import DataError
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import (
    SoftLabels,
    join_labels,
    load_labels,
    load_lengths,
)
from teachers.label import label_softly
from teachers.shards import save_labels
from tests.helpers.tiny_networks import SENTENCES, make_config, make_teacher

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
