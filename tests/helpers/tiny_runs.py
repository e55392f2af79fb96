"""Runs of the tiny recipe, small enough for many tests, in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TINY = ROOT / "recipes" / "tiny.toml"
# Dropout, so that a lost random state shows; checkpoints at steps that end no epoch.
SETTINGS = (
    "train.epochs=8",
    "train.checkpoint_every=3",
    "model.encoder.dropout=0.3",
    "model.encoder.width=16",
    "model.capsules.rank=16",
    "train.seed=5",
)


def command(folder: Path, *settings: str) -> list[str]:
    """The arguments with which Python makes a small run."""
    sets = [part for setting in settings for part in ("--set", setting)]
    return ["-m", "capsrl", "train", str(TINY), "--out", str(folder), "--device", "cpu", *sets]


def start(arguments: list[str]) -> subprocess.Popen[str]:
    """Start Python with these arguments, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
