import builtins
import json

import numpy as np
import pytest

from capsrl.errors import ConfigError, DataError
from capsrl.network.embeddings.elmo_files import read_elmo

h5py = pytest.importorskip("h5py")
OPTIONS = {
    "lstm": {"dim": 3, "projection_dim": 2, "n_layers": 1, "cell_clip": 3, "proj_clip": 3},
    "char_cnn": {
        "embedding": {"dim": 2},
        "filters": [[1, 4]],
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}
SHAPES = {
    "char_embed": (261, 2),
    "CNN/W_cnn_0": (1, 1, 2, 4),
    "CNN/b_cnn_0": (4,),
    "CNN_proj/W_proj": (4, 2),
    "CNN_proj/b_proj": (2,),
}
for direction in range(2):
    cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell0/LSTMCell"
    SHAPES |= {f"{cell}/W_0": (4, 12), f"{cell}/B": (12,), f"{cell}/W_P_0": (3, 2)}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "elmo_2x_options.json").write_text(json.dumps(OPTIONS))
    with h5py.File(tmp_path / "elmo_2x_weights.hdf5", "w") as file:
        for number, (name, shape) in enumerate(SHAPES.items()):
            file[name] = np.full(shape, number, dtype=np.float32)
        file["softmax/W"] = np.zeros(3)
    return tmp_path


def test_only_required_arrays_are_read(folder):
    options, arrays = read_elmo(folder)
    assert options == OPTIONS
    assert {name: array.shape for name, array in arrays.items()} == SHAPES
    assert arrays["CNN/b_cnn_0"].tolist() == [2, 2, 2, 2]


def change(folder, name, value):
    with h5py.File(folder / "elmo_2x_weights.hdf5", "a") as file:
        del file[name]
        if value is not None:
            file[name] = value


def test_missing_or_wrong_arrays(folder):
    change(folder, "CNN_proj/W_proj", np.zeros((2, 4)))
    message = r"2x_weights\.hdf5: expected CNN_proj/W_proj of shape \(4, 2\), got \(2, 4\); do"
    with pytest.raises(DataError, match=message):
        read_elmo(folder)
    change(folder, "CNN_proj/W_proj", None)
    with pytest.raises(
        DataError, match=r"2x_weights\.hdf5: expected an array CNN_proj/W_proj, got"
    ):
        read_elmo(folder)


def test_missing_or_extra_files(folder):
    (folder / "other_weights.hdf5").touch()
    message = r"expected one file \*weights\.hdf5 .* got elmo_2x_weights\.hdf5, other_weights\.hdf5"
    with pytest.raises(DataError, match=message):
        read_elmo(folder)
    with pytest.raises(DataError, match=r"none: expected one file \*options\.json .* got none"):
        read_elmo(folder / "none")


def test_not_hdf5(folder):
    (folder / "elmo_2x_weights.hdf5").write_bytes(b"<html>not found</html>")
    with pytest.raises(
        DataError, match=r"2x_weights\.hdf5: expected an HDF5 file, got .*signature"
    ):
        read_elmo(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"2x_options\.json: expected the options of an ELMo model, got Expecting property"),
        ("[]", r"2x_options\.json: expected the options of an ELMo model, got no lstm\.dim"),
        ('{"lstm": 3}', r"2x_options\.json: expected the options .* got no lstm\.dim"),
        (
            json.dumps(OPTIONS | {"char_cnn": {"activation": "relu"}}),
            r"2x_options\.json: expected the options .* got no char_cnn\.embedding",
        ),
        (
            json.dumps(OPTIONS).replace("relu", "gelu"),
            r"2x_options\.json: expected char_cnn\.activation relu or tanh, got 'gelu'",
        ),
    ],
)
def test_unsupported_options(folder, text, message):
    (folder / "elmo_2x_options.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_elmo(folder)


def test_without_h5py(folder, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "h5py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ConfigError, match=r"ELMo needs h5py: pip install 'capsrl\[elmo\]'"):
        read_elmo(folder)
