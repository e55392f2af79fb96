"""The plan of a bulk run: which rows of which inputs make a shard; written once.

PLAN in the output folder has JSON lines: the settings of the run, then one line for each input with
the places where its parts begin, then the SHA-256 of these lines. A part has at most `shard_size`
rows. A shard is a part, or several small ones that together have no more rows than that.

Inputs that are added later have a file of their own, plan-2.jsonl and so on, and shards of their
own after those of the inputs before.
"""

import contextlib
import dataclasses
import hashlib
import itertools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError, unreadable
from capsrl.files.opening import file_digest, name_of
from capsrl.files.remote import file_system_of, is_url
from capsrl.tables.parquet import DamagedError
from capsrl.tables.reading import FilePart, Input

PLAN = "plan.jsonl"
_PLAN_FORMAT = 2
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
    counts   how many documents they have; fewer than rows where lines are blank
    """

    path: str
    size: int
    stamp: str
    digest: str
    n_rows: int
    firsts: Numbers
    offsets: Numbers | None
    counts: Numbers

    def to_json(self) -> str:
        """One line of JSON, without passwords of a URL."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        values["path"] = name_of(self.path)
        return json.dumps(values, ensure_ascii=False, default=np.ndarray.tolist) + "\n"

    @classmethod
    def from_json(cls, line: bytes, paths: Mapping[str, str]) -> "PlannedInput":
        """The input of a line that `to_json` made; `paths` are those of names."""
        values = json.loads(line)
        values["path"] = paths.get(values["path"], values["path"])
        for name in ("firsts", "offsets", "counts"):
            if values[name] is not None:
                values[name] = np.array(values[name], np.int64)
        return cls(**values)


