"""An epoch of the corpus, partially annotated sentences and soft labels."""

from collections import Counter

import pytest

from capsrl.predict.indexing import bucket
from capsrl.train.mixture import Mixture
from capsrl.train.soft_corpus import SoftBatch, SoftCorpus
from teachers.shards import write_shards
from tests.helpers.tiny_networks import SENTENCES, make_teacher


@pytest.fixture(scope="module")
def network():
    return make_teacher().network


@pytest.fixture(scope="module")
def soft(network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    write_shards(make_teacher(), SENTENCES * 2, folder, teachers=["t"], texts={})
    return SoftCorpus(folder, network)


@pytest.fixture(scope="module")
def items(network):
    return [network.index(s) for s in SENTENCES]


def test_corpus_alone_is_bucketed_as_before(network, items):
    mixture = Mixture(network, items, n_gold=6)
    lengths = [item.length for item in items]
    assert mixture.plan(batch_words=20, seed=7) == bucket(lengths, batch_words=20, seed=7)


def test_corpus_is_repeated_and_soft_labels_are_not(network, items, soft):
    mixture = Mixture(network, items, n_gold=6, soft=soft, repeats=3)
    plan = mixture.plan(batch_words=20, seed=7)
    assert plan == mixture.plan(batch_words=20, seed=7) != mixture.plan(batch_words=20, seed=8)
    gold = Counter(n for planned in plan if isinstance(planned, list) for n in planned)
    members = [planned.members for planned in plan if isinstance(planned, SoftBatch)]
    assert gold == dict.fromkeys(range(6), 3)
    assert Counter(n for numbers in members for n in numbers) == dict.fromkeys(range(12), 1)
    for planned in plan:
        batch = mixture.collate(planned, list)
        assert (batch.soft is None) == (batch.gold is not None) == isinstance(planned, list)


def test_share_of_partial_sentences(network, items):
    mixture = Mixture(network, items, n_gold=2, partial_share=0.5)
    chosen = [
        sorted(n for planned in mixture.plan(batch_words=30, seed=seed) for n in planned)
        for seed in range(8)
    ]
    assert all(numbers[:2] == [0, 1] and len(numbers) == 4 for numbers in chosen)
    assert {n for numbers in chosen for n in numbers} == set(range(6))


def test_process_without_a_share(network, items, soft):
    mixture = Mixture(network, items, n_gold=6, soft=soft)
    for planned in mixture.plan(batch_words=20, seed=7):
        assert mixture.collate(planned, lambda numbers: []) is None
