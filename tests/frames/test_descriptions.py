import numpy as np
import pytest

from capsrl.errors import DataError
from capsrl.frames.descriptions import Descriptions
from tests.helpers.tiny_sentences import DESCRIPTIONS

pytest.importorskip("safetensors")


def test_saved_and_loaded(tmp_path):
    DESCRIPTIONS.save(tmp_path / "roles.safetensors")
    loaded = Descriptions.load(tmp_path / "roles.safetensors")
    assert loaded.rows == DESCRIPTIONS.rows
    assert loaded.width == 3
    np.testing.assert_allclose(loaded.vectors, DESCRIPTIONS.vectors, rtol=1e-3)
    assert loaded.row("see.01", "A1") == 2
    assert loaded.row("see.01", "A4") is loaded.row("go.01", "A0") is None


@pytest.mark.parametrize("content", [None, b"", b"nothing of the kind"])
def test_other_files_are_refused(content, tmp_path):
    file = tmp_path / "roles.safetensors"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DataError, match="roles.safetensors: not a file of encoded descriptions"):
        Descriptions.load(file)
