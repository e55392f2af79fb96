import pytest
import torch

from capsrl.errors import ModelError
from capsrl.network import weights as weights_module
from capsrl.network.weights import save_weights
from capsrl.predict.weight_files import digest_of, find_stored, shard_name, weight_files

TENSORS = {"matrix": torch.arange(35.0).reshape(5, 7), "ids": torch.arange(4), "one": torch.ones(9)}


@pytest.fixture
def shards(tmp_path, monkeypatch):
    monkeypatch.setattr(weights_module, "SHARD_BYTES", 150)
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
    with pytest.raises(ModelError, match=rf"got a header of {1 << 40} bytes in a file of 10$"):
        find_stored(shards[0].parent)


@pytest.mark.parametrize("number", [0, 1, -1])
def test_missing_shard(shards, number):
    shards[number].unlink()
    with pytest.raises(ModelError, match=rf"expected {shards[number].name}, got no such file"):
        find_stored(shards[0].parent)


def test_a_header_that_is_not_an_object(shards):
    shards[0].write_bytes((2).to_bytes(8, "little") + b"[]")
    with pytest.raises(ModelError, match="expected a safetensors file, got a header that is a lis"):
        find_stored(shards[0].parent)


def test_shards_of_two_models(shards):
    name = "weights-00001-of-00001.safetensors"
    (shards[0].parent / name).write_bytes(shards[0].read_bytes())
    message = rf"expected {len(shards)} files of weights, got {name} beside them"
    with pytest.raises(ModelError, match=message):
        find_stored(shards[0].parent)
