"""What a bulk run has done so far: counts, the log, and the status file.

log.jsonl    one JSON object for each event: start, shard, failure, bad_row, set_aside, end
status.json  the whole run at a glance, replaced every few seconds
counts/      the counts of a shard, from before its output appears until they are in the log: no
             moment at which a run is killed loses them
"""

import contextlib
import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.bulk.storage import Folder
from capsrl.errors import DataError

LOG = "log.jsonl"
STATUS = "status.json"
BEFORE = "finished before"  # state of a run that had nothing left to do; never in the file
FAILED = "failed"  # kind of the errors of rows at which a worker failed
_KINDS = {
    FAILED: re.compile("^expected a text that can be labeled"),
    "no text": re.compile("^expected text in"),
    "encoding": re.compile("got byte|surrogate"),
    "too long": re.compile("at most .* (bytes|characters)"),
}


@dataclass
class Counts:
    """What is in some shards.

    errors  what is wrong with documents that could not be labeled -> how many
    """

    documents: int = 0
    sentences: int = 0
    propositions: int = 0
    arguments: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Counts") -> None:
        """Add the counts of other shards."""
        for name in ("documents", "sentences", "propositions", "arguments"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.errors.update(other.errors)

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON values."""
        return {**self.__dict__, "errors": dict(sorted(self.errors.items()))}

    def to_json(self) -> bytes:
        """The counts as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False).encode() + b"\n"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Counts":
        """The counts of a dict that `to_dict` made, which may have other entries too."""
        own = {name: values[name] for name in cls.__dataclass_fields__}
        return cls(**{**own, "errors": Counter(own["errors"])})


def error_kind(error: str) -> str:
    """The kind of an error of a document, for counting."""
    return next((kind for kind, pattern in _KINDS.items() if pattern.search(error)), "bad row")


def counts_name(shard: int) -> str:
    """The file of the counts of a shard that is not in the log yet."""
    return f"counts/{shard:07}.json"


class RunLog:
    """The log of a run: appended to on a disk, one object for some events in an object store."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._waiting: list[tuple[str, int | None]] = []  # lines, with the shard that they count
        self._run = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"
        self._n_files = 0
        if folder.is_local and folder.has(LOG):
            folder.append(LOG, b"\n")  # the line before may have been cut off

    def write(self, kind: str, **values: object) -> None:
        """Add an event; on a disk it is written at once."""
        self._add(kind, None, values)

    def write_shard(self, shard: int, counts: Counts, **values: object) -> None:
        """Add the counts of a shard whose output exists."""
        self._add("shard", shard, {"shard": shard, **counts.to_dict(), **values})

    def flush(self) -> None:
        """Write what is in memory."""
        if not self._waiting:
            return
        data = "".join(f"{line}\n" for line, _ in self._waiting).encode()
        if self._folder.is_local:
            self._folder.append(LOG, data)
        else:
            self._folder.write(f"log/{self._run}-{self._n_files:06}.jsonl", data)
        self._n_files += 1
        self._folder.remove(counts_name(shard) for _, shard in self._waiting if shard is not None)
        self._waiting = []

    def _add(self, kind: str, shard: int | None, values: Mapping[str, object]) -> None:
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": time, "kind": kind, **values}, ensure_ascii=False)
        # In one step: Ctrl-C may come between any two, and what is removed must be in the log.
        self._waiting.append((line, shard))
        if self._folder.is_local:
            self.flush()


def read_log(folder: Folder) -> Iterator[dict[str, Any]]:
    """Yield the events of all runs; a line that was cut off by a kill is skipped."""
    for line in _log_lines(folder):
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _log_lines(folder: Folder) -> Iterator[bytes]:
    if not folder.is_local:
        for _, content in folder.read_all(f"log/{name}" for name in sorted(folder.list("log"))):
            yield from content.splitlines()
        return
    with contextlib.suppress(FileNotFoundError), folder.open(LOG) as file:
        yield from file


def count_done(folder: Folder, done: NDArray[np.bool_]) -> tuple[Counts, list[int]]:
    """The counts of the shards that are done, and those of them that the log does not have."""
    counts = Counts()
    missing = done.copy()
    for event in read_log(folder):
        number = event["shard"] if event.get("kind") == "shard" else len(done)
        if number < len(done) and missing[number]:
            missing[number] = False
            counts.add(Counts.from_dict(event))
    return counts, np.flatnonzero(missing).tolist()


def read_counts(folder: Folder, shards: Iterable[int]) -> Iterator[tuple[int, Counts]]:
    """The counts of shards that are done but not in the log."""
    names = {counts_name(shard): shard for shard in shards}
    for name, content in folder.read_all(names):
        yield names[name], Counts.from_dict(json.loads(content))


def is_alive(pid: int) -> bool:
    """Whether this machine has a process with this number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # of another user
        pass
    return True


def write_status(folder: Folder, status: Mapping[str, Any]) -> None:
    """Replace the status file."""
    text = json.dumps(status, ensure_ascii=False, indent=1)
    folder.write(STATUS, f"{text}\n".encode())


def read_status(folder: Folder) -> dict[str, Any]:
    """Read the status file; raises DataError if the folder has none."""
    try:
        with folder.open(STATUS) as file:
            status: dict[str, Any] = json.load(file)
    except FileNotFoundError:
        raise DataError(
            f"{folder.url}: expected a folder that capsrl bulk writes, got no {STATUS}"
        ) from None
    return status
