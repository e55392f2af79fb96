"""Plans whose runs take a second or two, in a folder of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.helpers.pauses import pause_at

ROOT = Path(__file__).resolve().parents[2]
CORPUS = """
[corpora.{name}]
recipe = "{recipe}"
set = {{ {set} }}
train = "corpus/train.conll09"
dev = "corpus/dev.conll09"
test = "corpus/dev.conll09"
"""
SMALL = "model.encoder.width = 8, model.capsules.rank = 8, model.capsules.size = 4"
EXPERIMENT = """
[[experiments]]
corpora = ["one"]
variants = ["baseline", "capsule"]
seeds = [1]
"""


def corpus(name="one", *, changes=(), recipe=ROOT / "recipes" / "tiny.toml"):
    """The table of a corpus of a plan; changes are `a.b = c`."""
    return CORPUS.format(name=name, recipe=recipe, set=", ".join([SMALL, *changes]))


def write_plan(folder, text):
    """A plan with these tables, in a folder with the tiny corpus."""
    folder.mkdir(exist_ok=True)
    if not (folder / "corpus").exists():
        shutil.copytree(ROOT / "recipes" / "tiny", folder / "corpus")
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8")
    return path


def start(*arguments, folder, pause=None):
    """Start `python -m reproduce` in a folder; `pause` is that of `pause_at`."""
    environment = os.environ | pause_at(pause)
    path = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", "reproduce", *map(str, arguments)],
        cwd=folder,
        env={**environment, "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
