"""A model folder: the names of its files, its settings and inventory, where each weight is.

`capsrl.network.save` writes folders and loads their weights.
"""

import dataclasses
import hashlib
import json
import math
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, get_args

from capsrl.config import ModelConfig
from capsrl.device import may_have_gpu
from capsrl.errors import ConfigError, DataError, ModelError, unreadable
from capsrl.files.opening import file_digest
from capsrl.frames.index import FRAMES_FILE, FrameIndex
from capsrl.predict.inventory import Inventory
from capsrl.settings import build, find_mistakes

MODEL_FORMAT = 1  # version of the folder; raised when older versions of capsrl cannot read it
# The exported graphs, optional. TRACED computes the same as PROPOSITIONS, with any number of
# iterations.
SENTENCES, PROPOSITIONS, TRACED = "sentences.onnx", "propositions.onnx", "propositions-trace.onnx"
MANIFEST = "manifest.json"  # optional; see `capsrl.predict.manifest`
TRANSFORMER = "transformer"  # the folder of a pretrained encoder, optional
SCALE = "#scale"  # after the name of a quantized matrix: the scales of its rows

MAX_TEXT = 1 << 26  # bytes of a text file of a model; the tokenizer of Gemma has half as many

_RENAMED = {"span_width": "phrase_width"}  # settings in the config.json of older models

Runtime = Literal["onnx", "torch"]


def unsigned(graph: str) -> str:
    """The name of the graph that computes the same on processors without VNNI."""
    return graph.replace(".onnx", "-u8.onnx")


def read_config(folder: Path) -> ModelConfig:
    """The settings of a model; raises ModelError if they are missing, damaged or too new."""
    file = folder / "config.json"
    data = {_RENAMED.get(key, key): value for key, value in read_json(file).items()}
    found = data.pop("format", None)
    if not isinstance(found, int) or found > MODEL_FORMAT:
        raise ModelError(
            f"{file}: expected a model folder of format {MODEL_FORMAT} or older, got {found}; "
            "upgrade capsrl"
        )
    if isinstance(data.get("capsules"), dict):
        data["capsules"].pop("lookup_width", None)  # of older models
    mistakes = find_mistakes(ModelConfig, data)
    if mistakes:
        raise ModelError("\n".join(f"{file}: {mistake}" for mistake in mistakes.values()))
    return build(ModelConfig, data)


def read_inventory(folder: Path) -> Inventory:
    """The inventory of a model, with its frames; raises ModelError as `read_config`."""
    inventory = Inventory.from_dict(read_json(folder / "vocab.json"), source=str(folder))
    if not os.path.lexists(folder / FRAMES_FILE):
        return inventory
    check_file(folder / FRAMES_FILE)
    try:
        return dataclasses.replace(inventory, frames=FrameIndex.load(folder / FRAMES_FILE))
    except DataError as error:
        raise ModelError(str(error)) from None


