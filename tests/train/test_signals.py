"""Signals are deferred once and handlers are restored."""

import signal
import threading

import pytest

from capsrl.train.signals import defer_signals


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_is_deferred(number):
    before = signal.getsignal(number)
    with defer_signals() as request:
        assert not request.is_set
        signal.raise_signal(number)
        assert request.is_set
    assert signal.getsignal(number) is before


def test_second_signal_acts_immediately():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), defer_signals() as request:
        signal.raise_signal(signal.SIGINT)
        assert request.is_set
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_other_threads_install_no_handlers():
    stops = []

    def work():
        with defer_signals() as request:
            stops.append(request.is_set)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert stops == [False]
