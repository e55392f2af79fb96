"""The models that ship with capsrl."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import capsrl
from capsrl.errors import ModelError
from capsrl.models import find_model, shipped_models


def test_a_name_or_a_folder(tmp_path):
    assert find_model("en") == shipped_models()["en"]
    assert find_model(tmp_path) == find_model(str(tmp_path)) == tmp_path


def test_neither():
    message = r"^zz: not a model folder, nor the name of a model that ships with capsrl \(en\)$"
    with pytest.raises(ModelError, match=message):
        find_model("zz")


def test_from_a_zip_file(tmp_path):
    """Modules can be imported from one; onnxruntime needs the files of a model in a folder."""
    package = Path(capsrl.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__", "*.onnx", "*.safetensors", "static")
    shutil.copytree(package, tmp_path / "copy" / "capsrl", ignore=ignored)
    archive = shutil.make_archive(str(tmp_path / "app"), "zip", tmp_path / "copy")
    code = """
import sys, capsrl
try:
    capsrl.load()
except capsrl.ModelError as error:
    print(error)
capsrl.load(sys.argv[1])
print(capsrl.__file__)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, shipped_models()["en"]],
        env={"PYTHONPATH": archive},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        f"en: capsrl runs from the archive {archive}, and models must be folders; unpack the "
        "archive, or give the path of a model folder",
        f"{archive}/capsrl/__init__.py",
    ]
