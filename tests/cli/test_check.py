"""`capsrl check`: damage in models, checkpoints and soft labels."""

import shutil

import pytest

from capsrl.files.sealing import PLACE, seal
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST, shard_name


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def test_a_model_by_name(capsrl):
    assert capsrl("check", "en").out == f"{find_model('en')}: whole\n"


def test_a_damaged_model(capsrl, tmp_path):
    shutil.copytree(find_model("en"), tmp_path / "en")
    files = [tmp_path / "en" / name for name in (shard_name(1, 2), "vocab.json")]
    for file in files:
        flip(file)
    done = capsrl("check", tmp_path / "en")
    assert (done.code, done.out) == (2, "")
    for file in files:
        assert f"{file}: expected sum" in done.err


def test_a_folder_of_models_and_checkpoints(capsrl, tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    np = pytest.importorskip("numpy")
    shutil.copytree(find_model("en"), tmp_path / "run" / "model")
    for name in ("checkpoint", "shard-00000"):
        file = tmp_path / "run" / f"{name}.safetensors"
        numpy.save_file({"a": np.arange(9)}, file, metadata=PLACE)
        seal(file)
    done = capsrl("check", tmp_path)
    assert done.out.count(": whole\n") == 3
    flip(file)
    (tmp_path / "run" / "model" / MANIFEST).write_text("{")
    done = capsrl("check", tmp_path)
    assert done.code == 2 and done.out.count(": whole\n") == 1
    assert f"{file}: damaged" in done.err and f"{MANIFEST}: not JSON" in done.err


def test_nothing_to_check(capsrl, tmp_path):
    done = capsrl("check", tmp_path)
    assert done.code == 2
    assert f"{tmp_path}: nothing to check: no manifest.json" in done.err
