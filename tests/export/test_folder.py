"""What can be exported, and what is said of what cannot."""

import pytest

from capsrl.errors import ModelError
from capsrl.model.weight_files import find_stored
from tests.helpers.tiny_networks import edit_json, make_config, make_labeler, write_encoder

pytest.importorskip("onnx")

from capsrl.export.folder import export  # noqa: E402


def test_models_that_need_torch_are_refused(tmp_path):
    make_labeler().save(tmp_path / "model")
    with pytest.raises(ModelError, match="transformer alone, got learned, characters; label"):
        export(tmp_path / "model")
    assert not list((tmp_path / "model").glob("*.onnx"))


def test_encoders_unlike_bert_are_refused(tmp_path):
    write_encoder(tmp_path / "encoder")
    config = make_config(embeddings={"transformer": str(tmp_path / "encoder")})
    make_labeler(config).save(tmp_path / "model")
    edit_json(tmp_path / "model" / "transformer" / "config.json", model_type="electra")
    with pytest.raises(ModelError, match="expected an encoder like BERT, got electra"):
        export(tmp_path / "model")


def test_places_of_weights(tmp_path):
    """The bytes at the places are those of the tensors."""
    labeler = make_labeler()
    labeler.save(tmp_path / "model")
    stored = find_stored(tmp_path / "model")
    weights = labeler.network.state_dict()
    assert stored.keys() == weights.keys()
    for name, place in stored.items():
        content = (tmp_path / "model" / place.file).read_bytes()
        found = content[place.offset : place.offset + place.size]
        assert found == weights[name].contiguous().numpy().tobytes()
        assert place.shape == tuple(weights[name].shape)


def test_damaged_weights(tmp_path):
    make_labeler().save(tmp_path / "model")
    (file,) = (tmp_path / "model").glob("*.safetensors")
    file.write_bytes(b"\xff" * 100)
    with pytest.raises(ModelError, match="expected a safetensors file, got a header of"):
        find_stored(tmp_path / "model")
