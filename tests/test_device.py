"""The device and the number of threads that labeling computes with."""

import os

import pytest
import torch

from capsrl import device
from capsrl.errors import ConfigError


def test_find_device():
    assert device.find_device("cpu") == torch.device("cpu")
    assert device.find_device() == torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_gpus = torch.cuda.device_count()
    with pytest.raises(ConfigError, match=f"which has {n_gpus}, got cuda:{n_gpus}"):
        device.find_device(f"cuda:{n_gpus}")
    for name in ("tpu", "meta", "cuda:x"):
        with pytest.raises(ConfigError, match=f"device: expected cpu, cuda or cuda:N, got {name}"):
            device.find_device(name)


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


def test_threads_are_limited_for_a_while():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with device.limited_threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
        with device.limited_threads(8):  # never more than the caller has allowed
            assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
