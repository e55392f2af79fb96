"""Labeling with onnxruntime; tests/export compares the graphs with torch."""

import dataclasses
import os
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest

import capsrl
from capsrl.errors import ConfigError, ModelError
from capsrl.formats.formats import read_sentences
from capsrl.labeler import Labeler
from capsrl.predict.folder import MANIFEST, PROPOSITIONS, SENTENCES, TRACED, unsigned
from tests.helpers.tiny_networks import make_config, make_labeler, write_encoder
from tests.helpers.tiny_sentences import SENTENCES as TEXT
from tests.helpers.tiny_sentences import assert_same_answers

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.folder import export  # noqa: E402
from capsrl.predict import onnx as onnx_backend  # noqa: E402

PACKAGES = ("torch", "transformers", "safetensors", "onnx")
WITHOUT = f"""
import sys
for name in {PACKAGES}:
    sys.modules[name] = None  # importing it raises ImportError
import capsrl
labeler = capsrl.load(sys.argv[1])
[sentence] = labeler.label("yesterday the old man wanted to leave the house")
print(len(sentence.words), [p.sense for p in sentence.propositions])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A compact model in 8 bits."""
    root = tmp_path_factory.mktemp("models")
    write_encoder(root / "encoder", limit=24)
    config = make_config(
        embeddings={"transformer": str(root / "encoder"), "fine_tune": True},
        encoder={"layers": 0, "predicate_width": 6},
        phrase_width=5,
        form="factored",
    )
    labeler = make_labeler(dataclasses.replace(config, tagger=True))
    labeler.save(root / "model", precision="compact")
    export(root / "model")
    return root / "model"


def load(folder, **settings):
    return Labeler.load(folder, device="cpu", runtime="onnx", **settings)


def label(labeler, sentences, **options):
    found = [sentence.with_propositions(()) for sentence in sentences]
    return list(labeler.label_sentences(found, predicates="found", **options))


def test_labels_without_torch(folder):
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT, str(folder)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    (expected,) = load(folder).label("yesterday the old man wanted to leave the house")
    assert run.stdout.split("\n")[0] == f"9 {[p.sense for p in expected.propositions]}"


def test_onnxruntime_does_not_report_its_use(folder, tmp_path):
    """It would write an identifier of the device into the home folder, and send it to Microsoft."""
    command = "import capsrl, sys; capsrl.load(sys.argv[1]).label('the man left')"
    variables = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-B", "-c", command, folder], env=variables, check=True)
    assert list(tmp_path.iterdir()) == []


def test_a_sentence_alone_has_the_states_it_has_in_a_batch(folder):
    """Exactly: also where ranges of 8 bits are computed."""
    backend = load(folder).backend
    items = [backend.index(sentence) for sentence in TEXT]
    together = backend.encode(items)
    for row, item in enumerate(items):
        alone = backend.encode([item])
        np.testing.assert_array_equal(alone.states[0], together.states[row])
        np.testing.assert_array_equal(alone.predicates[0], together.predicates[row, : item.n_words])
        np.testing.assert_array_equal(alone.tags[0], together.tags[row, : item.n_words])