class Plan:
    """The settings of a run and its inputs.

    settings    all that the output depends on besides the inputs, as JSON values
    shard_size  rows of a shard, at most
    begins      the numbers of the inputs with which its files begin
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        shard_size: int,
        inputs: Sequence[PlannedInput],
        begins: Sequence[int] = (0,),
    ) -> None:
        self.settings = dict(settings)
        self.shard_size = shard_size
        self.inputs = inputs
        self._begins = begins
        lengths = [len(each.firsts) for each in inputs]
        ends = [np.append(each.firsts[1:], each.n_rows) for each in inputs if len(each.firsts)]
        # One entry for each part of all inputs.
        self._input = np.repeat(np.arange(len(inputs)), lengths)
        self._part = np.concatenate([np.arange(n) for n in [0, *lengths]])
        self._counts = _concatenate(ends) - _concatenate([each.firsts for each in inputs])
        bounds = [*np.searchsorted(self._input, begins).tolist(), len(self._counts)]
        starts = [
            first + number
            for first, stop in pairwise(bounds)
            for number in _pack(self._counts[first:stop].tolist(), shard_size)
        ]
        self._starts = np.array(starts, np.int64)

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
        """The file of a shard in the output folder."""
        return f"data/part-{shard:07}.{self.settings['to']}"

    def output_sizes(self, folder: Folder) -> Numbers:
        """The sizes of the files of all shards; -1 where there is none."""
        sizes = np.full(self.n_shards, -1, np.int64)
        suffix = f".{self.settings['to']}"
        # Listings have pages of 1,000 names, and so many begin with the same four digits.
        prefixes = (f"part-{block:04}" for block in range(-(-self.n_shards // 1000)))
        for name, size in folder.sizes("data", prefixes):
            number = name.removeprefix("part-").removesuffix(suffix)
            if number.isdecimal() and int(number) < self.n_shards:
                if self.name(int(number)) == f"data/{name}":
                    sizes[int(number)] = size
        return sizes

    def with_inputs(self, inputs: Sequence[PlannedInput]) -> "Plan":
        """The plan and more inputs."""
        begins = (*self._begins, len(self.inputs))
        return Plan(self.settings, self.shard_size, [*self.inputs, *inputs], begins)

    def write(self, folder: Folder) -> None:
        """Write the plan into the output folder; if inputs were added, only the last file."""
        content = "".join(self._lines(self._begins[-1])).encode()
        folder.write(_name(len(self._begins)), content + _digest_line(content))

    def digest(self) -> str:
        """The digest that identifies the plan."""
        return hashlib.sha256("".join(self._lines()).encode()).hexdigest()

    def _lines(self, first: int = 0) -> Iterator[str]:
        head = {"format": _PLAN_FORMAT, "shard_size": self.shard_size, "settings": self.settings}
        yield json.dumps(head, ensure_ascii=False) + "\n"
        yield from (each.to_json() for each in islice(self.inputs, first, None))

    def _parts_of(self, shard: int) -> tuple[int, int]:
        is_last = shard + 1 == self.n_shards
        stop = len(self._counts) if is_last else int(self._starts[shard + 1])
        return int(self._starts[shard]), stop

    def _make_part(self, number: int) -> FilePart:
        planned, part = self.inputs[self._input[number]], self._part[number]
        first = int(planned.firsts[part])
        stop = first + int(self._counts[number])
        offset = None if planned.offsets is None else int(planned.offsets[part])
        count = int(planned.counts[part])
        return FilePart(first, stop, offset, planned.path, planned.size, count)


def read_plan(folder: Folder, paths: Iterable[str] = ()) -> Plan | None:
    """Read the plan of a folder, None if it has none; raises DataError if it is damaged.

    paths  of the inputs, with the passwords and queries of URLs, which the plan does not have
    """
    named = {name_of(path): path for path in paths}
    head: dict[str, Any] = {}
    inputs: list[PlannedInput] = []
    begins = []
    for number in itertools.count(1):
        where = f"{folder.url}/{_name(number)}"
        try:
            with folder.open(_name(number)) as file:
                first, *rest = _checked_lines(file.read())
            found = json.loads(first)
            if found["format"] != _PLAN_FORMAT:
                raise DataError(
                    f"{where}: expected a plan of format {_PLAN_FORMAT}, got {found['format']}; "
                    "use the version of capsrl that wrote it, or another folder"
                )
            if found != (head := head or found):
                raise DataError(f"{where}: expected the settings of {PLAN}, got others")
            begins.append(len(inputs))
            inputs += (PlannedInput.from_json(line, named) for line in rest)
        except FileNotFoundError:
            break
        except (ValueError, TypeError, KeyError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{where}: not a plan of capsrl bulk: {error}") from None
    return Plan(head["settings"], head["shard_size"], inputs, begins) if begins else None


def has_plan(folder: Folder) -> bool:
    """Whether a folder, on a disk or in an object store, is the output of capsrl bulk."""
    if not (folder.is_local or folder.is_object_store):
        return False
    try:
        with folder.open(PLAN) as file:
            return re.match(rb'\{"format": \d+, "shard_size": \d', file.read(60)) is not None
    except (OSError, DataError):
        return False


def _checked_lines(content: bytes) -> list[bytes]:
    """The lines of a file of a plan but the last; raises ValueError if that does not fit them."""
    end = content.rfind(b"\n", 0, -1) + 1
    if content[end:] != _digest_line(content[:end]):
        raise ValueError("it is damaged, cut short or of an older version; use another folder")
    return content[:end].splitlines()


def _digest_line(content: bytes) -> bytes:
    return b'{"sha256": "%s"}\n' % hashlib.sha256(content).hexdigest().encode()


def _name(number: int) -> str:
    """The name of a file of the plan, from 1."""
    return PLAN if number == 1 else f"plan-{number}.jsonl"


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
    firsts, offsets, counts, n_rows = [], [], [], 0
    for part in given.parts(shard_size):
        firsts.append(part.first)
        offsets.append(part.offset)
        counts.append(part.count)
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
        np.array(counts, np.int64),
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
        raise DataError(unreadable(path, error)) from None
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


def find_added(plan: Plan, paths: Iterable[str], where: str) -> list[str]:
    """Which paths are not in the plan; the order of those that are does not matter.

    The bytes of an input are read only if its stamp has changed.
    Raises ConfigError if an input of the plan is missing or has changed.
    """
    paths, planned = list(paths), {each.path for each in plan.inputs}
    for gone in sorted(planned.difference(paths)):
        raise ConfigError(
            f"{where} was started with other inputs: {gone} is missing; give the same, with new "
            "ones or without, or another folder"
        )
    for each in plan.inputs:
        size, stamp = stat(each.path)
        is_same = stamp == each.stamp or file_digest(each.path, digits=64) == each.digest
        if size != each.size or not is_same:
            raise ConfigError(
                f"{where} was started with other inputs: {each.path} has changed; "
                "give another folder"
            )
    return [path for path in paths if path not in planned]


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
