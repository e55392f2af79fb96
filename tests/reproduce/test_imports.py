"""`reproduce` uses only public modules and names of capsrl."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reproduce
from tests.helpers.tiny_plans import EXPERIMENT, ROOT, corpus, write_plan

PUBLIC = {
    "capsrl",
    "capsrl.config",
    "capsrl.files.opening",
    "capsrl.formats.formats",
    "capsrl.device",
    "capsrl.errors",
    "capsrl.labeler",
    "capsrl.models",
    "capsrl.network.backend",
    "capsrl.recipe",
    "capsrl.score",
    "capsrl.sentence",
    "capsrl.show.drawing",
    "capsrl.train.checkpoint",
    "capsrl.train.loop",
}


def test_imports_of_capsrl():
    for path in Path(reproduce.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in getattr(node, "names", []) if "capsrl" in alias.name]
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("capsrl"):
                assert node.module in PUBLIC, path
                assert not any(alias.name.startswith("_") for alias in node.names), path
            elif isinstance(node, ast.Import):
                assert set(names) <= PUBLIC, path


# On a machine with a GPU there may be little more than torch.
LIGHT = """
import sys
allowed = {"torch", "transformers", "numpy", "safetensors", "tokenizers", "capsrl", "reproduce"}
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in {"pydantic", "scipy", "matplotlib", "jinja2", "markdown_it", "onnxruntime",
                    "onnx", "rich", "click", "h5py", "spacy", "pandas"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Finder())
from reproduce.__main__ import main
sys.exit(main(sys.argv[1:]))
"""


def test_runs_are_made_with_little_more_than_torch(tmp_path):
    pytest.importorskip("torch")
    plan = write_plan(tmp_path, corpus(changes=["train.epochs = 1"]) + EXPERIMENT)
    command = [sys.executable, "-c", LIGHT, "run", str(plan), "--out", str(tmp_path / "runs")]
    # In this process, to be sure that the workers too are without the others.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*command, "--device", "cpu", "--dry-run"], env=environment, capture_output=True, text=True
    )
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stderr
