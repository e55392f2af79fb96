"""The files of weights in a model folder, and where each tensor is in them; without torch."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capsrl.errors import ModelError

SCALE = "#scale"  # after the name of a quantized matrix: the scales of its rows


def weight_files(folder: Path) -> list[Path]:
    """All shards in order; raises ModelError naming one that is missing."""
    digits = "[0-9]" * 5
    files = sorted(folder.glob(f"weights-{digits}-of-{digits}.safetensors"))
    if not files:
        raise ModelError(f"{folder}: expected weights-*.safetensors, got no such file")
    count = int(files[-1].stem.rpartition("-of-")[2])
    expected = [folder / shard_name(number, count) for number in range(1, count + 1)]
    missing = [file.name for file in expected if file not in files]
    if missing:
        raise ModelError(f"{folder}: expected {missing[0]}, got no such file")
    extra = [file.name for file in files if file not in expected]
    if extra:
        raise ModelError(f"{folder}: expected {count} files of weights, got {extra[0]} beside them")
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
        except (ValueError, KeyError, OSError) as error:
            raise ModelError(f"{file}: expected a safetensors file, got {error}") from None
    return found


def _read_header(file: Path) -> dict[str, Stored]:
    """A file starts with the length of its header in 8 bytes, then the header as JSON."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > file.stat().st_size:
            raise ValueError(f"a header of {length} bytes in a file of {file.stat().st_size}")
        header = json.loads(stream.read(length))
    if not isinstance(header, dict):
        raise ValueError(f"a header that is a {type(header).__name__}")
    header.pop("__metadata__", None)
    tensors: dict[str, Stored] = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        tensors[name] = Stored(
            file.name, 8 + length + start, end - start, entry["dtype"], tuple(entry["shape"])
        )
    return tensors


def digest_of(stored: Mapping[str, Stored]) -> str:
    """A digest of the places of all tensors, by which graphs tell whether they fit."""
    places = json.dumps({name: vars(place) for name, place in stored.items()}, sort_keys=True)
    return hashlib.sha256(places.encode()).hexdigest()
