"""The plan of a bulk run: which rows of which inputs make a shard; written once.

PLAN in the output folder has JSON lines: the settings of the run, then one line for each input with
the places where its parts begin. A part has at most `shard_size` rows. A shard is a part, or
several small ones that together have no more rows than that.
"""

import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.bulk.storage import Folder
from capsrl.errors import ConfigError, DataError

PLAN = "plan.jsonl"
FORMAT = 1
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Source:
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
        values = {
            "path": self.path,
            "size": self.size,
            "stamp": self.stamp,
            "digest": self.digest,
            "n_rows": self.n_rows,
            "firsts": self.firsts.tolist(),
            "offsets": None if self.offsets is None else self.offsets.tolist(),
        }
        return json.dumps(values, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, line: str) -> "Source":
        """The source of a line that `to_json` made."""
        values = json.loads(line)
        for name in ("firsts", "offsets"):
            if values[name] is not None:
                values[name] = np.array(values[name], np.int64)
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Piece:
    """Rows of one input.

    size         of the whole input; another size means that it has changed
    first, stop  numbers of the first row and of the one after the last
    offset       the byte at which the first begins, if it is known
    """

    path: str
    size: int
    first: int
    stop: int
    offset: int | None = None


class Plan:
    """The settings of a run and its inputs.

    settings    all that the output depends on besides the inputs, as JSON values
    shard_size  rows of a shard, at most
    """

    def __init__(
        self, settings: Mapping[str, Any], shard_size: int, sources: Sequence[Source]
    ) -> None:
        self.settings = dict(settings)
        self.shard_size = shard_size
        self.sources = sources
        lengths = [len(source.firsts) for source in sources]
        ends = [np.append(s.firsts[1:], s.n_rows) for s in sources if len(s.firsts)]
        # One entry for each part of all inputs.
        self._source = np.repeat(np.arange(len(sources)), lengths)
        self._part = np.concatenate([np.arange(n) for n in [0, *lengths]])
        self._counts = _join(ends) - _join([source.firsts for source in sources])
        self._starts = np.array([*_pack(self._counts.tolist(), shard_size)], np.int64)

    @property
    def n_shards(self) -> int:
        """The number of shards."""
        return len(self._starts)

    @property
    def n_rows(self) -> int:
        """The number of rows of all inputs."""
        return int(self._counts.sum())

    def pieces(self, shard: int) -> list[Piece]:
        """The rows of a shard."""
        return [self._piece(part) for part in range(*self._parts_of(shard))]

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
        """What identifies the plan."""
        digest = hashlib.sha256()
        for line in self._lines():
            digest.update(line.encode())
        return digest.hexdigest()

    def _lines(self) -> Iterator[str]:
        head = {"format": FORMAT, "shard_size": self.shard_size, "settings": self.settings}
        yield json.dumps(head, ensure_ascii=False) + "\n"
        yield from (source.to_json() for source in self.sources)

    def _parts_of(self, shard: int) -> tuple[int, int]:
        is_last = shard + 1 == self.n_shards
        stop = len(self._counts) if is_last else int(self._starts[shard + 1])
        return int(self._starts[shard]), stop

    def _piece(self, part: int) -> Piece:
        source = self.sources[self._source[part]]
        number = self._part[part]
        first = int(source.firsts[number])
        offset = None if source.offsets is None else int(source.offsets[number])
        return Piece(source.path, source.size, first, first + int(self._counts[part]), offset)


def read_plan(folder: Folder) -> Plan | None:
    """Read the plan of a folder, None if it has none; raises DataError if it is damaged."""
    where = f"{folder.url}/{PLAN}"
    try:
        with folder.open(PLAN) as raw, io.TextIOWrapper(raw, encoding="utf-8") as file:
            head = json.loads(file.readline())
            if head["format"] != FORMAT:
                raise DataError(
                    f"{where}: expected a plan of format {FORMAT}, got {head['format']}; use the "
                    "version of capsrl that wrote it, or another folder"
                )
            sources = [Source.from_json(line) for line in file]
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{where}: expected a plan of capsrl bulk, got {error}") from None
    return Plan(head["settings"], head["shard_size"], sources)


def check_settings(
    plan: Plan, settings: Mapping[str, Any], shard_size: int | None, where: str
) -> None:
    """Raise ConfigError naming what differs between the plan of a folder and a new one.

    shard_size  None: as it is in the plan
    """
    found = {**_flat(plan.settings), "shard_size": plan.shard_size}
    wanted = {**_flat(settings), "shard_size": shard_size or plan.shard_size}
    different = [
        f"{key} {_shown(wanted.get(key))} instead of {_shown(found.get(key))}"
        for key in sorted({*wanted, *found})
        if wanted.get(key) != found.get(key)
    ]
    if different:
        raise ConfigError(
            f"{where}: expected the settings with which this folder was begun, got "
            f"{'; '.join(different)}; give the same settings, or another folder"
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


def _join(arrays: Sequence[Numbers]) -> Numbers:
    return np.concatenate([np.zeros(0, np.int64), *arrays])


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."
