"""Read the settings and the inventory of a model folder, without torch."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from capsrl.config import ModelConfig
from capsrl.errors import DataError, ModelError
from capsrl.frames.index import FrameIndex
from capsrl.predict.inventory import Inventory
from capsrl.settings import build, find_mistakes

FORMAT = 1  # version of the folder; raised when older versions of capsrl cannot read it
# The exported graphs, optional. TRACED computes the same as PROPOSITIONS, with any number of
# iterations.
SENTENCES, PROPOSITIONS, TRACED = "sentences.onnx", "propositions.onnx", "propositions-trace.onnx"
FRAMES = "frames.tsv"  # optional; see `FrameIndex`


def unsigned(graph: str) -> str:
    """The name of the graph that computes the same on processors without VNNI."""
    return graph.replace(".onnx", "-u8.onnx")


def read_config(folder: Path) -> ModelConfig:
    """The settings of a model; raises ModelError if they are missing, damaged or too new."""
    file = folder / "config.json"
    data = read_json(file)
    found = data.pop("format", None)
    if not isinstance(found, int) or found > FORMAT:
        raise ModelError(
            f"{file}: expected a model folder of format {FORMAT} or older, got {found}; "
            "upgrade capsrl"
        )
    mistakes = find_mistakes(ModelConfig, data)
    if mistakes:
        raise ModelError("\n".join(f"{file}: {mistake}" for mistake in mistakes.values()))
    return build(ModelConfig, data)


def read_inventory(folder: Path) -> Inventory:
    """The inventory of a model, with its frames; raises ModelError as `read_config`."""
    inventory = Inventory.from_dict(read_json(folder / "vocab.json"), source=str(folder))
    if not (folder / FRAMES).exists():
        return inventory
    try:
        return dataclasses.replace(inventory, frames=FrameIndex.load(folder / FRAMES))
    except DataError as error:
        raise ModelError(str(error)) from None


def fingerprint(folder: Path) -> str:
    """16 digits that change with any file that decides what a model answers."""
    patterns = ("*.json", "*.onnx", "*.tsv", "weights-*.safetensors", "transformer/*")
    digest = hashlib.sha256()
    for file in sorted(file for pattern in patterns for file in folder.glob(pattern)):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:16]


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object of a model folder; raises ModelError if it is missing or damaged."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file.parent}: expected {file.name}, got no such file") from None
    except ValueError as error:
        raise ModelError(f"{file}: expected JSON, got {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{file}: expected a JSON object, got {type(data).__name__}")
    return data
