"""What can be exported, and what is said of what cannot."""

import pytest

from capsrl.errors import ModelError
from capsrl.predict.folder import choose_runtime, find_stored
from tests.helpers.crashes import crashes
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


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    write_encoder(folder / "encoder")
    embeddings = {"transformer": str(folder / "encoder"), "fine_tune": True}
    make_labeler(make_config(embeddings=embeddings)).save(folder / "model", precision="compact")
    return folder / "model"


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.glob("*.onnx")}


def export_again(model, *, int8):
    files = export(model, int8=int8)
    found = contents(model)
    assert found.keys() == {file.name for file in files}
    return found


@pytest.mark.parametrize("int8", [True, False])
def test_an_export_that_is_killed_is_not_read(model, int8):
    """Whatever was written last: all graphs are of one export, or none is read."""
    new, old = (export_again(model, int8=each) for each in (int8, not int8))
    seen = []
    for _ in crashes(lambda: export(model, int8=int8)):
        is_read = choose_runtime(model, "cpu", None) == "onnx"
        assert not is_read or contents(model) in (old, new)
        seen.append(is_read)
        export_again(model, int8=not int8)
    assert seen == sorted(seen, reverse=True)
    assert len(seen) > 2 * len(new) and len(set(seen)) == 2
    assert contents(model) == new


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
