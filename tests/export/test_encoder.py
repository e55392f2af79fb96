"""The graph that reads a sentence against the network."""

import dataclasses

import numpy as np
import pytest
import torch

from capsrl.predict.folder import find_stored
from capsrl.predict.subwords import SubwordReader, read_encoder_config
from tests.helpers.tiny_networks import (
    SENTENCES,
    UNSEEN,
    make_config,
    make_labeler,
    sentence,
    write_encoder,
)

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from capsrl.export.builder import Builder  # noqa: E402
from capsrl.export.encoder import encoder_graph  # noqa: E402
from tests.helpers.graphs import run_model  # noqa: E402

# Longer than the encoder accepts, so that it is read in several windows.
LONG = sentence("the old man saw no end to all these long long words")


@pytest.mark.parametrize("fine_tune", [False, True])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_same_as_torch(tmp_path, layers, fine_tune):
    write_encoder(tmp_path / "encoder", limit=24)
    config = make_config(
        embeddings={"transformer": str(tmp_path / "encoder"), "fine_tune": fine_tune},
        encoder={"layers": layers},
    )
    config, folder = dataclasses.replace(config, tagger=True), tmp_path / "model"
    labeler = make_labeler(config)
    labeler.save(folder)
    settings = read_encoder_config(folder / "transformer")
    reader = SubwordReader(folder / "transformer", settings)
    graph = encoder_graph(Builder(find_stored(folder), int8=None), config, settings)
    network = labeler.network.eval()
    for each in (*SENTENCES, UNSEEN, LONG):
        subwords, words = reader.windows(reader.read(each))
        found = run_model(graph, folder, subwords=subwords, words=words)
        with torch.no_grad():
            [states] = network.encode(network.collate([network.index(each)]))
            tags, predicates = network.tagger(states).argmax(-1), network.finder(states)
        np.testing.assert_allclose(found["states"], states, atol=1e-4)
        np.testing.assert_allclose(found["predicates"], predicates, rtol=1e-4, atol=1e-3)
        assert found["tags"].tolist() == tags.tolist()
        assert "exact" not in found  # only of graphs in 8 bits
