"""Small runs of the tiny recipe in separate processes."""

import os
import subprocess
import sys
from pathlib import Path

from tests.helpers.pauses import pause_at

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = ROOT / "recipes" / "tiny.toml"
# With dropout, so that a lost random state shows, and checkpoints within epochs.
SETTINGS = (
    "train.epochs=8",
    "train.checkpoint_every=3",
    "model.encoder.dropout=0.3",
    "model.encoder.width=16",
    "model.capsules.rank=16",
    "train.seed=5",
    "train.max_spike=4",
)


def command(folder: Path, *settings: str) -> list[str]:
    """Make the arguments of Python that train a small model."""
    sets = [part for setting in settings for part in ("--set", setting)]
    return ["-m", "capsrl", "train", str(TINY), "--out", str(folder), "--device", "cpu", *sets]


def start(arguments: list[str], *, pause: int | None = None) -> subprocess.Popen[str]:
    """Start Python with these arguments in a separate process; `pause` is that of `pause_at`."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", **pause_at(pause)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
