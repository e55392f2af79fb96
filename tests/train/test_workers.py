"""Batches made by worker processes."""

import dataclasses
import gc
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from capsrl.errors import DataError
from capsrl.sentence import Sentence
from capsrl.train.mixture import Mixture
from capsrl.train.soft_corpus import SoftCorpus
from capsrl.train.workers import make_batches
from teachers.shards import write_shards
from tests.helpers.tiny_networks import SENTENCES, make_teacher
from tests.helpers.tiny_runs import ROOT
from tests.helpers.waiting import wait_until


@pytest.fixture(scope="module")
def mixture(tmp_path_factory):
    predictor = make_teacher()
    folder = tmp_path_factory.mktemp("shards")
    text = [Sentence(s.words) for s in SENTENCES] * 2
    write_shards(predictor, text, folder, teachers=["t"], texts={})
    network = predictor.network
    items = [network.index(s) for s in SENTENCES]
    return Mixture(network, items, n_gold=6, soft=SoftCorpus(folder, network))


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


@pytest.mark.parametrize("n_workers", [1, 3])
def test_batches_are_the_same_in_the_same_order(mixture, n_workers):
    plan = mixture.plan(batch_words=25, seed=3)
    assert mixture.load_for(plan) == plan

    def make(planned):
        return mixture.collate(planned, list)

    made = list(make_batches(make, plan, n_workers=n_workers))
    assert len(made) == len(plan) > 3
    for planned, batch in zip(plan, made, strict=True):
        assert_same(batch, make(planned))


def test_an_error_comes_in_its_turn():
    def make(number):
        if number == 3:
            raise DataError("file:7: expected words, got none")
        return None

    made = make_batches(make, range(6), n_workers=2)
    assert [next(made) for _ in range(3)] == [None] * 3
    with pytest.raises(DataError, match="file:7: expected words"):
        next(made)


def test_killed_worker():
    def make(number):
        os._exit(9)

    made = make_batches(make, range(2), n_workers=1)
    with pytest.raises(RuntimeError, match="DataLoader worker .* exited unexpectedly"):
        next(made)


def test_closing_ends_the_workers():
    gc.collect()  # exceptions of the tests above may keep their workers
    before = set(multiprocessing.active_children())
    made = make_batches(lambda number: None, range(1000), n_workers=2)
    next(made)
    made.close()
    wait_until(lambda: set(multiprocessing.active_children()) <= before)


def test_workers_of_a_killed_process_end(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from capsrl.train.workers import make_batches\n"
        "def make(number):\n"
        "    pathlib.Path(sys.argv[1], str(os.getpid())).touch()\n"
        "made = make_batches(make, range(9**9), n_workers=2)\n"
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
