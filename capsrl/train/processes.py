"""The processes of a run, and the signals that stop it.

Started by `torchrun`, each process trains on its share of the sentences of a batch and the
gradients are summed, so that a step equals that of one process on the whole batch. Dropout is
drawn independently by each process. Only the main process scores and writes files.
"""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType

import torch
from torch import Tensor, distributed

from capsrl.network.backend import find_device

# The others wait while the main process scores the dev and test files.
TIMEOUT = timedelta(hours=6)


class Processes:
    """The processes of a run, as one of them sees it.

    device      of this process: the given one, by default its GPU if there is one
    rank        number of this process, 0 for the main one
    world_size  number of processes
    """

    def __init__(self, device: str | None = None) -> None:
        self.world_size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = 0
        self.device = find_device(device)
        if self.world_size > 1:
            self.rank = int(os.environ["RANK"])
            if self.device.type == "cuda":
                self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
                torch.cuda.set_device(self.device)
            backend = "nccl" if self.device.type == "cuda" else "gloo"
            distributed.init_process_group(backend, timeout=TIMEOUT)

    @property
    def is_main(self) -> bool:
        """Whether this is the process that scores and writes files."""
        return self.rank == 0

    def share(self, items: Sequence[int]) -> list[int]:
        """Select this process's share of a batch; it may be empty."""
        return list(items[self.rank :: self.world_size])

    def sum(self, tensor: Tensor) -> None:
        """Replace a tensor by its sum over all processes."""
        if self.world_size > 1:
            distributed.all_reduce(tensor)

    def gather(self, tensor: Tensor) -> Tensor:
        """Stack the tensors of all processes by rank, on the CPU."""
        if self.world_size == 1:
            return tensor.unsqueeze(0)
        tensor = tensor.to(self.device)
        gathered = [torch.empty_like(tensor) for _ in range(self.world_size)]
        distributed.all_gather(gathered, tensor)
        return torch.stack(gathered).cpu()

    def broadcast(self, value: float) -> float:
        """Give the main process's value to every process."""
        return float(self.gather(torch.tensor(value, dtype=torch.float64))[0])

    def any_true(self, flag: bool) -> bool:
        """Tell every process whether the flag is true in any of them."""
        return bool(self.gather(torch.tensor(float(flag))).any())

    def wait(self) -> None:
        """Wait until all processes have reached this point."""
        if self.world_size > 1:
            distributed.barrier()

    def close(self) -> None:
        """Shut down the process group."""
        if self.world_size > 1:
            distributed.destroy_process_group()


@contextmanager
def defer_signals() -> Iterator[threading.Event]:
    """Turn the first Ctrl-C or SIGTERM into a request to stop; the second one acts immediately.

    The request is granted between two steps, where the state of a run is consistent.
    """
    request = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield request  # only the main thread may install handlers
        return

    def handle(number: int, frame: FrameType | None) -> None:
        request.set()
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
