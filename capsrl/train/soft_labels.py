"""The soft labels of some sentences as flat arrays, and the file that holds them.

Probabilities below MIN_PROB are left out: of 50 roles one or two matter for a word, and most words
have no role.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save_file

from capsrl.errors import DataError
from capsrl.files.replacing import replacing

MIN_PROB = 0.002
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


_DENSE = ("lengths", "predicate_probs", "n_predicates", "positions")
_PARTS = tuple(field.name for field in fields(SparseProbs))


def save_labels(path: Path, labels: SoftLabels) -> None:
    """Write soft labels to a safetensors file, atomically."""
    text = json.dumps({"words": labels.words, "lemmas": labels.lemmas})
    arrays = {name: getattr(labels, name) for name in _DENSE}
    arrays["text"] = np.frombuffer(text.encode(), dtype=np.uint8)
    for name, sparse in labels.sparse.items():
        arrays |= {f"{name}.{part}": getattr(sparse, part) for part in _PARTS}
    with replacing(path) as temporary:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary)


def load_labels(path: Path) -> SoftLabels:
    """Read a file of soft labels; raises DataError for a missing or damaged one."""
    try:
        arrays = load_file(path)
        text = json.loads(arrays["text"].tobytes())
        names = [name.removesuffix(".probs") for name in arrays if name.endswith(".probs")]
        return SoftLabels(
            words=text["words"],
            lemmas=text["lemmas"],
            **{name: arrays[name] for name in _DENSE},
            sparse={
                name: SparseProbs(**{part: arrays[f"{name}.{part}"] for part in _PARTS})
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
    return DataError(
        f"{path}: expected soft labels made by capsrl distill, got {error}; delete the file and "
        "run the command again"
    )


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
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _DENSE},
        sparse=sparse,
    )
