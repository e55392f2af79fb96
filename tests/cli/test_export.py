"""`capsrl export`: the graphs of a model."""

import pytest

from tests.helpers.tiny_networks import make_config, make_labeler, write_encoder

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    write_encoder(folder / "encoder")
    embeddings = {"transformer": str(folder / "encoder"), "fine_tune": True}
    make_labeler(make_config(embeddings=embeddings)).save(folder / "model", precision="compact")
    return folder / "model"


def test_exported_models_are_labeled_by_onnxruntime(capsrl, model):
    refused = capsrl("label", "the old man", "--model", model, "--runtime", "onnx")
    assert refused.code == 2
    assert f"not exported; `capsrl export {model}` makes" in refused.err
    done = capsrl("export", model)
    assert (done.code, done.out) == (0, "")
    assert [line.split(": ")[0] for line in done.err.splitlines()] == [
        str(model / name)
        for name in (
            "sentences.onnx",
            "sentences-u8.onnx",
            "propositions.onnx",
            "propositions-u8.onnx",
            "propositions-trace.onnx",
            "propositions-trace-u8.onnx",
        )
    ]
    by_default = capsrl("label", "the old man", "--model", model, "--device", "cpu")
    assert by_default.code == 0
    assert (
        by_default.out == capsrl("label", "the old man", "--model", model, "--runtime", "onnx").out
    )


def test_floats(capsrl, model):
    assert capsrl("export", model, "--float").code == 0
    assert not list(model.glob("*-u8.onnx"))
    assert capsrl("label", "the old man", "--model", model, "--runtime", "onnx").code == 0


def test_models_that_need_torch(capsrl, tmp_path):
    make_labeler().save(tmp_path / "model")
    done = capsrl("export", tmp_path / "model")
    assert done.code == 2
    assert done.err.startswith(f"error: {tmp_path / 'model'}: cannot be exported: its word")


def test_a_copy_is_exported(capsrl, model, tmp_path):
    done = capsrl("export", "en")
    assert done.code == 2
    assert done.err == "error: en: ships with capsrl; name a folder for a copy with --out\n"
    assert capsrl("export", model, "--out", "copy").err.startswith("copy/sentences.onnx: ")
    assert capsrl("label", "the old man", "--model", "copy", "--runtime", "onnx").code == 0