def fingerprint(folder: Path, *more: Path) -> str:
    """16 digits that change with any file that decides what a model answers.

    more  other files or folders that matter, such as frames; one that does not exist has no files
    """
    digest = hashlib.sha256()
    for root in (folder, *more):
        for file in [root] if root.is_file() else sorted(root.rglob("*")):
            if file.is_file() and file.suffix != ".md" and file.name != MANIFEST:
                name = file.relative_to(root).as_posix()
                digest.update(f"{name} {file_digest(str(file))}\n".encode())
    return digest.hexdigest()[:16]


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object of a model folder; raises ModelError if it is missing or damaged."""
    check_file(file)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ModelError(unreadable(file, error)) from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{file}: not JSON: {error}") from None
    if not isinstance(data, dict):
        raise ModelError(f"{file}: expected a JSON object, got {type(data).__name__}")
    return data


def check_file(file: Path, *, limit: int | None = MAX_TEXT) -> int:
    """The size of a file of a model; raises ModelError unless it is a plain file within the limit.

    The folder may come from anywhere: a pipe would block, and a device never end.
    """
    try:
        found = os.stat(file)
    except FileNotFoundError:
        raise ModelError(f"{file.parent}: {file.name} is missing") from None
    except OSError as error:
        raise ModelError(unreadable(file, error)) from None
    if not stat.S_ISREG(found.st_mode):
        kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or device"
        raise ModelError(f"{file}: expected a file, got {kind}")
    if limit is not None and found.st_size > limit:
        raise ModelError(f"{file}: expected at most {limit:,} bytes, got {found.st_size:,}")
    return found.st_size


def choose_runtime(folder: Path, device: object, runtime: str | None) -> Runtime:
    """What runs a model on a device; raises ConfigError or ModelError if `runtime` cannot."""
    if runtime not in (None, *get_args(Runtime)):
        raise ConfigError(f"runtime: expected onnx or torch, got {runtime!r}")
    exported = (folder / SENTENCES).is_file() and (folder / PROPOSITIONS).is_file()
    on_cpu = not may_have_gpu() if device is None else str(device) == "cpu"
    if runtime == "onnx" and device is not None and not on_cpu:
        raise ConfigError(f"device: expected cpu with runtime onnx, got {device}")
    if runtime == "onnx" and not exported:
        raise ModelError(
            f"{folder}: not exported; `capsrl export {folder}` makes {SENTENCES} and {PROPOSITIONS}"
        )
    usable = exported and on_cpu and find_spec("onnxruntime") is not None
    return "onnx" if runtime == "onnx" or (runtime is None and usable) else "torch"


def weight_files(folder: Path) -> list[Path]:
    """All shards in order; raises ModelError naming one that is missing."""
    digits = "[0-9]" * 5
    files = sorted(folder.glob(f"weights-{digits}-of-{digits}.safetensors"))
    if not files:
        raise ModelError(f"{folder}: weights-*.safetensors are missing")
    count = int(files[-1].stem.rpartition("-of-")[2])
    expected = [folder / shard_name(number, count) for number in range(1, count + 1)]
    for file in expected:
        if file not in files:
            raise ModelError(f"{folder}: {file.name} is missing")
    for file in files:
        if file not in expected:
            raise ModelError(f"{folder}: {file.name} is none of the {count} files of weights")
        check_file(file, limit=None)
    return files


def shard_name(number: int, count: int) -> str:
    """The name of a file of weights, numbered from 1."""
    return f"weights-{number:05}-of-{count:05}.safetensors"


@dataclass(frozen=True)
class Stored:
    """The place of one tensor.

    file           name of the file in the model folder
    offset, size   in bytes
    dtype          as safetensors calls it: I8, F16, F32, I64
    """

    file: str
    offset: int
    size: int
    dtype: str
    shape: tuple[int, ...]


def find_stored(folder: Path) -> dict[str, Stored]:
    """All tensors of a model folder by name; raises ModelError for a damaged file."""
    found: dict[str, Stored] = {}
    for file in weight_files(folder):
        try:
            found.update(_read_header(file))
        except (ValueError, KeyError, TypeError, RecursionError, OSError) as error:
            raise ModelError(f"{file}: not a safetensors file: {error}") from None
    return found


def _read_header(file: Path) -> dict[str, Stored]:
    """A file starts with the length of its header in 8 bytes, then the header as JSON."""
    with file.open("rb") as stream:
        length, size = int.from_bytes(stream.read(8), "little"), file.stat().st_size
        if length > min(size, MAX_TEXT):
            raise ValueError(f"a header of {length} bytes in a file of {size}")
        header = json.loads(stream.read(length))
    if not isinstance(header, dict):
        raise ValueError(f"a header that is a {type(header).__name__}")
    header.pop("__metadata__", None)
    tensors: dict[str, Stored] = {}
    end_of_all = 8 + length
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        dtype, shape = entry["dtype"], tuple(entry["shape"])
        if not all(isinstance(n, int) and n >= 0 for n in (start, *shape)):
            raise ValueError(f"{name} has a negative size")
        bits = int(dtype.strip("BFIUOL") or 8)  # of F32, I8, BOOL
        if (end - start) * 8 != math.prod(shape) * bits:
            raise ValueError(f"{name} has {end - start} bytes, which are not {shape} of {dtype}")
        tensors[name] = Stored(file.name, 8 + length + start, end - start, dtype, shape)
        end_of_all = max(end_of_all, 8 + length + end)
    if end_of_all != size:
        raise ValueError(f"tensors up to byte {end_of_all} in a file of {size}")
    return tensors


def digest_of(stored: Mapping[str, Stored]) -> str:
    """A digest of the places of all tensors, by which graphs tell whether they fit."""
    places = json.dumps({name: vars(place) for name, place in stored.items()}, sort_keys=True)
    return hashlib.sha256(places.encode()).hexdigest()
