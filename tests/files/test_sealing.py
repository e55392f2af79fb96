import pytest

from capsrl.errors import DataError
from capsrl.files.sealing import PLACE, check_seal, seal

numpy = pytest.importorskip("safetensors.numpy")
import numpy as np  # noqa: E402

TENSORS = {"a": np.arange(7.0), "b": np.zeros((2, 3), np.int8)}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "file.safetensors"
    numpy.save_file(TENSORS, path, metadata={"other": "text", **PLACE})
    seal(path)
    return path


def test_a_sealed_file_is_read_as_before(file):
    assert check_seal(file)
    found = numpy.load_file(file)
    assert found.keys() == TENSORS.keys()
    for name, array in TENSORS.items():
        assert (found[name] == array).all()


def test_every_changed_bit_of_the_content_is_noticed(file):
    data = file.read_bytes()
    mark = data.index(b"sha256")
    for place in (each for each in range(8, len(data)) if not mark - 1 <= each < mark + 9):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        with pytest.raises(DataError, match="safetensors: damaged: expected SHA-256"):
            check_seal(file)


def test_a_file_that_is_cut(file):
    data = file.read_bytes()
    file.write_bytes(data[:-1])
    with pytest.raises(DataError, match="damaged"):
        check_seal(file)


def test_files_without_a_seal(tmp_path):
    path = tmp_path / "file.safetensors"
    for content in (b"", b"short", b"\xff" * 100):
        path.write_bytes(content)
        assert not check_seal(path)
    numpy.save_file(TENSORS, path)
    assert not check_seal(path)
