"""Read the soft labels that `python -m teachers` makes.

FOLDER/distill.json              teachers, texts, number of sentences, digests of the inventory
FOLDER/shard-00000.safetensors   soft labels of the first sentences as flat arrays, ...
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file

from capsrl.errors import DataError
from capsrl.predict.inventory import Inventory

MANIFEST = "distill.json"
SOFT_FORMAT = 1
# Parts of an inventory that the ids in predictions refer to. Words and characters may differ.
SHARED = ("roles", "senses", "candidates", "patterns", "tags")
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
    except (SafetensorError, OSError, KeyError, ValueError) as error:
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
