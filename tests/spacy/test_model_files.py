"""Model folders as bytes."""

import pytest

from capsrl.errors import ModelError
from capsrl.spacy.model_files import read_files, write_files


def test_round_trip(tmp_path):
    files = {"config.json": b"{}", "encoder/weights": b"\x00\xff"}
    write_files(files, tmp_path / "model")
    assert read_files(tmp_path / "model") == files


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x"])
def test_files_outside_the_folder(tmp_path, name):
    with pytest.raises(ModelError, match=f"expected files of a model folder, got {name}"):
        write_files({name: b""}, tmp_path / "model")
    assert not (tmp_path / "x").exists()
