"""The manifest of a model folder, to notice damage: size, SHA-256 and a fast sum of each file.

Whatever writes into a folder lists what it wrote; models of older versions have no manifest. Sizes
and sums are compared whenever a model is loaded: SHA-256 takes six times as long as the sum, 20 ms
for the model that ships, and is left to `capsrl check`.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from capsrl.errors import ModelError
from capsrl.files.opening import file_digest, open_writer
from capsrl.files.replacing import sync
from capsrl.predict.folder import MANIFEST, Stored, check_file, find_stored, read_json

_FORMAT = 1
_BLOCK = 1 << 12  # bytes that are summed up to one number
_LARGE = 1 << 22  # bytes
_WEIGHTS = 0x9E3779B97F4A7C16 * np.arange(_BLOCK // 8, dtype=np.uint64) + 1  # odd, all different
_COUNTS = "learned.counts"  # a tensor that is infinite where words are never dropped
_KEYS = {"size", "sha256", "sum"}

Listed = dict[str, dict[str, Any]]  # path in the folder -> what _KEYS name


def write_manifest(folder: Path, known: Mapping[str, Any] | None = None) -> None:
    """List the files of a model folder, without its texts for readers (.md) and hidden files.

    known  entries of files that have not changed
    """
    files = {
        path.as_posix(): file
        for file in sorted(folder.rglob("*"))
        for path in [file.relative_to(folder)]
        if file.is_file() and file.suffix != ".md" and not any(p[0] == "." for p in path.parts)
    }
    files.pop(MANIFEST, None)
    listed = {
        name: (known or {}).get(name)
        or {"size": file.stat().st_size, "sha256": _sha256(file), "sum": sum_of(file)}
        for name, file in files.items()
    }
    lines = (f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in listed.items())
    with open_writer(folder / MANIFEST) as output:
        output.write(f'{{\n "format": {_FORMAT},\n "files": {{\n' + ",\n".join(lines) + "\n }\n}\n")


@contextlib.contextmanager
def listing(folder: Path, *changed: str) -> Iterator[None]:
    """List files of a model folder again after the block has replaced or removed them.

    Meanwhile there is no manifest: a model that is read, or left by a crash, is not refused.
    """
    listed = _read_listed(folder)
    if listed:
        (folder / MANIFEST).unlink()
        sync(folder)
    try:
        yield
    finally:
        write_manifest(folder, {k: v for k, v in listed.items() if k not in changed})


def _read_listed(folder: Path) -> Listed:
    """What a manifest lists; nothing if there is none. Raises ModelError if it is damaged."""
    file = folder / MANIFEST
    if not os.path.lexists(file):
        return {}
    data = read_json(file)
    if data.get("format") != _FORMAT:
        raise ModelError(f"{file}: expected format {_FORMAT}, got {data.get('format')!r:.60}")
    files = data.get("files")
    if not isinstance(files, dict) or not all(map(_is_entry, files, files.values())):
        raise ModelError(f"{file}: expected files with sizes and SHA-256, got {files!r:.60}")
    return files


def _is_entry(name: str, entry: object) -> bool:
    is_inside = not PurePosixPath(name).is_absolute() and ".." not in PurePosixPath(name).parts
    return is_inside and isinstance(entry, dict) and entry.keys() >= _KEYS


def check_manifest(folder: Path) -> None:
    """Raise ModelError naming a file of a model whose size or sum is not that of the manifest.

    In a model without one, a tensor with values that are not finite; `save` refuses to list them.
    """
    if not os.path.lexists(folder / MANIFEST):
        check_file(folder / "config.json")  # else it is no model
        check_finite(folder, find_stored(folder))
    elif damage := next(find_damage(folder), None):
        raise damage


def find_damage(folder: Path, *, thorough: bool = False) -> Iterator[ModelError]:
    """Yield an error for each listed file that is missing or has another content.

    thorough  compare SHA-256 too
    """
    measures: dict[str, Callable[[Path], object]] = {
        "size": lambda file: check_file(file, limit=None),
        "sum": sum_of,
    }
    if thorough:
        measures["sha256"] = _sha256
    for name, entry in _read_listed(folder).items():
        for measure, of_file in measures.items():
            try:
                found = of_file(folder / name)
            except ModelError as error:
                yield error
                break
            if found != entry[measure]:
                yield ModelError(
                    f"{folder / name}: expected {measure} {entry[measure]!r:.66} as in {MANIFEST}, "
                    f"got {found!r}; the file is damaged: copy the model again, or delete "
                    f"{MANIFEST} if you have changed it yourself"
                )
                break


def _sha256(file: Path) -> str:
    return file_digest(file, digits=64)


def check_finite(folder: Path, stored: Mapping[str, Stored]) -> None:
    """Raise ModelError naming a tensor of a model folder that has NaN or infinity."""
    files = {name: np.memmap(folder / name, np.uint8, "r") for name in _files_of(stored)}
    for name, place in stored.items():
        if place.dtype in ("F16", "F32", "F64") and place.size and not name.endswith(_COUNTS):
            data = files[place.file][place.offset :][: place.size]
            if not np.isfinite(data.view(f"<f{int(place.dtype[1:]) // 8}")).all():
                raise ModelError(
                    f"{folder / place.file}: {name} has values that are not finite; the file is "
                    "damaged, or its training diverged"
                )


def _files_of(stored: Mapping[str, Stored]) -> set[str]:
    return {place.file for place in stored.values() if place.size}


def sum_of(file: Path) -> str:
    """16 digits that change with any byte of a file, found as fast as its bytes can be read.

    The 64-bit numbers of each block are added up. In small files, which are texts, they have
    weights, so that the sum also changes with their order; that of large ones takes no more than
    3 ms for the model that ships.
    """
    with file.open("rb") as stream:
        is_large = os.fstat(stream.fileno()).st_size > _LARGE
        # Mapping takes half of the time of reading.
        content = mmap(stream.fileno(), 0, access=ACCESS_READ) if is_large else stream.read()
    data = np.frombuffer(content, np.uint8)
    end = len(data) // _BLOCK * _BLOCK
    numbers = data[:end].view("<u8").reshape(-1, _BLOCK // 8)
    sums = numbers.sum(1) if is_large else numbers @ _WEIGHTS
    digest = hashlib.sha256(sums.astype("<u8").tobytes())
    digest.update(data[end:].tobytes())
    return digest.hexdigest()[:16]
