"""The manifest of a model folder, to notice damage: size, SHA-256 and a fast sum of each file.

Whatever writes into a folder lists what it wrote; models of older versions have no manifest. Sizes
and sums are compared whenever a model is loaded: SHA-256 takes four times as long as the sum, 20 ms
for the model that ships, and is left to `capsrl check`.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from capsrl.errors import ModelError
from capsrl.files.opening import file_digest, open_writer
from capsrl.files.replacing import sync
from capsrl.predict.folder import MANIFEST, check_file, find_stored, read_json

_FORMAT = 1
_BLOCK = 1 << 12  # bytes that are summed up to one number
_LARGE = 1 << 22  # bytes
_WEIGHTS = 0x9E3779B97F4A7C16 * np.arange(_BLOCK // 8, dtype=np.uint64) + 1  # odd, all different
_COUNTS = "learned.counts"  # a tensor that is infinite where words are never dropped
_KEYS = {"size", "sha256", "sum"}


def write_manifest(folder: Path, known: Mapping[str, Any] | None = None) -> None:
    """List the files of a model folder, without its texts for readers (.md) and hidden files.

    known  entries of files that have not changed
    """
    listed = dict(known or {})
    for file in sorted(folder.rglob("*")):
        path = file.relative_to(folder)
        is_hidden = any(part.startswith(".") for part in path.parts)
        if file.is_file() and file.suffix != ".md" and not is_hidden and path.name != MANIFEST:
            listed.setdefault(path.as_posix(), _measure(file, thorough=True))
    lines = (f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in listed.items())
    with open_writer(folder / MANIFEST) as output:
        output.write(f'{{\n "format": {_FORMAT},\n "files": {{\n' + ",\n".join(lines) + "\n }\n}\n")


@contextlib.contextmanager
def listing(folder: Path, *changed: str) -> Iterator[None]:
    """List files of a model folder again after the block has replaced or removed them.

    Meanwhile there is no manifest: a model that is read, or left by a crash, is not refused.
    """
    listed = _read_listed(folder)
    (folder / MANIFEST).unlink(missing_ok=True)
    sync(folder)
    try:
        yield
    finally:
        write_manifest(folder, {k: v for k, v in listed.items() if k not in changed})


def _read_listed(folder: Path) -> dict[str, dict[str, Any]]:
    """What a manifest lists; nothing if there is none. Raises ModelError if it is damaged."""
    file = folder / MANIFEST
    if not os.path.lexists(file):
        return {}
    data = read_json(file)
    files = data.get("files")
    if data.get("format") != _FORMAT or not isinstance(files, dict):
        raise ModelError(f"{file}: expected files in format {_FORMAT}, got {data!r:.60}")
    for name, entry in files.items():
        is_inside = not name.startswith("/") and ".." not in name.split("/")
        if not is_inside or not isinstance(entry, dict) or not entry.keys() >= _KEYS:
            raise ModelError(f"{file}: expected sizes and sums of files, got {name!r:.60}")
    return files


def check_manifest(folder: Path) -> None:
    """Raise ModelError naming a file of a model whose size or sum is not that of the manifest.

    In a model without one, a tensor with values that are not finite; `save` refuses to list them.
    """
    if not os.path.lexists(folder / MANIFEST):
        check_file(folder / "config.json")  # else it is no model
        check_finite(folder)
    elif damage := next(find_damage(folder), None):
        raise damage


def find_damage(folder: Path, *, thorough: bool = False) -> Iterator[ModelError]:
    """Yield an error for each listed file that is missing or has another content.

    thorough  compare SHA-256 too
    """
    for name, entry in _read_listed(folder).items():
        try:
            found = _measure(folder / name, thorough=thorough)
        except ModelError as error:
            yield error
            continue
        if different := [key for key in found if found[key] != entry[key]]:
            expected, got = (f"{each[different[0]]!r:.66}" for each in (entry, found))
            yield ModelError(
                f"{folder / name}: expected {different[0]} {expected} as in {MANIFEST}, got {got}; "
                f"the file is damaged: copy the model again, or delete {MANIFEST} if you have "
                "changed it yourself"
            )


def _measure(file: Path, *, thorough: bool) -> dict[str, Any]:
    found = {"size": check_file(file, limit=None), "sum": sum_of(file)}
    return {**found, "sha256": file_digest(file, digits=64)} if thorough else found


def check_finite(folder: Path) -> None:
    """Raise ModelError naming a tensor of a model folder that has NaN or infinity."""
    for name, place in find_stored(folder).items():
        if place.dtype in ("F16", "F32", "F64") and not name.endswith(_COUNTS):
            width, file = int(place.dtype[1:]) // 8, folder / place.file
            values = np.fromfile(file, f"<f{width}", place.size // width, offset=place.offset)
            if not np.isfinite(values).all():
                raise ModelError(
                    f"{file}: {name} has values that are not finite; the file is damaged, or its "
                    "training diverged"
                )


def sum_of(file: Path) -> str:
    """16 digits that change with any byte of a file, found as fast as its bytes can be read.

    The 64-bit numbers of each block are added up. In small files, which are texts, they have
    weights, so that the sum also changes with their order; that of large ones takes not more than
    4 ms for the model that ships.
    """
    with file.open("rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        # Mapping takes half of the time of reading.
        content = mmap(stream.fileno(), 0, access=ACCESS_READ) if size > _BLOCK else stream.read()
    data = np.frombuffer(content, np.uint8)
    end = len(data) // _BLOCK * _BLOCK
    numbers = data[:end].view("<u8").reshape(-1, _BLOCK // 8)
    sums = numbers.sum(1) if size > _LARGE else numbers @ _WEIGHTS
    return hashlib.sha256(sums.astype("<u8").tobytes() + data[end:].tobytes()).hexdigest()[:16]
