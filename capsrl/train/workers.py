"""Make batches in other processes, where a thread cannot keep up with a GPU.

A thread (prefetch.py) and the training loop slow each other down, as only one of them can run
Python code at a time.
"""

import multiprocessing
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from capsrl.errors import ConfigError
from capsrl.network.batches import Batch, map_leaves

Item = TypeVar("Item")


def make_batches(
    make: Callable[[Item], Batch | None], items: Sequence[Item], *, n_workers: int
) -> Generator[Batch | None, None, None]:
    """Yield `make(item)` for every item, in order, made by worker processes.

    The workers are forked, so they share the memory of this process. An exception in a worker is
    raised here in its turn. Closing the generator ends the workers.
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
            _Made(make, items),
            batch_size=None,
            num_workers=n_workers,
            collate_fn=_identity,
            multiprocessing_context="fork",
            generator=torch.Generator(),  # else a seed would be drawn from that of the run
        )
        batches = iter(loader)
    for arrays in batches:
        batch: Batch | None = map_leaves(arrays, np.ndarray, torch.from_numpy)
        yield batch


class _Made(Dataset[Any]):
    """The batches, with arrays for tensors: sending a tensor would open a file for each."""

    def __init__(self, make: Callable[[Item], Batch | None], items: Sequence[Item]) -> None:
        self._make: Callable[[Any], Batch | None] = make
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, number: int) -> Any:  # noqa: ANN401
        return map_leaves(self._make(self._items[number]), Tensor, Tensor.numpy)


def _identity(value: Any) -> Any:  # noqa: ANN401
    return value
