"""A way in for bytes from outside, and where inputs are written to be read."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import capsrl
from capsrl.errors import CapsrlError

TEXT = "Mira sold her bicycle to a neighbour. It had not been used, so she did not miss it."
TEXTS = (
    TEXT,
    "Omar, whom I consider a friend, gave up smoking — twice.",
    "No.",
    "Zoë naïvely ran.",
)


class Wrong(Exception):
    """An input was read, but what was read is not right."""


@dataclass(frozen=True)
class Target:
    """A way in.

    seeds     valid inputs
    read      reads an input
    refusals  the errors by which it may refuse one
    cost      how many inputs of the cheapest target take as long as one, about
    """

    name: str
    seeds: Sequence[bytes]
    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = (CapsrlError,)
    cost: int = 1


@cache
def folder() -> Path:
    """A temporary folder, removed when the process ends; in memory where the system can."""
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = tempfile.TemporaryDirectory(prefix="capsrl-torture-", dir=shared)
    _kept.append(made)
    return Path(made.name)


_kept: list[object] = []


def write(name: str, data: bytes) -> Path:
    """Write a file of that folder."""
    path = folder() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@cache
def make_labeler() -> capsrl.Labeler:
    """The English model that ships, in one thread."""
    return capsrl.load(device="cpu", runtime="onnx", threads=1)


@cache
def labeled() -> list[capsrl.Sentence]:
    """The sentences of TEXTS with propositions."""
    labeler = make_labeler()
    return [labeler.inventory.fill_lemmas(each) for text in TEXTS for each in labeler.label(text)]
