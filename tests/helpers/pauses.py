"""Training that waits at a checkpoint, so that a signal never comes after its end."""

import os
from pathlib import Path


def pause_at(checkpoint: int | None) -> dict[str, str]:
    """Variables with which processes wait for a signal before they replace a checkpoint.

    checkpoint  how manieth of a process; None for processes that do not wait
    """
    if checkpoint is None:
        return {}
    path = [str(Path(__file__).parent / "pausing"), os.environ.get("PYTHONPATH")]
    return {
        "PAUSE_AT_CHECKPOINT": str(checkpoint),
        "PYTHONPATH": os.pathsep.join(filter(None, path)),
    }
