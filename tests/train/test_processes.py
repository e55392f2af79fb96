"""One process needs nobody; several are tested in test_resume.py."""

import sys

import pytest
import torch

from capsrl.errors import ConfigError
from capsrl.train.processes import Processes, find_device


def test_alone_everything_is_ours():
    processes = Processes("cpu")
    assert (processes.rank, processes.count, processes.is_main) == (0, 1, True)
    assert processes.share([4, 5, 6]) == [4, 5, 6]
    tensor = torch.tensor([1.0, 2.0])
    processes.add_up(tensor)
    assert tensor.tolist() == [1.0, 2.0]
    assert processes.gather(tensor).tolist() == [[1.0, 2.0]]
    assert processes.agree(3.5) == 3.5
    assert processes.any(True) and not processes.any(False)
    processes.close()


def test_shares_are_disjoint_and_complete():
    processes = Processes("cpu")
    processes.count = 3
    shares = []
    for processes.rank in range(3):
        shares.append(processes.share([7, 8, 9, 10]))
    assert shares == [[7, 10], [8], [9]]
    assert processes.share([7]) == []


def test_several_processes_need_accelerate(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setitem(sys.modules, "accelerate", None)
    message = r"several processes need accelerate: pip install 'capsrl\[accelerate\]'"
    with pytest.raises(ConfigError, match=message):
        Processes("cpu")


@pytest.mark.parametrize("name", ["gpu", "tpu:0", "meta"])
def test_an_unknown_device_is_named(name):
    with pytest.raises(ConfigError, match=f"--device: expected cpu, cuda or cuda:N, got {name}"):
        find_device(name)


def test_a_gpu_that_is_not_there_is_named():
    n_gpus = torch.cuda.device_count()
    message = f"--device: expected one of {n_gpus} GPUs here, got cuda:{n_gpus}"
    with pytest.raises(ConfigError, match=message):
        find_device(f"cuda:{n_gpus}")
    assert find_device(None).type == ("cuda" if n_gpus else "cpu")
    assert find_device("cpu") == torch.device("cpu")
