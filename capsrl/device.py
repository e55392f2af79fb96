"""What this machine has to compute with: cores, and perhaps a GPU; without torch."""

import math
import os
import re
import shutil
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

_DRIVER = Path("/dev/nvidiactl")
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_NO_QUOTA = 1 << 20
_BUSY = 1.5  # runnable processes per core; our own threads alone make about 1


def may_have_gpu() -> bool:
    """Whether there is a GPU that torch can use, as far as can be told without importing it."""
    has_driver = _DRIVER.exists() or shutil.which("nvidia-smi") is not None
    return has_driver and _is_for_gpus(find_spec("torch"))


def _is_for_gpus(torch: ModuleSpec | None) -> bool:
    """Whether torch is installed, and not a build for CPUs alone, in which `version.cuda` is None.

    Names of versions and libraries tell less: they differ between pip, conda and own builds.
    """
    if torch is None or torch.origin is None:
        return False
    try:
        text = Path(torch.origin).with_name("version.py").read_text(encoding="utf-8")
    except OSError:
        return True
    values = re.findall(r"^(?:cuda|hip)\b.*= *(.+)$", text, re.MULTILINE)
    return not values or any(value != "None" for value in values)


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
