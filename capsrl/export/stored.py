"""Where each tensor of a model folder is stored: file, offset, type and shape."""

import json
from dataclasses import dataclass
from pathlib import Path

from capsrl.errors import ModelError
from capsrl.model.weight_files import weight_files


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
    header.pop("__metadata__", None)
    tensors: dict[str, Stored] = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        tensors[name] = Stored(
            file.name, 8 + length + start, end - start, entry["dtype"], tuple(entry["shape"])
        )
    return tensors
