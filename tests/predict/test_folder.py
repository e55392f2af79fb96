"""What is in a model folder, and what runs it."""

import pytest
import torch

from capsrl.errors import ConfigError, ModelError
from capsrl.network import save as save_module
from capsrl.network.save import save_weights
from capsrl.predict import folder as folder_module
from capsrl.predict.folder import (
    MANIFEST,
    PROPOSITIONS,
    SENTENCES,
    choose_runtime,
    digest_of,
    find_stored,
    fingerprint,
    read_config,
    shard_name,
    weight_files,
)
from tests.helpers.tiny_networks import make_config, make_labeler

TENSORS = {"matrix": torch.arange(35.0).reshape(5, 7), "ids": torch.arange(4), "one": torch.ones(9)}


@pytest.fixture
def shards(tmp_path, monkeypatch):
    monkeypatch.setattr(save_module, "SHARD_BYTES", 150)
    save_weights(TENSORS, tmp_path, precision="full")
    return sorted(tmp_path.iterdir())


def test_every_tensor_is_where_it_is_said_to_be(shards):
    stored = find_stored(shards[0].parent)
    assert stored.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        place = stored[name]
        data = (shards[0].parent / place.file).read_bytes()[place.offset :][: place.size]
        assert data == tensor.numpy().tobytes()
        assert place.shape == tuple(tensor.shape)
        assert place.dtype == {torch.float32: "F32", torch.int64: "I64"}[tensor.dtype]


def test_files_are_in_order(shards):
    assert weight_files(shards[0].parent) == shards
    assert [file.name for file in shards] == [
        shard_name(number, len(shards)) for number in range(1, len(shards) + 1)
    ]


def test_the_digest_tells_places_apart(shards, tmp_path):
    stored = find_stored(shards[0].parent)
    assert digest_of(stored) == digest_of(dict(reversed(stored.items())))
    assert digest_of(stored) != digest_of({"other": stored["one"], **stored})


def test_a_header_longer_than_the_file(shards):
    shards[0].write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    with pytest.raises(ModelError, match=rf"file: a header of {1 << 40} bytes in a file of 10$"):
        find_stored(shards[0].parent)


@pytest.mark.parametrize("number", [0, 1, -1])
def test_missing_shard(shards, number):
    shards[number].unlink()
    with pytest.raises(ModelError, match=rf"{shards[number].name} is missing"):
        find_stored(shards[0].parent)


def test_a_header_that_is_not_an_object(shards):
    shards[0].write_bytes((2).to_bytes(8, "little") + b"[]")
    with pytest.raises(ModelError, match="not a safetensors file: a header that is a list"):
        find_stored(shards[0].parent)


def test_shards_of_two_models(shards):
    name = "weights-00001-of-00001.safetensors"
    (shards[0].parent / name).write_bytes(shards[0].read_bytes())
    message = rf"{name} is none of the {len(shards)} files of weights"
    with pytest.raises(ModelError, match=message):
        find_stored(shards[0].parent)


@pytest.fixture
def exported(tmp_path, monkeypatch):
    for name in (SENTENCES, PROPOSITIONS):
        (tmp_path / name).touch()
    monkeypatch.setattr(folder_module, "find_spec", lambda name: name)
    monkeypatch.setattr(folder_module, "may_have_gpu", lambda: False)
    return tmp_path


def test_exported_models_run_without_torch_on_the_cpu(exported):
    assert choose_runtime(exported, None, None) == "onnx"
    assert choose_runtime(exported, "cpu", None) == "onnx"
    assert choose_runtime(exported, "cuda", None) == "torch"
    assert choose_runtime(exported, None, "torch") == "torch"


def test_a_gpu_is_preferred(exported, monkeypatch):
    monkeypatch.setattr(folder_module, "may_have_gpu", lambda: True)
    assert choose_runtime(exported, None, None) == "torch"
    assert choose_runtime(exported, "cpu", None) == "onnx"
    assert choose_runtime(exported, None, "onnx") == "onnx"


def test_without_onnxruntime(exported, monkeypatch):
    monkeypatch.setattr(folder_module, "find_spec", lambda name: None)
    assert choose_runtime(exported, None, None) == "torch"


def test_models_that_were_not_exported(tmp_path):
    assert choose_runtime(tmp_path, "cpu", None) == "torch"
    with pytest.raises(ModelError, match="not exported; `capsrl export .*` makes sentences"):
        choose_runtime(tmp_path, None, "onnx")


def test_bad_values(exported):
    with pytest.raises(ConfigError, match="runtime: expected onnx or torch, got 'tf'"):
        choose_runtime(exported, None, "tf")
    with pytest.raises(ConfigError, match="device: expected cpu with runtime onnx, got cuda:1"):
        choose_runtime(exported, "cuda:1", "onnx")


def test_settings_under_their_older_names(tmp_path):
    make_labeler(make_config(phrase_width=3)).save(tmp_path / "model")
    file = tmp_path / "model" / "config.json"
    before = read_config(tmp_path / "model")
    assert before.phrase_width == 3
    file.write_text(file.read_text().replace("phrase_width", "span_width"))
    assert read_config(tmp_path / "model") == before


def test_fingerprint(tmp_path):
    make_labeler().save(tmp_path / "a")
    make_labeler().save(tmp_path / "b")
    first = fingerprint(tmp_path / "a")
    assert len(first) == 16 and fingerprint(tmp_path / "b") == first  # the same network elsewhere
    (tmp_path / "b" / "README.md").write_text("A card.")
    assert fingerprint(tmp_path / "b") == first
    frames = tmp_path / "frames.tsv"
    assert fingerprint(tmp_path / "b", frames) == first  # there is none
    frames.write_text("x")
    assert fingerprint(tmp_path / "b", frames) != first
    (tmp_path / "b" / MANIFEST).write_text("{}")
    assert fingerprint(tmp_path / "b") == first  # it follows from the other files
    others = (".md", MANIFEST)
    for file in sorted(
        each for each in (tmp_path / "b").iterdir() if not each.name.endswith(others)
    ):
        content = file.read_bytes()
        file.write_bytes(content + b" ")
        assert fingerprint(tmp_path / "b") != first, file.name
        file.write_bytes(content)
    assert fingerprint(tmp_path / "b") == first
