"""A single process; several are tested in test_resume.py."""

import torch

from capsrl.train.processes import Processes


def test_single_process():
    processes = Processes("cpu")
    assert (processes.rank, processes.world_size, processes.is_main) == (0, 1, True)
    assert processes.share([4, 5, 6]) == [4, 5, 6]
    tensor = torch.tensor([1.0, 2.0])
    processes.sum(tensor)
    assert tensor.tolist() == [1.0, 2.0]
    assert processes.gather(tensor).tolist() == [[1.0, 2.0]]
    assert processes.broadcast(3.5) == 3.5
    assert processes.any_true(True) and not processes.any_true(False)
    processes.close()


def test_shares_are_disjoint_and_complete():
    processes = Processes("cpu")
    processes.world_size = 3
    shares = []
    for processes.rank in range(3):
        shares.append(processes.share([7, 8, 9, 10]))
    assert shares == [[7, 10], [8], [9]]
    assert processes.share([7]) == []
