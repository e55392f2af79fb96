"""The plan of a bulk run: which rows of which inputs make a shard; written once.

PLAN in the output folder has JSON lines: the settings of the run, then one line for each input with
the places where its parts begin. A part has at most `shard_size` rows. A shard is a part, or
several small ones that together have no more rows than that.
"""

import contextlib
import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError
from capsrl.files.opening import file_digest
from capsrl.files.remote import file_system_of, is_url
from capsrl.tables.parquet import DamagedError
from capsrl.tables.reading import FilePart, Input

PLAN = "plan.jsonl"
_PLAN_FORMAT = 1
TEXT_OF_SHARD = 1 << 17  # characters of text in a shard of the default size, about
MAX_ROWS = 2_000  # in a shard of the default size
_SAMPLE = 100  # documents of an input that show how long they are
_SAMPLED_INPUTS = 20
_DIFFERENCES = 5  # differences that a message names
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class PlannedInput:
    """An input and its parts.

    path     or URL
    size     in bytes
    stamp    time of its last change, or what an object store has instead
    digest   SHA-256 of its bytes
    n_rows   the number of its last row, plus 1
    firsts   numbers of the first rows of its parts
    offsets  the bytes at which they begin; None where a file is not read by bytes
    """

    path: str
    size: int
    stamp: str
    digest: str
    n_rows: int
    firsts: Numbers
    offsets: Numbers | None

    def to_json(self) -> str:
        """One line of JSON."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return json.dumps(values, ensure_ascii=False, default=np.ndarray.tolist) + "\n"

    @classmethod
    def from_json(cls, line: str) -> "PlannedInput":
        """The input of a line that `to_json` made."""
        values = json.loads(line)
        for name in ("firsts", "offsets"):
            if values[name] is not None:
                values[name] = np.array(values[name], np.int64)
        return cls(**values)


class Plan:
    """The settings of a run and its inputs.

    settings    all that the output depends on besides the inputs, as JSON values
    shard_size  rows of a shard, at most
    """

    def __init__(
        self, settings: Mapping[str, Any], shard_size: int, inputs: Sequence[PlannedInput]
    ) -> None:
        self.settings = dict(settings)
        self.shard_size = shard_size
        self.inputs = inputs
        lengths = [len(each.firsts) for each in inputs]
        ends = [np.append(each.firsts[1:], each.n_rows) for each in inputs if len(each.firsts)]
        # One entry for each part of all inputs.
        self._input = np.repeat(np.arange(len(inputs)), lengths)
        self._part = np.concatenate([np.arange(n) for n in [0, *lengths]])
        self._counts = _concatenate(ends) - _concatenate([each.firsts for each in inputs])
        self._starts = np.array([*_pack(self._counts.tolist(), shard_size)], np.int64)

    @property
    def n_shards(self) -> int:
        """The number of shards."""
        return len(self._starts)

    @property
    def n_rows(self) -> int:
        """The number of rows of all inputs."""
        return int(self._counts.sum())

    def parts(self, shard: int) -> list[FilePart]:
        """The rows of a shard."""
        return [self._make_part(number) for number in range(*self._parts_of(shard))]

    def n_rows_of(self, shard: int) -> int:
        """The number of rows of a shard."""
        return int(self._counts[slice(*self._parts_of(shard))].sum())

    def name(self, shard: int) -> str:
        """The file of a shard in the output folder; that it exists means that the shard is done."""
        return f"data/part-{shard:07}.{self.settings['to']}"

    def find_done(self, folder: Folder) -> NDArray[np.bool_]:
        """Which shards are done."""
        done = np.zeros(self.n_shards, np.bool_)
        suffix = f".{self.settings['to']}"
        # Listings have pages of 1,000 names, and so many begin with the same four digits.
        prefixes = (f"part-{block:04}" for block in range(-(-self.n_shards // 1000)))
        for name in folder.list("data", prefixes):
            number = name.removeprefix("part-").removesuffix(suffix)
            if number.isdecimal() and int(number) < self.n_shards:
                done[int(number)] |= self.name(int(number)) == f"data/{name}"
        return done

    def write(self, folder: Folder) -> None:
        """Write the plan into the output folder."""
        with folder.writing(PLAN) as path, open(path, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(self._lines())

    def digest(self) -> str:
        """The digest that identifies the plan."""
        digest = hashlib.sha256()
        for line in self._lines():
            digest.update(line.encode())
        return digest.hexdigest()

    def _lines(self) -> Iterator[str]:
        head = {"format": _PLAN_FORMAT, "shard_size": self.shard_size, "settings": self.settings}
        yield json.dumps(head, ensure_ascii=False) + "\n"
        yield from (each.to_json() for each in self.inputs)

    def _parts_of(self, shard: int) -> tuple[int, int]:
        is_last = shard + 1 == self.n_shards
        stop = len(self._counts) if is_last else int(self._starts[shard + 1])
        return int(self._starts[shard]), stop

    def _make_part(self, number: int) -> FilePart:
        planned, part = self.inputs[self._input[number]], self._part[number]
        first = int(planned.firsts[part])
        stop = first + int(self._counts[number])
        offset = None if planned.offsets is None else int(planned.offsets[part])
        return FilePart(first, stop, offset, planned.path, planned.size)


def read_plan(folder: Folder) -> Plan | None:
    """Read the plan of a folder, None if it has none; raises DataError if it is damaged."""
    where = f"{folder.url}/{PLAN}"
    try:
        with folder.open(PLAN) as raw, io.TextIOWrapper(raw, encoding="utf-8") as file:
            head = json.loads(file.readline())
            if head["format"] != _PLAN_FORMAT:
                raise DataError(
                    f"{where}: expected a plan of format {_PLAN_FORMAT}, got {head['format']}; "
                    "use the version of capsrl that wrote it, or another folder"
                )
            inputs = [PlannedInput.from_json(line) for line in file]
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{where}: not a plan of capsrl bulk: {error}") from None
    return Plan(head["settings"], head["shard_size"], inputs)


def check_settings(
    plan: Plan, settings: Mapping[str, Any], shard_size: int | None, where: str
) -> None:
    """Raise ConfigError naming what differs between the plan of a folder and a new one.

    shard_size  None: as it is in the plan
    """
    found = {**_flat(plan.settings), "shard_size": plan.shard_size}
    wanted = {**_flat(settings), "shard_size": shard_size or plan.shard_size}
    different = [
        f"{key} was {_as_json(found.get(key))}, now {_as_json(wanted.get(key))}"
        for key in sorted({*wanted, *found})
        if wanted.get(key) != found.get(key)
    ]
    if different:
        raise ConfigError(
            f"{where} was started with other settings: {'; '.join(different[:_DIFFERENCES])}; "
            "give the same settings, or another folder"
        )


def scan(given: Input, shard_size: int) -> PlannedInput:
    """Read an input once for its digest and once for its parts."""
    size, stamp = stat(given.path)
    firsts, offsets, n_rows = [], [], 0
    for part in given.parts(shard_size):
        firsts.append(part.first)
        offsets.append(part.offset)
        n_rows = part.stop or 0
    has_offsets = bool(offsets) and None not in offsets
    return PlannedInput(
        given.path,
        size,
        stamp,
        file_digest(given.path, digits=64),
        n_rows,
        np.array(firsts, np.int64),
        np.array(offsets, np.int64) if has_offsets else None,
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


def choose_shard_size(inputs: Sequence[Input]) -> int:
    """The rows of a shard with about TEXT_OF_SHARD characters, by the first rows of some inputs.

    Raises ConfigError or DataError for an input without a column of texts.
    """
    lengths = [
        length
        for given in inputs[:: max(1, len(inputs) // _SAMPLED_INPUTS)]
        for length in islice(_lengths(given), _SAMPLE)
    ]
    mean = max(1, sum(lengths)) / max(1, len(lengths))
    return max(1, min(MAX_ROWS, round(TEXT_OF_SHARD / mean)))


def _lengths(given: Input) -> Iterator[int]:
    with contextlib.suppress(DamagedError):  # which concerns the shard that has these rows
        yield from (len(document.text or "") for document in given.documents())


def check_inputs(plan: Plan, paths: Iterable[str], where: str) -> None:
    """Raise ConfigError if the inputs are not those of the plan, naming the first that differs.

    The bytes of an input are read only if its stamp has changed.
    """
    paths = list(paths)
    planned = [each.path for each in plan.inputs]
    if paths != planned:
        new, gone = sorted({*paths} - {*planned}), sorted({*planned} - {*paths})
        what = f"{new[0]} is new" if new else f"{gone[0]} is missing" if gone else "another order"
        raise ConfigError(
            f"{where} was started with other inputs: {what}; give the same, or another folder"
        )
    for each in plan.inputs:
        size, stamp = stat(each.path)
        is_same = stamp == each.stamp or file_digest(each.path, digits=64) == each.digest
        if size != each.size or not is_same:
            raise ConfigError(
                f"{where} was started with other inputs: {each.path} has changed; "
                "give another folder"
            )


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings with those inside others as `options.threshold`."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat.update({f"{key}.{name}": each for name, each in value.items()})
        else:
            flat[key] = value
    return flat


def _pack(counts: Iterable[int], limit: int) -> Iterator[int]:
    """The numbers of the parts with which a new shard begins."""
    n_rows = limit
    for number, count in enumerate(counts):
        if n_rows + count > limit:
            yield number
            n_rows = 0
        n_rows += count


def _concatenate(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _as_json(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
