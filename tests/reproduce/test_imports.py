"""`reproduce` uses only public modules and names of capsrl, and few packages to make runs."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import reproduce
from reproduce.results import read_results
from tests.helpers.tiny_networks import write_encoder
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
# workers too: every installed package but these and those that they require cannot be imported.
ONLY = """
import re, sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

def plain(name):
    return re.sub("[-_.]+", "-", name.lower())

def add(name, kept):
    if plain(name) not in kept:
        try:
            lines = requires(name) or []
        except PackageNotFoundError:
            return
        kept.add(plain(name))
        for line in lines:
            if "extra ==" not in line:
                add(re.match(r"[\\w.-]+", line)[0], kept)

kept = {"capsrl"}
for name in ("torch", "transformers", "numpy", "safetensors"):
    add(name, kept)
owners = packages_distributions().items()
others = {package for package, names in owners if not any(plain(name) in kept for name in names)}
others |= {"rich", "click", "jinja2"}  # required, but not for training
sys.modules.update(dict.fromkeys(others - sys.modules.keys()))
assert {"pydantic", "scipy", "matplotlib", "h5py", "onnxruntime"} <= others
"""


def test_runs_need_little_more_than_torch(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "sitecustomize.py").write_text(ONLY)
    write_encoder(tmp_path / "bert")
    changes = ["train.epochs = 1", 'model.embeddings.transformer = "./bert"']
    text = corpus(changes=[*changes, "train.cache_states = true"]) + EXPERIMENT
    plan = write_plan(tmp_path, text + 'makes = ["table3"]\n')
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "reproduce",
            "run",
            plan.name,
            "--device",
            "cpu",
            "--only",
            "table3",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "no table3.html: reports need scipy and matplotlib" in done.stdout
    assert "sitecustomize" not in done.stderr  # Python reports its errors and goes on without it
    assert [run.variant for run in read_results(tmp_path / "runs" / "plan")] == [
        "baseline",
        "capsule",
    ]
