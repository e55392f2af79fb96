"""A single process, several are tested in test_resume.py; signals are deferred once."""

import signal
import threading

import pytest
import torch

from capsrl.train.processes import Processes, defer_signals


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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_is_deferred(number):
    before = signal.getsignal(number)
    with defer_signals() as request:
        assert not request.is_set()
        signal.raise_signal(number)
        assert request.is_set()
    assert signal.getsignal(number) is before


def test_second_signal_acts_immediately():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), defer_signals() as request:
        signal.raise_signal(signal.SIGINT)
        assert request.is_set()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_install_no_handlers():
    stops = []

    def work():
        with defer_signals() as request:
            stops.append(request.is_set())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert stops == [False]
