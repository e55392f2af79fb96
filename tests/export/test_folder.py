"""Exported models against torch, and the files of an export."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from capsrl.config import CapsulesConfig, EmbeddingsConfig, ModelConfig
from capsrl.errors import ModelError
from capsrl.labeler import Labeler
from capsrl.predict.folder import choose_runtime, find_stored
from capsrl.settings import list_settings
from tests.helpers.crashes import crashes
from tests.helpers.tiny_networks import (
    SENTENCES,
    UNSEEN,
    assert_same_answers,
    blind,
    edit_json,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.folder import _KNOWN, check_settings, export  # noqa: E402


def test_models_that_need_torch_are_refused(tmp_path):
    make_labeler().save(tmp_path / "model")
    with pytest.raises(ModelError, match="come from learned, characters, not from a"):
        export(tmp_path / "model")
    assert not list((tmp_path / "model").glob("*.onnx"))


@dataclasses.dataclass(frozen=True, kw_only=True)
class WithSquash(CapsulesConfig):
    """The settings of somebody's variant, which no graph has."""

    squash: str = "unit"


def test_settings_without_graphs_are_refused():
    config = ModelConfig(embeddings=EmbeddingsConfig(transformer="x"))
    check_settings(Path("model"), config)
    capsules = {
        "capsules.squash = 'ring'": WithSquash(squash="ring"),
        "capsules.form = 'new'": CapsulesConfig(form="new"),
    }
    for setting, changed in capsules.items():
        with pytest.raises(ModelError, match=f"model: cannot be exported: .* model.{setting};"):
            check_settings(Path("model"), dataclasses.replace(config, capsules=changed))


def test_every_known_setting_is_one():
    settings = {setting.key for setting in list_settings(ModelConfig)}
    assert _KNOWN.keys() <= settings


def test_encoders_unlike_bert_are_refused(tmp_path):
    write_encoder(tmp_path / "encoder")
    config = make_config(embeddings={"transformer": str(tmp_path / "encoder")})
    make_labeler(config).save(tmp_path / "model")
    edit_json(tmp_path / "model" / "transformer" / "config.json", model_type="electra")
    with pytest.raises(ModelError, match="expected an encoder like BERT, got electra"):
        export(tmp_path / "model")


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"encoder": {"highway": True}}, "model.encoder.highway = True"),
        ({"predicate": "vector"}, "model.capsules.predicate = 'vector'"),
    ],
)
def test_settings_without_a_graph_are_refused(tmp_path, settings, key):
    write_encoder(tmp_path / "encoder")
    config = make_config(embeddings={"transformer": str(tmp_path / "encoder")}, **settings)
    make_labeler(config).save(tmp_path / "model")
    with pytest.raises(ModelError, match=f"there are no graphs for {key}; label with torch"):
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
    # Read before the first graph is replaced, and again while the manifest is written.
    assert seen[0] and seen[-1]
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
    with pytest.raises(ModelError, match="not a safetensors file: a header of"):
        find_stored(tmp_path / "model")


# Longer than the encoder accepts, so that it is read in several windows.
LONG = sentence("the old man saw no end to all these long long words", (3, None, {}))
TEXT = [*map(blind, SENTENCES), UNSEEN, LONG]
VARIANTS = {
    "as the English model": {
        "embeddings": {"fine_tune": True},
        "encoder": {"layers": 0, "predicate_width": 6},
        "phrase_width": 5,
        "form": "factored",
    },
    "mixed layers, dense": {"form": "dense", "encoder": {"layers": 1}},
    "two layers of BiLSTM": {"form": "factored", "encoder": {"layers": 2}},
    "phrases without views": {"form": "dense", "encoder": {"layers": 0}, "phrase_width": 3},
    "squashed node": {"global_from": "squashed", "encoder": {"predicate_width": 4}},
    "as in the authors' code": {
        "global_from": "squashed",
        "global_bias": False,
        "xavier": True,
        "projection_dropout": 0.3,
        "encoder": {"recurrent_dropout": 0.3, "output_dropout": 0.3},
    },
    "no node": {"variant": "capsule", "form": "factored"},
    "word": {"variant": "word", "encoder": {"predicate_width": 4}},
    "baseline": {"variant": "baseline", "form": "factored"},
    "frames": {"form": "factored", "frames": {"roles": "first", "descriptions": 3}},
    "frames, no iterations": {"variant": "word", "frames": {"roles": "first", "descriptions": 3}},
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    write_encoder(folder, limit=24)
    return str(folder)


def save(folder, transformer, *, precision="full", embeddings=None, **settings):
    """A tiny model with a tagger in a folder."""
    config = make_config(embeddings={"transformer": transformer} | (embeddings or {}), **settings)
    make_labeler(dataclasses.replace(config, tagger=True)).save(folder, precision=precision)
    return folder


def label(folder, runtime, sentences=TEXT, **options):
    labeler = Labeler.load(folder, device="cpu", runtime=runtime, threads=1)
    return list(labeler.label_sentences(sentences, **options))


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("iterations", [None, 1, 4])
def test_labels_are_those_of_torch(name, iterations, encoder, tmp_path):
    folder = save(tmp_path / "model", encoder, **VARIANTS[name])
    export(folder)
    options = {"predicates": "marked", "iterations": iterations, "trace": True}
    theirs, ours = (label(folder, runtime, **options) for runtime in ("torch", "onnx"))
    assert_same_answers(_without_traces(ours), _without_traces(theirs), tolerance=1e-4)
    untraced = label(folder, "onnx", **(options | {"trace": False}))
    assert_same_answers(untraced, _without_traces(theirs), tolerance=1e-4)
    assert [s.tags for s in ours] == [s.tags for s in theirs]
    pairs = [
        (mine.trace, other.trace)
        for left, right in zip(ours, theirs, strict=True)
        for mine, other in zip(left.propositions, right.propositions, strict=True)
    ]
    assert len(pairs) == 9
    for mine, other in pairs:
        assert mine.roles == other.roles
        for part in ("beliefs", "capsules", "nodes"):
            _assert_close(getattr(mine, part), getattr(other, part))


def _assert_close(ours, theirs):
    if theirs is None:
        assert ours is None
    else:
        np.testing.assert_allclose(ours, theirs, atol=1e-4)


def _without_traces(sentences):
    return [
        labeled.with_propositions(dataclasses.replace(p, trace=None) for p in labeled.propositions)
        for labeled in sentences
    ]


@pytest.mark.parametrize("name", ["as the English model", "frames"])
@pytest.mark.parametrize("precision", ["full", "half", "compact"])
def test_weights_are_read_as_they_are_stored(precision, name, encoder, tmp_path):
    """In floats the graphs compute what torch computes from the same files."""
    folder = save(tmp_path / "model", encoder, precision=precision, **VARIANTS[name])
    sizes = [file.stat().st_size for file in export(folder, int8=False)]
    assert max(sizes) < 60_000  # the weights are not in them
    theirs, ours = (label(folder, runtime, predicates="found") for runtime in ("torch", "onnx"))
    assert any(labeled.propositions for labeled in theirs)
    assert_same_answers(ours, theirs, tolerance=1e-4)
