"""What runs a model."""

import pytest

from capsrl.errors import ConfigError, ModelError
from capsrl.predict import loading
from capsrl.predict.loading import choose_runtime
from capsrl.predict.read_folder import PROPOSITIONS, SENTENCES


@pytest.fixture
def exported(tmp_path, monkeypatch):
    for name in (SENTENCES, PROPOSITIONS):
        (tmp_path / name).touch()
    monkeypatch.setattr(loading, "find_spec", lambda name: name)
    monkeypatch.setattr(loading, "_prefers_cpu", lambda: True)
    return tmp_path


def test_exported_models_run_without_torch_on_the_cpu(exported):
    assert choose_runtime(exported, None, None) == "onnx"
    assert choose_runtime(exported, "cpu", None) == "onnx"
    assert choose_runtime(exported, "cuda", None) == "torch"
    assert choose_runtime(exported, None, "torch") == "torch"


def test_a_gpu_is_preferred(exported, monkeypatch):
    monkeypatch.setattr(loading, "_prefers_cpu", lambda: False)
    assert choose_runtime(exported, None, None) == "torch"
    assert choose_runtime(exported, "cpu", None) == "onnx"
    assert choose_runtime(exported, None, "onnx") == "onnx"


def test_without_onnxruntime(exported, monkeypatch):
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    assert choose_runtime(exported, None, None) == "torch"


def test_models_that_were_not_exported(tmp_path):
    assert choose_runtime(tmp_path, "cpu", None) == "torch"
    with pytest.raises(ModelError, match="expected sentences.onnx and .*`capsrl export "):
        choose_runtime(tmp_path, None, "onnx")


def test_bad_values(exported):
    with pytest.raises(ConfigError, match="runtime: expected onnx or torch, got 'tf'"):
        choose_runtime(exported, None, "tf")
    with pytest.raises(ConfigError, match="device: expected cpu with runtime onnx, got cuda:1"):
        choose_runtime(exported, "cuda:1", "onnx")
