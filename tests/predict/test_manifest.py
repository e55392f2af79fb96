import hashlib
import json
import os
import shutil

import numpy as np
import pytest

from capsrl.errors import ModelError
from capsrl.models import find_model
from capsrl.predict.folder import MANIFEST
from capsrl.predict.manifest import (
    check_finite,
    check_manifest,
    find_damage,
    listing,
    sum_of,
    write_manifest,
)


@pytest.fixture
def model(tmp_path):
    """A folder with small files, and a large one."""
    folder = tmp_path / "model"
    (folder / "inner").mkdir(parents=True)
    generator = np.random.default_rng(1)
    for name, size in (("config.json", 100), ("inner/vocab", 100_001), ("empty", 0)):
        (folder / name).write_bytes(generator.bytes(size))
    (folder / "large").write_bytes(generator.bytes((1 << 22) + 4321))
    for name in ("README.md", ".hidden"):
        (folder / name).write_text("not listed")
    write_manifest(folder)
    return folder


def listed(folder):
    return json.loads((folder / MANIFEST).read_text())["files"]


def test_what_is_listed(model):
    assert list(listed(model)) == ["config.json", "empty", "inner/vocab", "large"]
    assert listed(model)["empty"]["sha256"].startswith("e3b0c44298fc1c14")
    check_manifest(model)


@pytest.mark.parametrize("name", ["config.json", "inner/vocab", "large"])
def test_every_changed_byte_is_noticed(model, name):
    data = (model / name).read_bytes()
    places = {0, 7, 8, 4095, 4096, len(data) // 2, len(data) - 1}
    for place in (each for each in places if each < len(data)):
        for bit in (0, 3, 7):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            (model / name).write_bytes(changed)
            with pytest.raises(ModelError, match=f"{name}: expected sum '.*' as in {MANIFEST}"):
                check_manifest(model)
    (model / name).write_bytes(data)
    check_manifest(model)


@pytest.mark.parametrize("name", ["config.json", "inner/vocab", "large"])
def test_bytes_that_are_missing_or_too_many(model, name):
    data = (model / name).read_bytes()
    for changed in (data[:-1], data + b"\n", data[:50] + data[42:50] + data[50:]):
        (model / name).write_bytes(changed)
        message = f"{name}: expected size {len(data)} as in {MANIFEST}, got {len(changed)}; .* copy"
        with pytest.raises(ModelError, match=message):
            check_manifest(model)
    (model / name).unlink()
    with pytest.raises(ModelError, match=f"{os.path.basename(name)} is missing"):
        check_manifest(model)


def test_lines_that_change_places_are_noticed(model):
    """Also if all lines have eight bytes, the size of the numbers that are added up."""
    file = model / "inner" / "vocab"
    lines = [b"line%03d\n" % number for number in range(999)]
    file.write_bytes(b"".join(lines))
    write_manifest(model)
    for one, other in ((0, 1), (5, 500), (2, 510), (3, 900)):
        swapped = list(lines)
        swapped[one], swapped[other] = lines[other], lines[one]
        file.write_bytes(b"".join(swapped))
        with pytest.raises(ModelError, match="vocab: expected sum"):
            check_manifest(model)


def test_what_the_sum_misses_the_digest_finds(model):
    """Numbers of one block of a large file that change places; nothing else does that."""
    file = model / "large"
    data = file.read_bytes()
    file.write_bytes(data[8:16] + data[:8] + data[16:])
    check_manifest(model)
    (damage,) = find_damage(model, thorough=True)
    assert "large: expected sha256" in str(damage)


def test_files_are_listed_again(model):
    before = listed(model)
    (model / "large").write_bytes(b"damaged meanwhile")
    with listing(model, "config.json"):
        assert not (model / MANIFEST).exists()  # a crash leaves a model that is not refused
        (model / "config.json").write_text("{}")
    assert listed(model)["config.json"]["size"] == 2
    assert listed(model)["large"] == before["large"]
    with pytest.raises(ModelError, match="large: expected size"):
        check_manifest(model)


def test_a_failed_change_keeps_the_manifest(model):
    before = listed(model)
    with pytest.raises(KeyError), listing(model, "config.json"):
        raise KeyError
    assert listed(model) == before


def test_models_without_a_manifest(tmp_path):
    with pytest.raises(ModelError, match="config.json is missing"):
        check_manifest(tmp_path)
    shutil.copytree(find_model("en"), tmp_path / "en")
    (tmp_path / "en" / MANIFEST).unlink()
    check_manifest(tmp_path / "en")
    assert list(find_damage(tmp_path / "en")) == []


@pytest.mark.parametrize("content", ['{"format": 2, "files": {}}', "{", '{"format": 1}', "[]"])
def test_damaged_manifest(model, content):
    (model / MANIFEST).write_text(content)
    with pytest.raises(ModelError, match=MANIFEST):
        check_manifest(model)


def test_the_model_that_ships_is_whole():
    assert list(find_damage(find_model("en"), thorough=True)) == []
    assert len(listed(find_model("en"))) > 10


def test_sums_are_the_same_everywhere(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(bytes(range(256)) * 64)
    numbers = np.frombuffer(file.read_bytes(), "<u8").reshape(-1, 512).tolist()
    weights = [(0x9E3779B97F4A7C16 * n + 1) % 2**64 for n in range(512)]
    sums = [sum(map(int.__mul__, row, weights)) % 2**64 for row in numbers]
    data = b"".join(each.to_bytes(8, "little") for each in sums)
    assert sum_of(file) == hashlib.sha256(data).hexdigest()[:16]


def test_tensors_that_are_not_finite(tmp_path):
    save = pytest.importorskip("capsrl.network.save")
    import torch

    tensors = {"good": torch.ones(3), "ids": torch.arange(3), "learned.counts": torch.ones(2)}
    tensors["learned.counts"][0] = torch.inf
    save.save_weights(tensors, tmp_path, precision="full")
    check_finite(tmp_path)
    for value in (torch.nan, torch.inf, -torch.inf):
        for kind in (torch.float16, torch.float32, torch.float64):
            bad = torch.tensor([1.0, value], dtype=kind)
            save.save_weights(tensors | {"bad": bad}, tmp_path, precision="full")
            with pytest.raises(ModelError, match="safetensors: bad has values that are not finite"):
                check_finite(tmp_path)
