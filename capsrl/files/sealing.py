"""Seal safetensors files with a SHA-256 of their own content, to notice damage.

The digest is in the header, where 64 zeros keep its place until the file has been written. Files of
older versions have no seal.
"""

import hashlib
from pathlib import Path

from capsrl.errors import DataError

PLACE = {"sha256": "0" * 64}  # to be written among the metadata of a file that is to be sealed
_MARK, _ZEROS = b'"sha256":"', b"0" * 64


def seal(file: Path) -> None:
    """Write the digest of a file to its place."""
    start, _, digest = _find_seal(file.read_bytes())
    with file.open("r+b") as stream:
        stream.seek(start)
        stream.write(digest)


def check_seal(file: Path) -> bool:
    """Raise DataError if a file is damaged; returns whether it has a seal, which tells that."""
    start, found, digest = _find_seal(file.read_bytes())
    if start and found != digest:
        raise DataError(f"{file}: damaged: expected SHA-256 {found!r:.15}, got {digest!r:.15}")
    return start > 0


def _find_seal(data: bytes) -> tuple[int, bytes, bytes]:
    """Where a seal is, 0 if there is none; what it is, and what it should be."""
    start = data.find(_MARK, 8, 8 + int.from_bytes(data[:8], "little")) + len(_MARK)
    if start < len(_MARK):
        return 0, b"", b""
    digest = hashlib.sha256(data[:start] + _ZEROS)
    digest.update(memoryview(data)[start + 64 :])
    return start, data[start : start + 64], digest.hexdigest().encode()
