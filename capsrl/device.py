"""Which device computes, and with how many threads."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from capsrl.errors import ConfigError

if TYPE_CHECKING:  # counting cores needs no torch
    import torch

_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_NO_QUOTA = 1 << 20
_BUSY = 1.5  # runnable processes per core; our own threads alone make about 1


def find_device(name: "str | torch.device | None" = None) -> "torch.device":
    """The device of this name, or the GPU if there is one.

    Raises ConfigError for a device that this machine does not have.
    """
    import torch

    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ConfigError(f"device: expected cpu, cuda or cuda:N, got {name}")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        found = torch.cuda.device_count()
        raise ConfigError(f"device: expected a GPU of this machine, which has {found}, got {name}")
    return device


def available_cores() -> int:
    """The cores that this process may use: its affinity, and the CPU quota of its container."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min(cores, _quota()))


def default_threads() -> int:
    """All available cores; one on a busy machine, where threads mostly wait for each other."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return 1 if load > _BUSY * (os.cpu_count() or 1) else available_cores()


@contextmanager
def limited_threads(number: int) -> Iterator[None]:
    """Let torch compute with at most this many threads."""
    import torch

    before = torch.get_num_threads()
    if number >= before:
        yield
        return
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _quota() -> int:
    """The smallest CPU quota of the control groups of this process, in whole cores."""
    return min(map(_quota_of, _control_groups()), default=_NO_QUOTA)


def _control_groups() -> Iterator[Path]:
    """The folders of the groups that share out CPU time: that of this process and those above it.

    A container may see its own group as the root, whatever path the kernel tells.
    """
    try:
        lines = _OWN_CGROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:  # hierarchy:controllers:path
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = _CGROUP / "cpu" if controllers else _CGROUP  # version 2 names no controllers
        own = root / path.lstrip("/")
        yield from (own, *own.parents[: len(own.parts) - len(root.parts)])


def _quota_of(group: Path) -> int:
    try:  # version 2: "max 100000" or "150000 100000"
        quota, period = (group / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:  # version 1: -1 without a quota
            quota = (group / "cpu.cfs_quota_us").read_text().strip()
            period = (group / "cpu.cfs_period_us").read_text().strip()
        except OSError:
            return _NO_QUOTA
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return _NO_QUOTA
    return math.ceil(int(quota) / int(period))
