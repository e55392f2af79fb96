"""Write a folder of soft labels; `capsrl.train.soft_labels` says what is in it.

Shards are written atomically; a run that was killed writes those that are missing.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from capsrl.errors import ConfigError
from capsrl.files.opening import file_digest, open_writer
from capsrl.files.replacing import replacing
from capsrl.files.sealing import PLACE, seal
from capsrl.network.backend import TorchBackend, find_device
from capsrl.predict.predictor import find_lemmas
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import (
    DENSE,
    MANIFEST,
    SOFT_FORMAT,
    SPARSE,
    SoftLabels,
    inventory_digests,
    shard_path,
)
from teachers.label import label_softly, load_teachers
from teachers.noise import NO_NOISE, Noise, add_noise
from teachers.text import read_unlabeled

SHARD = 4096  # sentences


def distill(
    teachers: Sequence[str],
    texts: Sequence[str],
    folder: Path,
    *,
    part: tuple[int, int] = (0, 1),
    noise: Noise = NO_NOISE,
    device: str | None = None,
) -> int:
    """Label files of text with one or several models; returns the number of shards written.

    teachers     model folders
    part, noise  see `write_shards`
    """
    digests = {os.path.basename(path): file_digest(path) for path in texts}
    if len(digests) < len(texts):
        raise ConfigError("--text: two files have the same name")
    teacher = load_teachers(teachers, find_device(device))
    sentences = (sentence for path in texts for sentence in read_unlabeled(path))
    return write_shards(
        teacher, sentences, folder, teachers=teachers, texts=digests, part=part, noise=noise
    )


def write_shards(
    teacher: TorchBackend,
    sentences: Iterable[Sentence],
    folder: Path,
    *,
    teachers: Sequence[str],
    texts: Mapping[str, str],
    part: tuple[int, int] = (0, 1),
    noise: Noise = NO_NOISE,
) -> int:
    """Label sentences and write the shards that are missing; returns how many were written.

    Only the sentences of one shard are in memory at a time.

    teachers  names for the manifest
    texts     name -> digest of the files that the sentences come from
    part      (k, n): write every n-th shard from the k-th on, so that n processes share the work
    noise     of some of the sentences, by the number of the shard: a resumed run has the same
    Raises ConfigError if the folder has the labels of other teachers, texts or noise.
    """
    manifest: dict[str, Any] = {
        "format": SOFT_FORMAT,
        "teachers": list(teachers),
        "texts": dict(texts),
        "noise": asdict(noise),
        "inventory": inventory_digests(teacher.inventory),
    }
    folder.mkdir(parents=True, exist_ok=True)
    _check_manifest(folder, manifest)
    n_sentences = n_shards = n_written = 0
    stream = (sentence for sentence in sentences if sentence.words)
    while chunk := list(islice(stream, SHARD)):
        path = shard_path(folder, n_shards)
        if n_shards % part[1] == part[0] and not path.exists():
            labels = label_softly(teacher, chunk)
            save_labels(path, _with_noise(labels, noise, teacher, seed=n_shards))
            n_written += 1
        n_shards += 1
        n_sentences += len(chunk)
    # If there are several processes, each of them writes the same.
    _write_manifest(folder, {**manifest, "sentences": n_sentences, "shards": n_shards})
    return n_written


def _with_noise(
    labels: SoftLabels, noise: Noise, teacher: TorchBackend, *, seed: int
) -> SoftLabels:
    inventory = teacher.inventory

    def find_lemma(word: str, tag: str) -> str:
        (lemma,) = find_lemmas(Sentence((word,), tags=(tag,) if tag else None), [0], inventory)
        return lemma

    def length_of(words: Sequence[str]) -> int:
        return teacher.network.index(Sentence(tuple(words)), gold=False).length

    return add_noise(
        labels,
        noise,
        seed=seed,
        tags=list(inventory.tags),
        find_lemma=find_lemma,
        length_of=length_of,
    )


def save_labels(path: Path, labels: SoftLabels) -> None:
    """Write soft labels to a safetensors file, atomically."""
    text = json.dumps({"words": labels.words, "lemmas": labels.lemmas})
    arrays = {name: getattr(labels, name) for name in DENSE}
    arrays["text"] = np.frombuffer(text.encode(), dtype=np.uint8)
    for name, sparse in labels.sparse.items():
        arrays |= {f"{name}.{part}": getattr(sparse, part) for part in SPARSE}
    with replacing(path) as temporary:
        contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        save_file(contiguous, temporary, metadata=PLACE)
        seal(temporary)


def _check_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest, or compare it with the one that exists."""
    file = folder / MANIFEST
    if not file.exists():
        _write_manifest(folder, manifest)
        return
    found = json.loads(file.read_text(encoding="utf-8"))
    different = [key for key in manifest if found.get(key) != manifest[key]]
    if different:
        raise ConfigError(
            f"{folder}: was made with other {', '.join(different)}; name another folder with --out"
        )


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    # Several processes may write at the same time, each to a temporary file of its own.
    with open_writer(folder / MANIFEST) as file:
        file.write(json.dumps(manifest, indent=1) + "\n")
