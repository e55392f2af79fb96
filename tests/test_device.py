"""The device and the number of threads that labeling computes with."""

import os
import sys

import pytest

from capsrl import device


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            "__version__ = '2.13.0+cpu'\ncuda: Optional[str] = None\nhip: Optional[str] = None",
            False,
        ),
        ("cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n", True),
        ("cuda = None\nhip: Optional[str] = '6.4'\n", True),
        ("# as torch may write it one day", True),
        (None, True),
    ],
)
def test_a_driver_alone_is_no_gpu(tmp_path, monkeypatch, version, expected):
    """The GPU of a machine is of no use to a torch that was built for CPUs."""
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    if version is not None:
        (package / "version.py").write_text(version)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    monkeypatch.setattr(device, "_DRIVER", package)
    assert device.may_have_gpu() == expected
    monkeypatch.setattr(device, "_DRIVER", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not device.may_have_gpu()


@pytest.mark.parametrize(
    ("own", "files", "cores"),
    [
        ("0::/\n", {"cpu.max": "150000 100000\n"}, 2),
        ("0::/\n", {"cpu.max": "50000 100000\n"}, 1),
        ("0::/\n", {"cpu.max": "max 100000\n"}, None),
        ("0::/\n", {"cpu.max": "nonsense\n"}, None),
        ("0::/\n", {}, None),
        ("0::/s/u\n", {"s/u/cpu.max": "300000 100000", "s/cpu.max": "max 100000"}, 3),
        ("0::/s/u\n", {"s/u/cpu.max": "max 100000", "s/cpu.max": "200000 100000"}, 2),
        ("0::/not/seen\n", {"cpu.max": "200000 100000"}, 2),
        ("0::/../seen:from\n", {"cpu.max": "200000 100000"}, 2),
        ("4:cpu,cpuacct:/\n3:memory:/m\n0::/\n", {"cpu/cpu.cfs_quota_us": "300000\n"}, 3),
        ("4:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n"}, None),
        ("4:cpuset:/c\n4:cpu:/s\n", {"cpu/s/cpu.cfs_quota_us": "300000\n"}, 3),
        ("4:cpuset:/c\n", {"cpu/c/cpu.cfs_quota_us": "300000\n"}, None),
    ],
)
def test_cores_respect_the_quotas_of_control_groups(own, files, cores, tmp_path, monkeypatch):
    for name, text in files.items():
        group = (tmp_path / "fs" / name).parent
        group.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(text)
        (group / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "own").write_text(own)
    monkeypatch.setattr(device, "_CGROUP", tmp_path / "fs")
    monkeypatch.setattr(device, "_OWN_CGROUPS", tmp_path / "own")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert device.available_cores() == (cores or 8)


@pytest.mark.parametrize(("load", "threads"), [(0.5, 8), (8.0, 8), (13.0, 1)])
def test_a_busy_machine_gets_one_thread(load, threads, tmp_path, monkeypatch):
    monkeypatch.setattr(device, "_OWN_CGROUPS", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))
    assert device.default_threads() == threads
