"""Frames, recipes, and what training reads and writes; most of it needs torch."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from capsrl.frames.index import FrameIndex
from capsrl.frames.xml import read_frames
from capsrl.recipe import read_recipe
from torture.models import SHIPPED
from torture.target import Target, Wrong, folder, write

_FRAMES = b"""<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE frameset SYSTEM "frameset.dtd">
<frameset><predicate lemma="sell"><roleset id="sell.01" name="commerce: seller"><aliases>
<alias pos="v">sell</alias></aliases><roles><role descr="Seller" f="PAG" n="0"><rolelinks>
<rolelink class="give-13.1" resource="VerbNet" version="verbnet3.4">agent</rolelink></rolelinks>
</role><role descr="Thing Sold" f="PPT" n="1"/></roles><lexlinks><lexlink class="Commerce_sell"
confidence="0.8" resource="FrameNet" version="1.7" src="x"/></lexlinks></roleset></predicate>
</frameset>"""
_RECIPE = b"""[data]
train = "a.conll09"
dev = "b.jsonl"
[model]
embeddings.learned = 8
encoder.width = 64
[train]
epochs = 3
learning_rate = 1e-3
seed = 7
"""
_VECTORS = "4 3\nthe 0.1 -0.2 3e-2\ndog 1 2 3\nbarks -1 .5 0\nzé 0 0 0\n".encode()


def frames() -> Iterator[Target]:
    """Frames and recipes."""
    xml = lambda data: read_frames(write("frames/sell.xml", data).parent)  # noqa: E731
    yield Target("frames.xml", [_FRAMES], xml)
    tsv = b"".join(islice((SHIPPED / "frames.tsv").read_bytes().splitlines(True), 60))
    yield Target("frames.tsv", [tsv], lambda data: FrameIndex.load(write("frames.tsv", data)))
    recipe = lambda data: read_recipe(write("recipe.toml", data))  # noqa: E731
    yield Target("recipe", [_RECIPE], recipe, cost=3)


def training() -> Iterator[Target]:
    """Word vectors, descriptions, checkpoints and soft labels."""
    yield from _vectors()
    yield from _tensors()


def _vectors() -> Iterator[Target]:
    """Word vectors as text and as fastText writes them."""
    import numpy as np

    from tests.network.embeddings.test_vector_files import write_bin

    rows = np.arange(16.0).reshape(8, 2)
    binary = write_bin(folder() / "a.bin", ["the", "dog", "zé"], rows).read_bytes()
    for name, seed in (("words.vec", _VECTORS), ("words.bin", binary)):
        yield Target(f"vectors/{name}", [seed], partial(_look_up, name))


def _look_up(name: str, data: bytes) -> object:
    from capsrl.network.embeddings.fasttext import look_up
    from capsrl.network.embeddings.vector_files import open_vectors

    vectors = open_vectors(write(name, data))
    return [look_up(vectors, word) for word in ("dog", "barking", "zé")]


def _tensors() -> Iterator[Target]:
    import numpy as np
    import torch
    from safetensors.numpy import save_file

    from capsrl.files.sealing import PLACE, seal
    from capsrl.frames.descriptions import Descriptions
    from capsrl.train.checkpoint import load_checkpoint
    from capsrl.train.soft_labels import load_labels

    torch.set_num_threads(1)
    path = folder() / "descriptions.safetensors"
    Descriptions(np.ones((2, 4), np.float32), {"see.01": {"A0": 0, "A1": 1}}).save(path)
    load = lambda data: Descriptions.load(write("d.safetensors", data))  # noqa: E731
    yield Target("descriptions", [path.read_bytes()], load)
    path = folder() / "sealed.safetensors"
    save_file({"a": np.arange(12, dtype=np.float32)}, path, metadata=PLACE)
    seal(path)
    good = path.read_bytes()
    yield Target("checkpoint", [good], partial(_open_sealed, good, load_checkpoint))
    yield Target("soft labels", [good], partial(_open_sealed, good, load_labels))


def _open_sealed(good: bytes, read: Callable[[Path], object], data: bytes) -> object:
    from capsrl.files.sealing import check_seal

    file = write("damaged.safetensors", data)
    if check_seal(file) and data != good:
        raise Wrong("damage that the seal does not show")
    return read(file)
