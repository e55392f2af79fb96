"""Write the graphs of a model into its folder."""

import os
from pathlib import Path

import onnx

from capsrl.config import ModelConfig
from capsrl.errors import ModelError
from capsrl.export.builder import Builder, Int8
from capsrl.export.encoder import encoder_graph
from capsrl.export.propositions import propositions_graph
from capsrl.model.read_folder import PROPOSITIONS, SENTENCES, TRACED, UNSIGNED, read_config
from capsrl.model.subwords import is_plain_bert, read_encoder_config
from capsrl.model.weight_files import find_stored


def export(folder: Path, *, int8: bool = True) -> list[Path]:
    """Write the graphs of a model into its folder, over the weights that are there.

    int8  multiply with 8-bit weights where they are stored so; else with 32-bit floats

    Raises ModelError for a model that cannot be exported, and says why.
    """
    config = read_config(folder)
    _check(folder, config)
    transformer = read_encoder_config(folder / "transformer")
    if not is_plain_bert(transformer):
        kind = transformer.get("model_type")
        raise ModelError(f"{folder}: expected an encoder like BERT, got {kind}; label with torch")
    stored = find_stored(folder)
    kinds: dict[str, Int8 | None] = {SENTENCES: "signed", UNSIGNED: "unsigned"}
    if not int8:
        kinds = {SENTENCES: None}
        (folder / UNSIGNED).unlink(missing_ok=True)
    graphs = {
        **{
            name: encoder_graph(Builder(stored, int8=kind), config, transformer)
            for name, kind in kinds.items()
        },
        PROPOSITIONS: propositions_graph(Builder(stored, int8=None), config, traced=False),
        TRACED: propositions_graph(Builder(stored, int8=None), config, traced=True),
    }
    return [_write(graph, folder / name) for name, graph in graphs.items()]


def _check(folder: Path, config: ModelConfig) -> None:
    """Refuse what graphs do not exist for: only the transformer is read without torch."""
    embeddings = config.embeddings
    sources = ("elmo", "fasttext", "learned", "characters", "tags", "mark_predicate")
    more = [name for name in sources if getattr(embeddings, name)]
    if embeddings.transformer is None or more:
        found = ", ".join(more) or "none"
        raise ModelError(
            f"{folder}: expected model.embeddings with a transformer alone, got {found}; label "
            "with torch"
        )


def _write(graph: onnx.ModelProto, file: Path) -> Path:
    temporary = file.with_suffix(".part")
    temporary.write_bytes(graph.SerializeToString())
    os.replace(temporary, file)
    return file
