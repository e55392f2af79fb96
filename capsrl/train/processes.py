"""One process, or several that share the work of every batch.

Started by `accelerate launch`, each process learns from its share of the sentences of a batch and
the gradients are added up, so that the step is that of one process on the whole batch. Dropout is
drawn by each process on its own. Only the main process scores and writes.
"""

import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from capsrl.device import find_device
from capsrl.errors import ConfigError


class Processes:
    """One process and its like.

    device   of the process; given, or the GPU if there is one
    """

    def __init__(self, device: str | None = None) -> None:
        self._accelerator: Any = None
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = 0
        if self.count > 1:
            self._accelerator = _make_accelerator(device)
            self.rank = self._accelerator.process_index
            found = self._accelerator.device
            # "cpu:0" is not "cpu" to torch, which would copy every tensor from one to the other.
            self.device = torch.device("cpu") if found.type == "cpu" else torch.device(found)
        else:
            self.device = find_device(device)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that scores and writes."""
        return self.rank == 0

    def share(self, items: Sequence[int]) -> list[int]:
        """The part of a batch that is this process's; may be empty."""
        return list(items[self.rank :: self.count])

    def add_up(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes."""
        if self._accelerator is not None:
            tensor.copy_(self._accelerator.reduce(tensor, reduction="sum"))

    def gather(self, tensor: Tensor) -> Tensor:
        """The tensors of all processes, stacked by rank."""
        if self._accelerator is None:
            return tensor.unsqueeze(0)
        gathered: Tensor = self._accelerator.gather(tensor.to(self.device).unsqueeze(0))
        return gathered.cpu()

    def agree(self, value: float) -> float:
        """The main process's value, in every process; those that come early wait here."""
        if self._accelerator is None:
            return value
        shared = torch.tensor(value if self.is_main else 0.0, dtype=torch.float64)
        shared = shared.to(self.device)
        self.add_up(shared)
        return float(shared)

    def any(self, flag: bool) -> bool:
        """Whether the flag is up in any process."""
        if self._accelerator is None:
            return flag
        votes = torch.tensor(float(flag), device=self.device)
        self.add_up(votes)
        return bool(votes)

    def wait(self) -> None:
        """Until all processes have come here."""
        if self._accelerator is not None:
            self._accelerator.wait_for_everyone()

    def close(self) -> None:
        """Part from the others in good order."""
        if self._accelerator is not None:
            self._accelerator.end_training()


def _make_accelerator(device: str | None) -> Any:  # noqa: ANN401 - accelerate has no types
    try:
        from accelerate import Accelerator
    except ImportError:
        raise ConfigError(
            "several processes need accelerate: pip install 'capsrl[accelerate]'"
        ) from None
    return Accelerator(cpu=device == "cpu", mixed_precision="no")
