"""A folder of shards: made in parts, resumed, refused if it belongs to another run."""

import json

import pytest

import teachers.shards
from capsrl.errors import ConfigError, DataError
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import load_labels, read_manifest, shard_path
from teachers.noise import Noise
from teachers.shards import write_shards
from tests.helpers.tiny_networks import SENTENCES, make_config, make_teacher

TEXT = [Sentence(s.words) for s in SENTENCES] * 3
NAMES = {"teachers": ["one"], "texts": {"text.jsonl": "0123"}}


@pytest.fixture(scope="module")
def predictor():
    return make_teacher(make_config(iterations=2))


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(teachers.shards, "SHARD", 4)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.safetensors")}


def test_processes_make_the_same_shards_as_one(predictor, tmp_path):
    assert write_shards(predictor, TEXT, tmp_path / "one", **NAMES) == 5
    for part in range(2):
        write_shards(predictor, TEXT, tmp_path / "two", part=(part, 2), **NAMES)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    manifest = read_manifest(tmp_path / "one")
    assert manifest == read_manifest(tmp_path / "two")
    assert (manifest["sentences"], manifest["shards"]) == (18, 5)


def test_killed_run_is_resumed(predictor, tmp_path):
    write_shards(predictor, TEXT, tmp_path, **NAMES)
    whole = contents(tmp_path)
    manifest = json.loads((tmp_path / "distill.json").read_text())
    del manifest["shards"], manifest["sentences"]
    (tmp_path / "distill.json").write_text(json.dumps(manifest))
    shard_path(tmp_path, 1).unlink()
    shard_path(tmp_path, 4).rename(tmp_path / "shard-00004.safetensors.new")
    with pytest.raises(DataError, match="some shards are missing; run python -m teachers"):
        read_manifest(tmp_path)
    assert write_shards(predictor, TEXT, tmp_path, **NAMES) == 2
    assert contents(tmp_path) == whole


def test_noise_is_the_same_after_resuming(predictor, tmp_path):
    noise = Noise(casual=0.7, headlines=0.3)
    write_shards(predictor, TEXT, tmp_path / "clean", **NAMES)
    write_shards(predictor, TEXT, tmp_path / "noisy", noise=noise, **NAMES)
    whole = contents(tmp_path / "noisy")
    assert whole != contents(tmp_path / "clean")
    assert read_manifest(tmp_path / "noisy")["noise"] == {"casual": 0.7, "headlines": 0.3}
    for number, sentences in enumerate(range(0, len(TEXT), 4)):
        labels = load_labels(shard_path(tmp_path / "noisy", number))
        assert len(labels) == len(TEXT[sentences : sentences + 4])
        lengths = [predictor.network.index(Sentence(tuple(w))).length for w in labels.words]
        assert labels.lengths.tolist() == lengths
    shard_path(tmp_path / "noisy", 2).unlink()
    assert write_shards(predictor, TEXT, tmp_path / "noisy", noise=noise, **NAMES) == 1
    assert contents(tmp_path / "noisy") == whole
    with pytest.raises(ConfigError, match="was made with other noise; name"):
        write_shards(predictor, TEXT, tmp_path / "noisy", **NAMES)


def test_missing_shards(predictor, tmp_path):
    write_shards(predictor, TEXT, tmp_path, **NAMES)
    shard_path(tmp_path, 2).unlink()
    with pytest.raises(DataError, match="expected 5 shards, got 4; run python -m teachers again"):
        read_manifest(tmp_path)
    with pytest.raises(DataError, match="not a folder of soft labels: it has no distill.json"):
        read_manifest(tmp_path / "nowhere")


def test_folder_of_another_run(predictor, tmp_path):
    write_shards(predictor, TEXT, tmp_path, **NAMES)
    others = {"teachers": ["one", "two"], "texts": {"text.jsonl": "4567"}}
    with pytest.raises(ConfigError, match="was made with other teachers, texts; name"):
        write_shards(predictor, TEXT, tmp_path, **others)
