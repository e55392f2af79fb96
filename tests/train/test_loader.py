"""Batches of an epoch: which there are, and that they are the same wherever they are made."""

import dataclasses
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import torch

from capsrl.errors import DataError
from capsrl.predict.indexing import bucket
from capsrl.train.loader import Mixture, make_in_processes, make_in_thread
from capsrl.train.soft_labels import SoftBatch, SoftCorpus
from teachers.shards import write_shards
from tests.helpers.tiny_networks import SENTENCES, make_teacher
from tests.helpers.tiny_runs import ROOT
from tests.helpers.waiting import wait_until


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
        batch = mixture.collate(planned)
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


def assert_same(one, other):
    assert type(one) is type(other)
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other)
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for mine, theirs in zip(one, other, strict=True):
            assert_same(mine, theirs)
    else:
        assert one == other


@pytest.mark.parametrize("n_workers", [0, 1, 3])
def test_batches_are_the_same_in_the_same_order(network, items, soft, n_workers):
    mixture = Mixture(network, items, n_gold=6, soft=soft)
    plan = mixture.plan(batch_words=25, seed=3)
    made = list(mixture.make(plan, n_workers=n_workers))
    assert len(made) == len(plan) > 3
    for planned, batch in zip(plan, made, strict=True):
        assert_same(batch, mixture.collate(planned))


def make_in(n_workers):
    """The function that makes batches, in a thread or in processes."""
    return partial(make_in_processes, n_workers=n_workers) if n_workers else make_in_thread


@pytest.mark.parametrize("n_workers", [0, 2])
def test_an_error_comes_in_its_turn(n_workers):
    def make(number):
        if number == 3:
            raise DataError("file:7: expected words, got none")
        return None

    made = make_in(n_workers)(make, range(6))
    assert [next(made) for _ in range(3)] == [None] * 3
    with pytest.raises(DataError, match="file:7: expected words"):
        next(made)


def threads() -> int:
    return sum(thread.name.startswith("batches") for thread in threading.enumerate())


def test_a_thread_makes_some_batches_ahead():
    numbers = []
    made = make_in_thread(numbers.append, range(100))
    next(made)
    wait_until(lambda: len(numbers) >= 9)
    assert len(numbers) == 9
    assert threads() == 1
    made.close()
    assert threads() == 0
    assert list(make_in_thread(lambda number: number, range(50))) == list(range(50))
    assert list(make_in_thread(lambda number: number, [])) == []


def test_killed_worker():
    def make(number):
        os._exit(9)

    made = make_in_processes(make, range(2), n_workers=1)
    with pytest.raises(RuntimeError, match="DataLoader worker .* exited unexpectedly"):
        next(made)


def test_closing_ends_the_workers():
    gc.collect()  # exceptions of the tests above may keep their workers
    before = set(multiprocessing.active_children())
    made = make_in_processes(lambda number: None, range(1000), n_workers=2)
    next(made)
    made.close()
    wait_until(lambda: set(multiprocessing.active_children()) <= before)


def test_workers_of_a_killed_process_end(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from capsrl.train.loader import make_in_processes\n"
        "def make(number):\n"
        "    pathlib.Path(sys.argv[1], str(os.getpid())).touch()\n"
        "made = make_in_processes(make, range(9**9), n_workers=2)\n"
        "next(made), next(made)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    workers = [int(file.name) for file in tmp_path.iterdir()]
    assert len(workers) == 2
    wait_until(lambda: not any(is_alive(worker) for worker in workers))


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends while it is read
        return False
