import json
import multiprocessing
import resource
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from capsrl.errors import DataError, ModelError
from capsrl.frames.index import FrameIndex, FrameRole, Roleset
from capsrl.network import save as save_module
from capsrl.network.save import load_network, load_weights, save_network, save_weights
from tests.helpers.tiny_networks import edit_json, make_config, make_labeler, write_encoder


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bert")
    write_encoder(folder, limit=24)
    return str(folder)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "model"
    make_labeler().save(folder)
    return folder


@pytest.fixture
def model(saved, tmp_path):
    """A copy of a model folder, to be damaged."""
    return shutil.copytree(saved, tmp_path / "model")


def test_round_trip(saved, tmp_path):
    network, config = load_network(saved)
    save_network(network, config, tmp_path / "again")
    for file in saved.iterdir():
        assert (tmp_path / "again" / file.name).read_bytes() == file.read_bytes()
    assert config == make_labeler().config


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_full_disk_leaves_the_old_model(saved, model):
    """Limits on the size of files fail as a full disk does, inside of safetensors too."""
    network, config = load_network(saved)
    before = {file.name: file.read_bytes() for file in model.iterdir()}

    def save():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        with pytest.raises(DataError, match="model: cannot be written: File too large"):
            save_network(network, config, model)

    process = multiprocessing.get_context("fork").Process(target=save)
    process.start()
    process.join()
    assert process.exitcode == 0
    assert {file.name: file.read_bytes() for file in model.iterdir()} == before
    assert [file.name for file in model.parent.iterdir()] == ["model"]


def test_loading_draws_no_random_numbers(tmp_path, bert):
    """Drawing values that are overwritten takes time and would disturb the random state."""
    embeddings = {"transformer": bert, "learned": 4, "characters": 6}
    encoder = {"layers": 2, "predicate_width": 5}
    make_labeler(make_config(embeddings=embeddings, encoder=encoder)).save(tmp_path / "model")
    before = torch.get_rng_state()
    load_network(tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), before)


def test_size_of_a_quantized_model(tmp_path, bert):
    labeler = make_labeler(make_config(embeddings={"transformer": bert}, rank=200, size=16))
    sizes = {}
    for precision in ("full", "compact"):
        labeler.save(tmp_path / precision, precision=precision)
        sizes[precision] = sum(f.stat().st_size for f in (tmp_path / precision).glob("weights-*"))
    assert sizes["compact"] < 0.35 * sizes["full"]


