"""Training that waits at a checkpoint, so that a signal never comes after its end."""

import os
import subprocess
from pathlib import Path

from tests.helpers.waiting import wait_until


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


def wait_for_pause(process: subprocess.Popen[str], *folders: Path) -> None:
    """Wait until the runs in these folders wait; until then their checkpoints may change."""
    for folder in folders:
        wait_until((folder / "paused").exists, process)
        (folder / "paused").unlink()
