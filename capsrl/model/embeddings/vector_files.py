"""Pretrained word vectors as fastText publishes them, `.vec` text and `.bin`: word -> its vector.

Opening a file reads its list of words; of the vectors themselves, gigabytes in the released files,
only the rows asked for are ever read. Both formats are memory-mapped, so a file may be larger than
the memory and processes share it.
"""

import mmap
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import DataError

Vector = NDArray[np.float32]

MAGIC = 793712314
NEWEST_VERSION = 12
SUPERVISED = 3  # the value of args.model for text classifiers
END_OF_SENTENCE = "</s>"  # fastText's own entry for line ends, which has no subwords


class WordPlaces:
    """Bytes -> integer, in some 20 bytes a word: a dict of two million words takes ten times that.

    Words are found by hash; their text stays in the file, so the caller checks what is found.
    """

    def __init__(self, hashes: "array[int]", places: "array[int]") -> None:
        unordered = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unordered, kind="stable")  # of equal words the first in the file wins
        self._hashes = unordered[order]
        self._places = np.frombuffer(places, dtype=np.int64)[order]

    def __len__(self) -> int:
        return len(self._places)

    def candidates(self, word: bytes) -> list[int]:
        """Places of the words with the hash of this one: none, its own, very rarely others too."""
        start, end = (int(np.searchsorted(self._hashes, hash(word), s)) for s in ("left", "right"))
        return [int(place) for place in self._places[start:end]]


