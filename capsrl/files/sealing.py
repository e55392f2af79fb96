"""Seal safetensors files with a SHA-256 of their own content, to notice damage.

The digest is among the metadata in the header, where 64 zeros keep its place until the file has
been written. Files of older versions have no seal.
"""

import hashlib
import os
from pathlib import Path

from capsrl.errors import DataError

PLACE = {"sha256": "0" * 64}  # to be written among the metadata of a file that is to be sealed
_MARK = b'"sha256":"'
_BLOCK = 1 << 20


def seal(file: Path) -> None:
    """Write the digest of a file to its place."""
    place, digest = _find_digest(file)
    if place is None:
        raise ValueError(f"{file}: no place for a seal")
    with file.open("r+b") as stream:
        stream.seek(place)
        stream.write(digest)


def check_seal(file: Path) -> bool:
    """Raise DataError if a file is damaged; returns whether it has a seal that says so.

    A file that is not there, or not a safetensors file, is left to its reader.
    """
    if not file.is_file():
        return False
    place, digest = _find_digest(file)
    if place is None:
        return False
    with file.open("rb") as stream:
        stream.seek(place)
        found = stream.read(64)
    if found != digest:
        raise DataError(f"{file}: damaged: expected SHA-256 {found!r:.15}, got {digest!r:.15}")
    return True


def _find_digest(file: Path) -> tuple[int | None, bytes]:
    """Where the seal of a file is, and what it should be."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = stream.read(min(length, os.fstat(stream.fileno()).st_size))
        place = header.find(_MARK) + len(_MARK)
        if place < len(_MARK) or place + 64 > len(header):
            return None, b""
        digest = hashlib.sha256(length.to_bytes(8, "little"))
        digest.update(header[:place] + PLACE["sha256"].encode() + header[place + 64 :])
        while block := stream.read(_BLOCK):
            digest.update(block)
    return 8 + place, digest.hexdigest().encode()
