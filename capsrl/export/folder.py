"""Write the graphs of a model into its folder."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from capsrl.config import ModelConfig
from capsrl.errors import ModelError
from capsrl.export.builder import Builder, Int8
from capsrl.export.graphs import propositions_graph, sentences_graph
from capsrl.files.opening import open_binary_writer
from capsrl.predict.folder import (
    PROPOSITIONS,
    SENTENCES,
    TRACED,
    TRANSFORMER,
    find_stored,
    read_config,
    unsigned,
)
from capsrl.predict.manifest import listing
from capsrl.predict.subwords import is_plain_bert, read_encoder_config
from capsrl.settings import flatten, to_values

# The settings that graphs follow, or that matter in training alone, and the values that they know
# (None: all). Any other setting must have its default: a new one is refused until it is here.
_KNOWN: Mapping[str, tuple[str, ...] | None] = {
    **dict.fromkeys(("tagger", "phrase_width", "embeddings.transformer", "embeddings.fine_tune")),
    **dict.fromkeys(f"encoder.{name}" for name in ("layers", "width", "predicate_width")),
    **dict.fromkeys(f"{part}.dropout" for part in ("embeddings", "encoder", "capsules")),
    **dict.fromkeys(f"encoder.{part}_dropout" for part in ("recurrent", "output")),
    **dict.fromkeys(f"capsules.{name}" for name in ("projection_dropout", "xavier", "global_bias")),
    **dict.fromkeys(f"capsules.{name}" for name in ("size", "rank", "iterations")),
    **dict.fromkeys(f"capsules.initial_{name}" for name in ("scale", "agreement")),
    "capsules.routing_chunks": None,
    "capsules.variant": ("capsule+global", "capsule", "word", "baseline"),
    "capsules.form": ("dense", "factored"),
    "capsules.predicate": ("state",),
    "capsules.global_from": ("intermediate", "squashed"),
    "frames.roles": ("none", "first", "every"),
    "frames.descriptions": None,
}


def export(folder: Path, *, int8: bool = True) -> list[Path]:
    """Write the graphs of a model into its folder, over the weights that are there.

    int8  multiply with 8-bit weights where they are stored so; else with 32-bit floats

    Raises ModelError for a model that cannot be exported, and says why.
    """
    config = read_config(folder)
    _check_sources(folder, config)
    check_settings(folder, config)
    transformer = read_encoder_config(folder / TRANSFORMER)
    if not is_plain_bert(transformer):
        kind = transformer.get("model_type")
        raise ModelError(f"{folder}: expected an encoder like BERT, got {kind}; label with torch")
    stored = find_stored(folder)
    contents: dict[Path, bytes | None] = {}
    for name in (SENTENCES, PROPOSITIONS, TRACED):
        kinds: dict[str, Int8 | None] = {name: "signed", unsigned(name): "unsigned"}
        if not int8:
            kinds = {name: None}
            contents[folder / unsigned(name)] = None
        for file, kind in kinds.items():
            builder = Builder(stored, int8=kind)
            if name == SENTENCES:
                graph = sentences_graph(builder, config, transformer)
            else:
                graph = propositions_graph(builder, config, traced=name == TRACED)
            contents[folder / file] = graph.SerializeToString()
    with listing(folder, *(file.name for file in contents)):
        _replace_files(contents, folder / SENTENCES)
    return [file for file, content in contents.items() if content is not None]


def _check_sources(folder: Path, config: ModelConfig) -> None:
    """Refuse what graphs do not exist for: only the transformer is read without torch."""
    embeddings = config.embeddings
    sources = ("elmo", "fasttext", "learned", "characters", "tags", "mark_predicate")
    more = [name for name in sources if getattr(embeddings, name)]
    if embeddings.transformer is None or more:
        found = ", ".join(more) or "no transformer"
        raise ModelError(
            f"{folder}: cannot be exported: its word vectors come from {found}, not from a "
            "transformer alone; label with torch"
        )


def check_settings(folder: Path, config: ModelConfig) -> None:
    """Refuse a setting that changes the network in a way that the graphs do not know."""
    defaults = flatten(to_values(ModelConfig()))
    for key, value in flatten(to_values(config)).items():
        known = _KNOWN.get(key, (defaults.get(key),))
        if known is not None and value not in known:
            raise ModelError(
                f"{folder}: cannot be exported: there are no graphs for model.{key} = {value!r}; "
                "label with torch"
            )


def _replace_files(contents: Mapping[Path, bytes | None], mark: Path) -> None:
    """Write all files, or remove those without content.

    mark  the file without which no other is read. It is removed before the first file is replaced
          and is the last to come back, so a crash never leaves old files and new that are read.
    """
    with ExitStack() as stack:  # renames the files when it ends, the mark last
        for file in sorted(contents, key=lambda each: each != mark):
            if (content := contents[file]) is not None:
                writer = stack.enter_context(open_binary_writer(file))
                writer.write(content)
                writer.flush()  # a full disk is noticed while the old files are still there
        mark.resolve().unlink(missing_ok=True)
        for file, content in contents.items():
            if content is None:
                file.unlink(missing_ok=True)
