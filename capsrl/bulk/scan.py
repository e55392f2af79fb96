"""Read the inputs of a bulk run for its plan: size, digest, and where their parts begin."""

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np

from capsrl.bulk.plan import Plan, Source
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import file_digest
from capsrl.files.remote import file_system_of, is_url
from capsrl.tables.documents import Input

TEXT_OF_SHARD = 1 << 17  # characters of text in a shard of the default size, about
MAX_ROWS = 2_000  # in a shard of the default size
_SAMPLE = 100  # documents of an input that show how long they are
_SAMPLED_INPUTS = 20


def scan(source: Input, shard_size: int) -> Source:
    """Read an input once for its digest and once for its parts."""
    size, stamp = stat(source.path)
    parts = [(part.first, part.offset, part.count) for part in source.parts(shard_size)]
    n_rows = parts[-1][0] + parts[-1][2] if parts else 0
    has_offsets = bool(parts) and all(offset is not None for _, offset, _ in parts)
    return Source(
        source.path,
        size,
        stamp,
        file_digest(source.path, digits=64),
        n_rows,
        np.array([first for first, *_ in parts], np.int64),
        np.array([offset for _, offset, _ in parts], np.int64) if has_offsets else None,
    )


def stat(path: str) -> tuple[int, str]:
    """The size of an input in bytes, and a stamp that changes when it is written.

    Raises DataError if there is no such input.
    """
    try:
        if not is_url(path):
            found = os.stat(path)
            return found.st_size, str(found.st_mtime_ns)
        fs, inner = file_system_of(path)
        info: dict[str, Any] = fs.info(inner)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
    stamps = (info.get(key) for key in ("ETag", "etag", "md5Hash", "mtime", "LastModified"))
    return int(info["size"]), str(next((s for s in stamps if s is not None), ""))


def choose_shard_size(sources: Sequence[Input]) -> int:
    """The rows of a shard with about TEXT_OF_SHARD characters, by the first rows of some inputs.

    Raises ConfigError or DataError for an input without a column of texts.
    """
    step = max(1, len(sources) // _SAMPLED_INPUTS)
    lengths = [
        len(document.text or "")
        for source in sources[::step]
        for document in islice(source.documents(), _SAMPLE)
    ]
    mean = max(1, sum(lengths)) / max(1, len(lengths))
    return max(1, min(MAX_ROWS, round(TEXT_OF_SHARD / mean)))


def check_inputs(plan: Plan, paths: Iterable[str], where: str) -> None:
    """Raise ConfigError if the inputs are not those of the plan, naming the first that differs.

    The bytes of an input are read only if its stamp has changed.
    """
    paths = list(paths)
    planned = [source.path for source in plan.sources]
    if paths != planned:
        new, gone = sorted({*paths} - {*planned}), sorted({*planned} - {*paths})
        what = f"{new[0]} besides" if new else f"no {gone[0]}" if gone else "another order"
        raise ConfigError(
            f"{where}: expected the {len(planned):,} inputs with which this folder was begun, got "
            f"{len(paths):,}, {what}; give the same inputs, or another folder"
        )
    for source in plan.sources:
        size, stamp = stat(source.path)
        if size != source.size or (
            stamp != source.stamp and file_digest(source.path, digits=64) != source.digest
        ):
            raise ConfigError(
                f"{where}: expected {source.path} as it was when this folder was begun, "
                f"{source.size:,} bytes, got {size:,} bytes with another content; "
                "give another folder"
            )