class TextVectors:
    """A `.vec` file: a line per word, `word v1 ... vE`, below an optional line `words E`.

    width  E, size of the vectors
    Values are separated by single spaces. A word may hold spaces itself (GloVe has such). A word
    listed twice has its first vector. Rows are checked when they are asked for.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if self.path.suffix in (".gz", ".xz", ".zip"):
            raise DataError(
                f"{path}: expected an uncompressed .vec or .bin file, got {self.path.suffix}; "
                "unpack it, so that single rows can be read"
            )
        self._map = _open_map(self.path)
        first = self._line(0)
        parts = first.split(b" ")
        header = len(parts) == 2 and all(part.isdigit() for part in parts)
        self.width = int(parts[1]) if header else len(parts) - 1
        if self.width < 1:
            shown = first[:40].decode("utf-8", "replace")
            raise DataError(f"{path}:1: expected `word v1 v2 ...` or `words width`, got {shown!r}")
        self._places = self._find_words(skip_first=header)

    def __contains__(self, word: str) -> bool:
        return self._find(word) is not None

    def vector(self, word: str) -> Vector | None:
        """The vector of a word, None if the file has none. Raises DataError at a damaged row."""
        place = self._find(word)
        if place is None:
            return None
        values = self._line(place).rsplit(b" ", self.width)[1:]
        try:
            return np.array([float(value) for value in values], dtype=np.float32)
        except ValueError:
            raise DataError(
                f"{self.path}:{self._number(place)}: expected {self.width} numbers after {word!r}, "
                f"got {b' '.join(values)[:40].decode('utf-8', 'replace')!r}"
            ) from None

    def __deepcopy__(self, memo: object) -> "TextVectors":
        return self  # read only; a model that is copied must not copy the file

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.path,)

    def _line(self, start: int) -> bytes:
        end = self._map.find(b"\n", start)
        line: bytes = self._map[start : end if end >= 0 else len(self._map)]
        return line.rstrip(b"\r ")

    def _number(self, place: int) -> int:
        self._map.seek(0)
        number = 1
        while self._map.tell() < place:
            self._map.readline()
            number += 1
        return number

    def _find_words(self, *, skip_first: bool) -> WordPlaces:
        hashes, places = array("q"), array("q")
        self._map.seek(0)
        start = len(self._map.readline()) if skip_first else 0
        self._map.seek(start)
        while line := self._map.readline():
            row = line.rstrip(b"\r\n ")
            n_spaces = row.count(b" ")  # splitting every row would take most of the time
            if n_spaces >= self.width:
                plain = n_spaces == self.width
                word = row.partition(b" ")[0] if plain else row.rsplit(b" ", self.width)[0]
                hashes.append(hash(word))
                places.append(start)
            elif row:
                raise DataError(
                    f"{self.path}:{self._number(start)}: expected a word and {self.width} numbers, "
                    f"got {n_spaces + 1} columns; the file is damaged or cut short"
                )
            start += len(line)
        return WordPlaces(hashes, places)

    def _find(self, word: str) -> int | None:
        key = word.encode("utf-8", "replace")
        for place in self._places.candidates(key):
            if self._line(place).rsplit(b" ", self.width)[0] == key:
                return place
        return None


class BinaryVectors:
    """A `.bin` file of fastText (format 11 or 12): words, and subwords for any other word.

    width  E, size of the vectors
    `vector` equals fastText's own `get_word_vector`: the mean over a word's row, where it has
    one, and the rows its character n-grams are hashed to.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._map = _open_map(self.path)
        self._cursor = 0
        magic, version = self._read("<ii")
        if magic != MAGIC or version not in (11, NEWEST_VERSION):
            raise DataError(
                f"{path}: expected a fastText model of format 11 or {NEWEST_VERSION}, "
                f"got {'another kind of file' if magic != MAGIC else f'format {version}'}"
            )
        arguments = self._read("<12id")
        self.width, model, self._n_buckets = arguments[0], arguments[7], arguments[8]
        self._shortest, self._longest = arguments[9], arguments[10]
        if self._n_buckets == 0 or (version == 11 and model == SUPERVISED):
            self._longest = 0  # old classifiers had no subwords, whatever the field says
        n_entries, self._n_words, _, _, n_pruned = self._read("<iiiqq")
        self._places = self._find_words(n_entries)
        self._cursor += 8 * max(n_pruned, 0)
        (quantised,) = self._read("<?")
        if quantised or n_pruned >= 0:
            raise DataError(
                f"{path}: expected full vectors, got a {'quantised' if quantised else 'pruned'} "
                "fastText model; use the .bin or .vec file it was made from"
            )
        self._rows = self._map_rows()

    def __contains__(self, word: str) -> bool:
        return self._find(word.encode("utf-8", "replace")) is not None

    def vector(self, word: str) -> Vector | None:
        """The vector of a word; None if it is not in the dictionary and has no subwords."""
        row = self._find(word.encode("utf-8", "replace"))
        rows = ([] if row is None else [row]) + self._subword_rows(word)
        if not rows:
            return None
        # Rows are added one by one in single precision, as fastText does.
        total: Vector = self._rows[rows].sum(axis=0, dtype=np.float32)
        return total * np.float32(1 / len(rows))

    def __deepcopy__(self, memo: object) -> "BinaryVectors":
        return self  # read only; a model that is copied must not copy the file

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.path,)

    def _read(self, form: str) -> tuple[int, ...]:
        try:
            values = struct.unpack_from(form, self._map, self._cursor)
        except struct.error:
            raise self._cut_short(self._cursor + struct.calcsize(form)) from None
        self._cursor += struct.calcsize(form)
        return values

    def _find_words(self, n_entries: int) -> WordPlaces:
        """An entry is its text, a zero byte, its count and its kind: 9 more bytes."""
        self._starts, hashes = array("q"), array("q")
        for entry in range(n_entries):
            end = self._map.find(b"\0", self._cursor)
            if end < 0:
                raise self._cut_short(len(self._map) + 1)
            if entry < self._n_words:  # labels of a classifier come after the words
                hashes.append(hash(self._map[self._cursor : end]))
                self._starts.append(self._cursor)
            self._cursor = end + 10
        return WordPlaces(hashes, array("q", range(len(hashes))))

    def _map_rows(self) -> NDArray[np.float32]:
        n_rows, width = self._read("<qq")
        end = self._cursor + 4 * n_rows * width
        if end > len(self._map):
            raise self._cut_short(end)
        if (n_rows, width) != (self._n_words + self._n_buckets, self.width):
            raise DataError(
                f"{self.path}: expected {self._n_words + self._n_buckets} rows of {self.width} "
                f"numbers, got {n_rows} of {width}; the file is damaged"
            )
        return np.ndarray((n_rows, width), dtype="<f4", buffer=self._map, offset=self._cursor)

    def _find(self, key: bytes) -> int | None:
        for row in self._places.candidates(key):
            start = self._starts[row]
            if self._map[start : start + len(key) + 1] == key + b"\0":
                return row
        return None

    def _subword_rows(self, word: str) -> list[int]:
        if word == END_OF_SENTENCE:
            return []
        hashes = subword_hashes(word, shortest=self._shortest, longest=self._longest)
        return [self._n_words + value % self._n_buckets for value in hashes]

    def _cut_short(self, expected: int) -> DataError:
        return DataError(
            f"{self.path}: expected at least {expected} bytes, got {len(self._map)}; "
            "the file is damaged or cut short"
        )


def open_vectors(path: str | Path) -> TextVectors | BinaryVectors:
    """Open a file of word vectors: `.bin` and `.ftz` as fastText's binary, any other as text."""
    return BinaryVectors(path) if Path(path).suffix in (".bin", ".ftz") else TextVectors(path)


def subword_hashes(word: str, *, shortest: int, longest: int) -> Iterator[int]:
    """FNV-1a of the UTF-8 bytes of each n-gram of `<word>`, in fastText's order.

    As in fastText bytes above 127 are sign-extended (once a bug, now the format), and `<` and `>`
    alone are no n-grams.
    """
    letters = [letter.encode("utf-8", "replace") for letter in f"<{word}>"]
    for start in range(len(letters)):
        value = 2166136261
        for n, letter in enumerate(letters[start : start + longest], start=1):
            for byte in letter:
                value = (value ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619
                value &= 0xFFFFFFFF
            boundary = n == 1 and (start == 0 or start == len(letters) - 1)
            if n >= shortest and not boundary:
                yield value


def _open_map(path: Path) -> mmap.mmap:
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:  # the only file that cannot be mapped
        raise DataError(f"{path}: expected word vectors, got an empty file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None