def test_saving_replaces_a_model(tmp_path):
    make_labeler(seed=1).save(tmp_path / "model")
    other = make_labeler(seed=2)
    other.save(tmp_path / "model")
    loaded, _ = load_network(tmp_path / "model")
    for name, tensor in other.network.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], tensor)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_saving_replaces_only_a_model(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").write_text("years of work")
    with pytest.raises(ModelError, match=r"thesis: exists and is not a model folder; choose"):
        make_labeler().save(tmp_path / "thesis")
    assert (tmp_path / "thesis" / "chapter1.tex").read_text() == "years of work"


@pytest.mark.parametrize("name", ["config.json", "vocab.json"])
def test_missing_file(model, name):
    (model / name).unlink()
    with pytest.raises(ModelError, match=rf"model: {name} is missing"):
        load_network(model)


@pytest.mark.parametrize("name", ["config.json", "vocab.json"])
def test_damaged_json(model, name):
    text = (model / name).read_text()
    (model / name).write_text(text[: len(text) // 2])
    with pytest.raises(ModelError, match=rf"{name}: not JSON: "):
        load_network(model)
    (model / name).write_text("[1]")
    with pytest.raises(ModelError, match=rf"{name}: expected a JSON object, got list"):
        load_network(model)


def test_frames(saved, model, tmp_path):
    assert not (saved / "frames.tsv").exists()
    verb = Roleset("bark.01", (("v", "bark"),), (FrameRole("A0", "PAG", "Agent", "dog"),))
    FrameIndex.from_rolesets([verb], ["mine"]).save(model / "frames.tsv")
    network, config = load_network(model)
    assert list(network.inventory.frames) == [verb]
    save_network(network, config, tmp_path / "again")
    again = (tmp_path / "again" / "frames.tsv").read_bytes()
    assert again == (model / "frames.tsv").read_bytes()
    (model / "frames.tsv").write_text("bark.01")
    with pytest.raises(ModelError, match=r"frames.tsv:1: expected '# capsrl .*, got 'bark.01'"):
        load_network(model)


def test_newer_format(model):
    edit_json(model / "config.json", format=99)
    with pytest.raises(ModelError, match=r"format 1 or older, got 99; upgrade capsrl"):
        load_network(model)


def test_inconsistent_senses(model):
    edit_json(model / "vocab.json", sense_counts=[1])
    with pytest.raises(ModelError, match=r"expected 6 sense_counts, got 1"):
        load_network(model)


def _weights(model):
    (file,) = model.glob("weights-*.safetensors")
    return file, load_file(file)


def test_missing_tensor(model):
    file, weights = _weights(model)
    del weights["routing.agreement"]
    save_file(weights, file)
    with pytest.raises(ModelError, match=r"no tensor routing.agreement \(1 missing\)"):
        load_network(model)


def test_extra_tensor(model):
    file, weights = _weights(model)
    save_file(weights | {"extra": torch.zeros(1)}, file)
    with pytest.raises(ModelError, match=r"tensor extra is not part of the network of config.json"):
        load_network(model)


def test_wrong_tensor(model):
    file, weights = _weights(model)
    save_file(weights | {"routing.agreement": torch.zeros(4, 5)}, file)
    with pytest.raises(
        ModelError, match=r"expected routing.agreement of shape \(4, 4\), got \(4, 5\)"
    ):
        load_network(model)
    save_file(weights | {"routing.agreement": torch.zeros(4, 4, dtype=torch.int8)}, file)
    with pytest.raises(
        ModelError, match=r"expected routing.agreement in torch.float32, got torch.int8"
    ):
        load_network(model)


def test_missing_encoder(tmp_path, bert):
    make_labeler(make_config(embeddings={"transformer": bert})).save(tmp_path / "model")
    (tmp_path / "model" / "transformer" / "config.json").unlink()
    with pytest.raises(ModelError, match=r"model/transformer: not a folder with config.json"):
        load_network(tmp_path / "model")


def test_refuses_settings_it_does_not_know(model):
    config = json.loads((model / "config.json").read_text())
    edit_json(model / "config.json", capsules=config["capsules"] | {"shape": 3})
    with pytest.raises(ModelError, match=r"unknown key capsules.shape"):
        load_network(model)
    edit_json(model / "config.json", capsules=config["capsules"] | {"variant": "capsul"})
    with pytest.raises(ModelError, match=r"capsules.variant: expected .*'word'.*, got \"capsul\""):
        load_network(model)
    edit_json(model / "config.json", capsules=config["capsules"], encoder={"width": "wide"})
    with pytest.raises(ModelError, match=r"encoder.width: expected an integer, got \"wide\""):
        load_network(model)
    edit_json(model / "config.json", encoder=None)
    with pytest.raises(ModelError, match=r"no tensor encoder"):
        load_network(model)


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
def test_weights_round_trip(tmp_path, precision):
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
    monkeypatch.setattr(save_module, "SHARD_BYTES", 150)
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
    monkeypatch.setattr(save_module, "SHARD_BYTES", 150)
    save_weights(make(), tmp_path, precision="full")
    return sorted(tmp_path.iterdir())


def test_no_shards(tmp_path):
    with pytest.raises(ModelError, match=r"weights-\*.safetensors are missing"):
        load_weights(tmp_path)


def test_damaged_shard(shards):
    shards[1].write_bytes(shards[1].read_bytes()[:40])
    with pytest.raises(ModelError, match=rf"{shards[1].name}: not a safetensors file: "):
        load_weights(shards[0].parent)
