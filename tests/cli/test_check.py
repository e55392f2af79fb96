"""`capsrl check`: damage in models, checkpoints, soft labels and outputs of bulk."""

import hashlib
import shutil

import pytest

from capsrl.bulk.monitor import RunLog
from capsrl.bulk.plan import PLAN, Plan
from capsrl.bulk.storage import Folder
from capsrl.files.sealing import PLACE, seal
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST, shard_name
from capsrl.tables.pipeline import Totals
from tests.helpers.bulk_plans import SETTINGS, planned


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


def test_outputs_of_bulk(capsrl, tmp_path):
    folder = Folder(str(tmp_path / "out"))
    plan = Plan(SETTINGS, 10, [planned("a", 40, 10)])
    plan.write(folder)
    log = RunLog(folder)
    for shard in (0, 1, 2):
        folder.write(plan.name(shard), b"abc")
        digest = hashlib.sha256(b"abc").hexdigest()
        log.write("shard", shard=shard, **Totals().to_dict(), size=3, sha256=digest)
    assert capsrl("check", tmp_path).out == f"{tmp_path / 'out'}: whole\n"
    flip(tmp_path / "out" / plan.name(1))
    (tmp_path / "out" / plan.name(2)).unlink()
    done = capsrl("check", tmp_path)
    assert (done.code, done.out) == (2, "")
    for shard in (1, 2):
        assert f"{tmp_path}/out/{plan.name(shard)}: missing, or not as the log says" in done.err
    (tmp_path / "out" / PLAN).write_text('{"format": 2}\n')
    assert f"{PLAN}: not a plan of capsrl bulk" in capsrl("check", tmp_path).err


def test_nothing_to_check(capsrl, tmp_path):
    done = capsrl("check", tmp_path)
    assert done.code == 2
    assert f"{tmp_path}: nothing to check: no manifest.json" in done.err
