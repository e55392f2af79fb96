"""Plan the batches of an epoch and make them ahead of time, in a thread or in processes.

An epoch has the sentences of the corpus, partially annotated sentences and soft labels.
"""

import multiprocessing
import random
import warnings
from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from capsrl.errors import ConfigError
from capsrl.network.batches import Batch, map_leaves
from capsrl.network.network import Network
from capsrl.predict.indexing import IndexedSentence, bucket
from capsrl.train.soft_labels import SoftBatch, SoftCorpus

Planned = list[int] | SoftBatch  # numbers of annotated sentences, or sentences of shards
Share = Callable[[Sequence[int]], list[int]]  # selects the sentences of this process
Make = Callable[[Planned], Batch | None]
Batches = Generator[Batch | None, None, None]

_NEXT = 1_000_000_007  # between the seeds of an epoch, to keep clear of those of other epochs
_N_AHEAD = 8  # batches that a thread makes ahead


class Mixture:
    """The sentences that an epoch is made of; each batch has sentences of one kind.

    items          annotated sentences; from number `n_gold` on they are partially annotated
    partial_share  share of the partially annotated sentences that an epoch uses
    soft           soft labels, which an epoch uses once
    repeats        how often an epoch uses the first `n_gold` sentences
    """

    def __init__(
        self,
        network: Network,
        items: Sequence[IndexedSentence],
        *,
        n_gold: int,
        partial_share: float = 1.0,
        soft: SoftCorpus | None = None,
        repeats: int = 1,
    ) -> None:
        self._network = network
        self._items = items
        self._n_gold = n_gold
        self._n_partial = round(partial_share * (len(items) - n_gold))
        self._soft = soft
        self._repeats = repeats

    def plan(self, *, batch_words: int, seed: int) -> list[Planned]:
        """Plan the batches of an epoch, the same for the same seed.

        Groups of shards follow one another, each mixed with its share of the other batches.
        """
        rng = random.Random(seed)
        annotated: list[Planned] = []
        for number in range(self._repeats):
            annotated += self._bucket(range(self._n_gold), batch_words, seed + _NEXT * number)
        if self._n_partial:
            partial = range(self._n_gold, len(self._items))
            annotated += self._bucket(rng.sample(partial, self._n_partial), batch_words, seed)
        if self._n_partial or self._soft is not None:
            rng.shuffle(annotated)
        if self._soft is None:
            return annotated
        groups = self._soft.plan(batch_words=batch_words, seed=seed)
        n_soft = sum(len(group) for group in groups)
        plan: list[Planned] = []
        done = 0
        for group in groups:
            first, end = (len(annotated) * n // n_soft for n in (done, done + len(group)))
            mixed = [*annotated[first:end], *group]
            rng.shuffle(mixed)
            plan += mixed
            done += len(group)
        return plan

    def _bucket(self, numbers: Sequence[int], batch_words: int, seed: int) -> list[list[int]]:
        lengths = [self._items[number].length for number in numbers]
        batches = bucket(lengths, batch_words=batch_words, seed=seed)
        return [[numbers[member] for member in batch] for batch in batches]

    def make(
        self, batches: Sequence[Planned], share: Share = list, *, n_workers: int = 0
    ) -> Batches:
        """Make the batches of a plan; None where this process has no share of one.

        n_workers  processes that make them; 0 uses a thread
        """
        if not n_workers:
            yield from make_in_thread(lambda planned: _pin(self.collate(planned, share)), batches)
            return
        while batches:
            part = self._load_for(batches)
            yield from make_in_processes(
                lambda planned: self.collate(planned, share), part, n_workers=n_workers
            )
            batches = batches[len(part) :]

    def collate(self, planned: Planned, share: Share = list) -> Batch | None:
        """Collate the sentences of a batch that `share` selects; None if there are none."""
        if isinstance(planned, SoftBatch):
            assert self._soft is not None
            members = share(planned.members)
            return self._soft.collate(SoftBatch(planned.shards, members)) if members else None
        items = [self._items[number] for number in share(planned)]
        return self._network.collate(items) if items else None

    def _load_for(self, batches: Sequence[Planned]) -> Sequence[Planned]:
        """Read the shards of the first batches; returns those that need no other shards.

        Processes that are forked afterwards share what was read.
        """
        soft = [planned for planned in batches if isinstance(planned, SoftBatch)]
        if not soft:
            return batches
        assert self._soft is not None
        shards = soft[0].shards
        self._soft.load(shards)
        is_other = (isinstance(one, SoftBatch) and one.shards != shards for one in batches)
        return batches[: next((n for n, other in enumerate(is_other) if other), None)]


def _pin(batch: Batch | None) -> Batch | None:
    return None if batch is None else batch.pin()


def make_in_thread(make: Make, tasks: Sequence[Planned]) -> Batches:
    """Yield `make(task)` for every task, in order; a thread makes some of them ahead.

    An exception in the thread is raised here in its turn. Closing the generator ends the thread.
    """
    pool = ThreadPoolExecutor(1, "batches")
    ahead: deque[Future[Batch | None]] = deque()
    try:
        for task in tasks:
            ahead.append(pool.submit(make, task))
            if len(ahead) > _N_AHEAD:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def make_in_processes(make: Make, tasks: Sequence[Planned], *, n_workers: int) -> Batches:
    """As `make_in_thread`, in worker processes, where a thread cannot keep up with a GPU.

    A thread and the training loop slow each other down, as only one of them can run Python code at
    a time. The workers are forked, so they share the memory of this process.
    Raises ConfigError on systems that cannot fork.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise ConfigError(
            f"train.workers: expected 0 on a system that cannot fork processes, got {n_workers}"
        )
    with warnings.catch_warnings():
        # Python 3.12 warns of locks that other threads hold, of which the workers use none; torch
        # warns of more workers than cores.
        warnings.simplefilter("ignore")
        loader = DataLoader(
            cast(Dataset[Planned], tasks),
            batch_size=None,
            # Arrays for tensors: sending a tensor would open a file for each.
            collate_fn=lambda task: map_leaves(make(task), Tensor, Tensor.numpy),
            num_workers=n_workers,
            multiprocessing_context="fork",
            generator=torch.Generator(),  # else a seed would be drawn from that of the run
        )
        batches = iter(loader)
    for arrays in batches:
        batch: Batch | None = map_leaves(arrays, np.ndarray, torch.from_numpy)
        yield batch
