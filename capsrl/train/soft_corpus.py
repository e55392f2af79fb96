"""Turn shards of soft labels into training batches, with only some shards in memory at a time."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from capsrl.network.batches import Batch, SoftTargets, SparseTargets
from capsrl.network.network import Network
from capsrl.predict.indexing import IndexedSentence, bucket
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import (
    Array,
    SoftLabels,
    check_inventory,
    join_labels,
    load_labels,
    load_lengths,
    read_manifest,
    shard_path,
)

AT_ONCE = 1_000_000  # sentences whose shards are in memory together, about 8 kB each


@dataclass(frozen=True)
class SoftBatch:
    """Some sentences of a group of shards.

    shards   numbers of the shards of the group
    members  numbers of the sentences within the group
    """

    shards: tuple[int, ...]
    members: list[int]


class SoftCorpus:
    """The shards of a folder as batches of a network.

    Raises DataError if shards are missing or ids mean something else to the network.
    """

    def __init__(self, folder: str | Path, network: Network, *, at_once: int = AT_ONCE) -> None:
        self._folder = Path(folder)
        manifest = read_manifest(self._folder)
        check_inventory(manifest, network.inventory, source=str(folder))
        self._network = network
        self._at_once = at_once
        paths = [shard_path(self._folder, n) for n in range(manifest["shards"])]
        self._lengths = [load_lengths(path) for path in paths]
        self._loaded: tuple[tuple[int, ...], _Group] | None = None

    def __len__(self) -> int:
        return sum(len(lengths) for lengths in self._lengths)

    def plan(self, *, batch_words: int, seed: int) -> list[list[SoftBatch]]:
        """Plan an epoch: groups of shards in random order, each with batches in random order.

        The plan depends only on the shards and the seed, so a resumed run has the same.
        """
        order = list(range(len(self._lengths)))
        random.Random(seed).shuffle(order)
        groups: list[list[int]] = [[]]
        size = 0
        for number in order:
            if groups[-1] and size + len(self._lengths[number]) > self._at_once:
                groups.append([])
                size = 0
            groups[-1].append(number)
            size += len(self._lengths[number])
        plan = []
        for group in groups:
            shards = tuple(sorted(group))  # a group that an epoch repeats need not be read again
            lengths = np.concatenate([self._lengths[number] for number in shards]).tolist()
            batches = bucket(lengths, batch_words=batch_words, seed=seed)
            plan.append([SoftBatch(shards, members) for members in batches])
        return plan

    def collate(self, batch: SoftBatch) -> Batch:
        """The sentences of a batch with their soft targets, on the CPU."""
        return self._group(batch.shards).collate(batch.members)

    def load(self, shards: tuple[int, ...]) -> None:
        """Read a group of shards and index its sentences, before processes are forked."""
        self._group(shards).index_all()

    def _group(self, shards: tuple[int, ...]) -> "_Group":
        if self._loaded is None or self._loaded[0] != shards:
            self._loaded = None  # frees the old group: memory may not be enough for both
            parts = [load_labels(shard_path(self._folder, number)) for number in shards]
            self._loaded = (shards, _Group(join_labels(parts), self._network))
        return self._loaded[1]


class _Group:
    """The soft labels of some shards and their sentences, which are indexed when first needed."""

    def __init__(self, labels: SoftLabels, network: Network) -> None:
        self._labels = labels
        self._network = network
        self._items: list[IndexedSentence | None] = [None] * len(labels)
        self._n_words = np.array([len(words) for words in labels.words], dtype=np.int64)
        self._first_word = np.cumsum([0, *self._n_words])
        self._first_predicate = np.cumsum([0, *labels.n_predicates])
        # Where the entries of each sentence start.
        self._starts: dict[str, Array] = {}
        for name, sparse in labels.sparse.items():
            owners = np.arange(len(labels) + 1) if name == "tags" else self._first_predicate
            self._starts[name] = np.searchsorted(sparse.owners, owners)

    def collate(self, members: Sequence[int]) -> Batch:
        batch = self._network.collate([self._item(number) for number in members], gold=False)
        n_words = int(self._n_words[members].max(initial=0))
        probs = np.zeros((len(members), n_words), np.float32)
        for row, number in enumerate(members):
            first, end = self._first_word[number : number + 2]
            probs[row, : end - first] = self._labels.predicate_probs[first:end]
        targets = {
            name: self._targets(name, np.array(members), n_words) for name in self._labels.sparse
        }
        n_iterations = sum(name.startswith("roles.") for name in targets)
        soft = SoftTargets(
            predicate_probs=torch.from_numpy(probs),
            tags=targets.get("tags"),
            senses=targets["senses"],
            patterns=targets["patterns"],
            roles=tuple(targets[f"roles.{number}"] for number in range(n_iterations)),
            firsts=targets.get("firsts"),
            lasts=targets.get("lasts"),
        )
        return replace(batch, soft=soft)

    def index_all(self) -> None:
        for number in range(len(self._items)):
            self._item(number)

    def _item(self, number: int) -> IndexedSentence:
        item = self._items[number]
        if item is None:
            first, end = self._first_predicate[number : number + 2]
            sentence = Sentence(tuple(self._labels.words[number]))
            item = self._items[number] = replace(
                self._network.index(sentence, gold=False),
                predicates=tuple(self._labels.positions[first:end].tolist()),
                lemmas=tuple(self._labels.lemmas[first:end]),
            )
        return item

    def _targets(self, name: str, members: Array, n_words: int) -> SparseTargets:
        """The entries of some sentences; rows are counted within the batch."""
        sparse, starts = self._labels.sparse[name], self._starts[name]
        counts = starts[members + 1] - starts[members]
        ends = np.cumsum(counts)
        chosen = np.arange(counts.sum()) + np.repeat(starts[members] - (ends - counts), counts)
        if name == "tags":
            old, new = members, np.arange(len(members))
        else:
            old = self._first_predicate[members]
            sizes = self._first_predicate[members + 1] - old
            new = np.cumsum(sizes) - sizes
        rows = sparse.owners[chosen].astype(np.int64) + np.repeat(new - old, counts)
        if name not in ("senses", "patterns"):
            rows = rows * n_words + sparse.words[chosen]
        return SparseTargets(
            rows=torch.from_numpy(rows),
            ids=torch.from_numpy(sparse.ids[chosen].astype(np.int64)),
            probs=torch.from_numpy(sparse.probs[chosen].astype(np.float32)),
        )
