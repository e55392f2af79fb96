"""Read the soft labels that `python -m teachers` makes, and make training batches of them.

FOLDER/distill.json              teachers, texts, number of sentences, digests of the inventory
FOLDER/shard-00000.safetensors   soft labels of the first sentences as flat arrays, ...

Only some shards are in memory at a time.
"""

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file

from capsrl.errors import DataError
from capsrl.files.sealing import check_seal
from capsrl.network.batches import Batch, SoftTargets, SparseTargets
from capsrl.network.network import Network
from capsrl.predict.indexing import IndexedSentence, bucket
from capsrl.predict.inventory import Inventory
from capsrl.sentence import Sentence

MANIFEST = "distill.json"
SOFT_FORMAT = 1
# Parts of an inventory that the ids in predictions refer to. Words and characters may differ.
SHARED = ("roles", "senses", "candidates", "patterns", "tags")
AT_ONCE = 1_000_000  # sentences whose shards are in memory together, about 8 kB each
Array = NDArray[Any]


@dataclass(frozen=True)
class SparseProbs:
    """Probabilities of classes, sorted by owner.

    owners  n  number of the sentence (tags) or of the predicate (all others) it belongs to
    words   n  position of the word in its sentence; 0 for senses and patterns
    ids     n  class
    probs   n  float16
    """

    owners: Array
    words: Array
    ids: Array
    probs: Array


@dataclass(frozen=True)
class SoftLabels:
    """Soft labels of sentences; predicates are numbered across all sentences.

    words            of each sentence
    lemmas           of each predicate
    lengths          positions that each sentence takes in a batch, in subwords of the teachers
    predicate_probs  of every word of every sentence, float16
    n_predicates     of each sentence
    positions        of each predicate in its sentence
    sparse           `tags` (if the teachers have a tagger), `senses` over the candidates of the
                     lemma, `patterns`, and `roles.0`, `roles.1`, ... after each iteration; NO_ROLE
                     is left out, it has the rest of the probability. If the teachers score
                     phrases, `firsts` and `lasts`: first and last words of those of arguments
    """

    words: list[list[str]]
    lemmas: list[str]
    lengths: Array
    predicate_probs: Array
    n_predicates: Array
    positions: Array
    sparse: Mapping[str, SparseProbs]

    def __len__(self) -> int:
        return len(self.words)


# The names of the arrays in a file, besides `text`; those in SPARSE follow the names of classes.
DENSE = ("lengths", "predicate_probs", "n_predicates", "positions")
SPARSE = tuple(field.name for field in fields(SparseProbs))


def load_labels(path: Path) -> SoftLabels:
    """Read a file of soft labels; raises DataError for a missing or damaged one."""
    try:
        check_seal(path)
        arrays = load_file(path)
        text = json.loads(arrays["text"].tobytes())
        names = [name.removesuffix(".probs") for name in arrays if name.endswith(".probs")]
        return SoftLabels(
            words=text["words"],
            lemmas=text["lemmas"],
            **{name: arrays[name] for name in DENSE},
            sparse={
                name: SparseProbs(**{part: arrays[f"{name}.{part}"] for part in SPARSE})
                for name in names
            },
        )
    except (SafetensorError, OSError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, error) from None


def load_lengths(path: Path) -> Array:
    """Read only the lengths from a file of soft labels."""
    try:
        with safe_open(path, framework="np") as file:
            lengths: Array = file.get_tensor("lengths")
    except (SafetensorError, OSError) as error:
        raise _damaged(path, error) from None
    return lengths


def _damaged(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: damaged: {error}; delete the file and run python -m teachers again")


def join_labels(parts: Sequence[SoftLabels]) -> SoftLabels:
    """The soft labels of several files as one."""
    first_sentences = np.cumsum([0, *(len(part) for part in parts)])
    first_predicates = np.cumsum([0, *(len(part.positions) for part in parts)])
    sparse: dict[str, SparseProbs] = {}
    # A file without predicates has only one iteration.
    for name in max((part.sparse for part in parts), key=len):
        firsts = first_sentences if name == "tags" else first_predicates
        members = [
            (part.sparse[name], first)
            for part, first in zip(parts, firsts[:-1], strict=True)
            if name in part.sparse
        ]
        sparse[name] = SparseProbs(
            owners=np.concatenate([member.owners + first for member, first in members]),
            words=np.concatenate([member.words for member, _ in members]),
            ids=np.concatenate([member.ids for member, _ in members]),
            probs=np.concatenate([member.probs for member, _ in members]),
        )
    return SoftLabels(
        words=[words for part in parts for words in part.words],
        lemmas=[lemma for part in parts for lemma in part.lemmas],
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in DENSE},
        sparse=sparse,
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a folder; raises DataError unless all shards are there."""
    file = folder / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{folder}: not a folder of soft labels: it has no {MANIFEST}") from None
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from None
    if manifest.get("format") != SOFT_FORMAT:
        raise DataError(f"{file}: expected format {SOFT_FORMAT}, got {manifest.get('format')}")
    if "shards" not in manifest:
        raise DataError(f"{folder}: some shards are missing; run python -m teachers to the end")
    n_found = sum(shard_path(folder, n).exists() for n in range(manifest["shards"]))
    if n_found < manifest["shards"]:
        raise DataError(
            f"{folder}: expected {manifest['shards']} shards, got {n_found}; run "
            "python -m teachers again to make the others"
        )
    return manifest


def check_inventory(manifest: Mapping[str, Any], inventory: Inventory, *, source: str) -> None:
    """Raise DataError unless ids mean the same to the teachers and to a student."""
    own = inventory_digests(inventory)
    different = [name for name in SHARED if manifest["inventory"].get(name) != own[name]]
    if different:
        raise DataError(
            f"{source}: the teachers have other {', '.join(different)} than this corpus; train "
            "teachers and students on the same data.train, data.partial and data.frames"
        )


def shard_path(folder: Path, number: int) -> Path:
    """The file of a shard."""
    return folder / f"shard-{number:05}.safetensors"


def inventory_digests(inventory: Inventory) -> dict[str, str]:
    """A digest of each of the SHARED parts."""
    digests = {}
    for name in SHARED:
        value = getattr(inventory, name)
        entries = sorted(value.items()) if name == "candidates" else list(value)
        digests[name] = hashlib.sha256(json.dumps(entries).encode()).hexdigest()[:16]
    return digests


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
