"""`reproduce` uses only public modules and names of capsrl, and few packages to make runs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reproduce
from reproduce.results import read_results
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


# On a machine with a GPU there may be little more than torch. Read by Python when it starts, in the
# workers too.
WITHOUT = """
import sys
names = "pydantic scipy matplotlib jinja2 markdown_it onnxruntime onnx rich click h5py spacy pandas"
sys.modules.update(dict.fromkeys(names.split()))
"""


def test_runs_need_little_more_than_torch(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    text = corpus(changes=["train.epochs = 1"]) + EXPERIMENT.replace('"baseline", ', "")
    plan = write_plan(tmp_path, text)
    done = subprocess.run(
        [sys.executable, "-m", "reproduce", "run", plan.name, "--device", "cpu"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    [run] = read_results(tmp_path / "runs" / "plan")
    assert run.measured.sets["test"].gold_predicates