@pytest.mark.parametrize("max_pairs", [1, 20, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_same_answers_in_any_batch(max_pairs, threads, folder, monkeypatch):
    labeler = load(folder, threads=threads)
    alone = [label(labeler, [sentence])[0] for sentence in TEXT]
    monkeypatch.setattr(onnx_backend.OnnxBackend, "max_pairs", max_pairs)
    assert any(sentence.propositions for sentence in alone)
    assert_same_answers(label(labeler, TEXT), alone)
    assert_same_answers(label(labeler, TEXT[::-1], batch_size=2), alone[::-1])
    assert_same_answers(label(labeler, TEXT * 40, batch_size=3), alone * 40)


def test_integers_are_near_floats(folder, tmp_path):
    copied = tmp_path / "model"
    shutil.copytree(folder, copied)
    export(copied, int8=False)
    backends = [load(one).backend for one in (folder, copied)]
    items = [backends[0].index(sentence) for sentence in TEXT]
    ours, exact = (backend.encode(items) for backend in backends)
    for mine, other in zip(ours.states, exact.states, strict=True):
        assert 0 < np.abs(mine - other).max() < 0.2  # not the same: they are computed in 8 bits
        assert np.corrcoef(mine.ravel(), other.ravel())[0, 1] > 0.99


def test_views_are_computed_in_integers(folder, tmp_path):
    """The BiLSTM of the predicates and what follows it; near to what floats give."""
    copied = tmp_path / "model"
    shutil.copytree(folder, copied)
    export(copied, int8=False)
    for name in (SENTENCES, unsigned(SENTENCES)):  # the same states
        shutil.copyfile(folder / name, copied / name)
    # A processor without VNNI reads this one: floats have no unsigned twin of their own.
    shutil.copyfile(copied / PROPOSITIONS, copied / unsigned(PROPOSITIONS))
    (copied / MANIFEST).unlink()
    ours, exact = (
        [
            argument.probability
            for sentence in labeler.label_sentences(TEXT, predicates="marked", uncalibrated=True)
            for proposition in sentence.propositions
            for argument in proposition.arguments
        ]
        for labeler in (load(folder), load(copied))
    )
    assert ours != exact
    np.testing.assert_allclose(ours, exact, atol=0.02)


def test_a_predicate_does_not_depend_on_the_others(folder):
    """The ranges of 8-bit values are those of one predicate."""
    labeler = load(folder)
    (together,) = labeler.label(TEXT[2], at=range(len(TEXT[2].words)))
    assert len(together.propositions) > 2
    for proposition in together.propositions:
        (alone,) = labeler.label(TEXT[2], at=[proposition.predicate])
        assert_same_answers([alone], [together.with_propositions([proposition])])


def test_unsigned_weights_give_the_same(folder, monkeypatch):
    """Exactly: both are products of integers."""
    signed = load(folder)
    opened = []
    monkeypatch.setattr(onnx_backend, "_is_exact", lambda session: False)
    real = onnx_backend._open
    monkeypatch.setattr(
        onnx_backend, "_open", lambda file, *rest: opened.append(file.name) or real(file, *rest)
    )
    others = load(folder)
    for options in ({}, {"iterations": 5}):
        assert label(others, TEXT, **options) == label(signed, TEXT, **options)
    graphs = [SENTENCES, PROPOSITIONS, TRACED]
    assert opened[:4] == [SENTENCES, *map(unsigned, graphs)]


def test_any_number_of_iterations(folder):
    for iterations in (1, 5):
        (labeled,) = label(load(folder), [TEXT[2]], iterations=iterations, trace=True)
        assert labeled.propositions
        for proposition in labeled.propositions:
            assert len(proposition.trace.beliefs) == iterations + 1


def test_graphs_of_other_weights(folder, tmp_path):
    copied = tmp_path / "model"
    shutil.copytree(folder, copied)
    load(copied)
    labeler = Labeler.load(folder, device="cpu", runtime="torch")
    labeler.save(tmp_path / "full")
    for file in copied.glob("*.safetensors"):
        file.unlink()
    for file in (tmp_path / "full").glob("*.safetensors"):
        shutil.copyfile(file, copied / file.name)
    (copied / MANIFEST).unlink()
    with pytest.raises(ModelError, match=r"not a graph of the weights .*; export it again"):
        load(copied)


def test_damaged_graph(folder, tmp_path):
    copied = tmp_path / "model"
    shutil.copytree(folder, copied)
    (copied / SENTENCES).write_bytes(b"not a graph")
    (copied / MANIFEST).unlink()
    with pytest.raises(ModelError, match=r"sentences.onnx: not a graph .* export it again"):
        load(copied)


def test_there_is_no_network_of_torch(folder):
    with pytest.raises(ConfigError, match="network: the model runs without torch"):
        load(folder).network  # noqa: B018


@pytest.mark.slow
def test_the_shipped_model_alone_and_in_shuffled_batches(shared):
    """Every sentence of a treebank, alone and among others in batches of 7 and 64."""
    labeler = capsrl.load(device="cpu", runtime="onnx")
    sentences = list(read_sentences(shared / "data/en_ewt/test.conll09.xz"))
    sentences = [sentence.with_propositions(()) for sentence in sentences]

    def label(chosen, size):
        return list(labeler.label_sentences(chosen, batch_size=size, predicates="found"))

    alone = label(sentences, 1)
    assert sum(len(sentence.propositions) for sentence in alone) > len(sentences)
    order = list(range(len(sentences)))
    for size in (1, 7, 64):
        random.Random(size).shuffle(order)
        batched = label([sentences[number] for number in order], size)
        assert_same_answers(batched, [alone[number] for number in order])
