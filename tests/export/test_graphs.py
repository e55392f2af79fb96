"""The exported graphs against torch, on tiny networks of all variants that can be exported."""

import dataclasses

import numpy as np
import pytest

from capsrl.labeler import Labeler
from tests.helpers.tiny_networks import (
    SENTENCES,
    UNSEEN,
    assert_same_answers,
    blind,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.folder import export  # noqa: E402

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
    "lemmas looked up": {"predicate": "lookup", "lookup_width": 7, "encoder": {"layers": 0}},
    "squashed node": {"global_from": "squashed", "encoder": {"predicate_width": 4}},
    "no node": {"variant": "capsule", "form": "factored"},
    "word": {"variant": "word", "encoder": {"predicate_width": 4}},
    "baseline": {"variant": "baseline", "form": "factored"},
    "frames": {"form": "factored", "frames": {"roles": "first", "descriptions": 3}},
    "frames in every iteration, dense": {"frames": {"roles": "every"}},
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
def test_same_as_torch(name, iterations, encoder, tmp_path):
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


@pytest.mark.parametrize("precision", ["full", "half", "compact"])
def test_weights_are_read_as_they_are_stored(precision, encoder, tmp_path):
    """In floats the graphs compute what torch computes from the same files."""
    settings = VARIANTS["as the English model"]
    folder = save(tmp_path / "model", encoder, precision=precision, **settings)
    sizes = [file.stat().st_size for file in export(folder, int8=False)]
    assert max(sizes) < 60_000  # the weights are not in them
    theirs, ours = (label(folder, runtime, predicates="found") for runtime in ("torch", "onnx"))
    assert any(labeled.propositions for labeled in theirs)
    assert_same_answers(ours, theirs, tolerance=1e-4)
