import pytest
import torch
from torch.testing import assert_close

from capsrl.errors import ModelError
from capsrl.network import weights as weights_module
from capsrl.network.weights import load_weights, save_weights


def make():
    torch.manual_seed(1)
    return {
        "matrix": torch.randn(5, 7) * torch.logspace(-3, 3, 5)[:, None],
        "cube": torch.randn(3, 4, 5),
        "vector": torch.randn(9),
        "number": torch.tensor(0.3),
        "zeros": torch.zeros(2, 3),
        "ids": torch.arange(4),
    }


@pytest.mark.parametrize("precision", ["full", "half", "compact", "dithered"])
def test_round_trip(tmp_path, precision):
    before = make()
    save_weights(before, tmp_path, precision=precision)
    after = load_weights(tmp_path)
    assert after.keys() == before.keys()
    for name, tensor in before.items():
        assert after[name].dtype == tensor.dtype
        if precision == "full" or name == "ids":
            assert_close(after[name], tensor, atol=0, rtol=0)
        elif precision == "half" or tensor.dim() < 2:
            assert_close(after[name], tensor, atol=1e-6, rtol=1e-3)
        else:  # off by half a step of 1/127 of the largest value of its row
            steps = 1 if precision == "dithered" else 0.5
            bound = steps * tensor.flatten(1).abs().amax(1) / 127 * 1.001
            error = (after[name] - tensor).flatten(1).abs().amax(1)
            assert bool((error <= bound).all())


def test_dithering_keeps_small_changes_on_average(tmp_path):
    steps = torch.randint(-126, 126, (8, 1000)).float()
    steps[:, 0] = 127  # decides the scale of a row
    changed = steps.clone()
    changed[:, 1:] += 0.2
    for precision, kept in (("compact", 0.0), ("dithered", 0.2)):
        for folder in ("one", "two"):
            (tmp_path / precision / folder).mkdir(parents=True)
            save_weights({"w": changed}, tmp_path / precision / folder, precision=precision)
        after, again = (load_weights(tmp_path / precision / name)["w"] for name in ("one", "two"))
        assert torch.equal(after, again)
        assert (after - steps)[:, 1:].mean().item() == pytest.approx(kept, abs=0.02)


def test_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(weights_module, "SHARD_BYTES", 150)
    before = make()
    save_weights(before, tmp_path, precision="full")
    names = sorted(file.name for file in tmp_path.iterdir())
    n = len(names)
    assert n >= 3
    assert names == [f"weights-{i:05}-of-{n:05}.safetensors" for i in range(1, n + 1)]
    after = load_weights(tmp_path)
    for name, tensor in before.items():
        assert_close(after[name], tensor, atol=0, rtol=0)
    assert all(file.stat().st_mode & 0o044 for file in tmp_path.iterdir())


@pytest.fixture
def shards(tmp_path, monkeypatch):
    monkeypatch.setattr(weights_module, "SHARD_BYTES", 150)
    save_weights(make(), tmp_path, precision="full")
    return sorted(tmp_path.iterdir())


def test_no_shards(tmp_path):
    with pytest.raises(ModelError, match=r"expected weights-\*.safetensors, got no such file"):
        load_weights(tmp_path)


def test_damaged_shard(shards):
    shards[1].write_bytes(shards[1].read_bytes()[:40])
    with pytest.raises(ModelError, match=rf"{shards[1].name}: expected a safetensors file, got "):
        load_weights(shards[0].parent)
