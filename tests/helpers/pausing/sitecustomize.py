"""Python imports this first where its folder is in PYTHONPATH; see tests.helpers.pauses."""

import os
import signal
import sys
import time

_n_checkpoints = 0


def _find_handlers() -> list:
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def _pause(event: str, arguments: tuple) -> None:
    """Wait for a signal before the checkpoint of the given number replaces the one before it."""
    global _n_checkpoints
    if event != "os.rename" or not str(arguments[1]).endswith("checkpoint.safetensors"):
        return
    _n_checkpoints += 1
    if _n_checkpoints == int(os.environ["PAUSE_AT_CHECKPOINT"]):
        before = _find_handlers()
        open(os.path.join(os.path.dirname(arguments[1]), "paused"), "w").close()
        while _find_handlers() == before:  # the first signal makes training replace them
            time.sleep(0.01)


sys.addaudithook(_pause)
