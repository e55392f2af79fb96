"""Read single word vectors from fastText's `.vec` (text) and `.bin` files.

Opening a file reads its list of words. The vectors, gigabytes in the released files, are read row
by row on demand. Both formats are memory-mapped, so a file may be larger than the memory and
processes share it.
"""

import mmap
import struct
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from capsrl.errors import DataError, unreadable

Vector = NDArray[np.float32]

MAGIC = 793712314
NEWEST_VERSION = 12
SUPERVISED = 3  # the value of args.model for text classifiers
END_OF_SENTENCE = "</s>"  # fastText's entry for line ends, which has no subwords


class HashIndex:
    """Maps words to integers by their hashes, as sorted arrays.

    This takes about 20 bytes a word; a dict of two million words takes ten times that. The words
    themselves stay in the file, so the caller must compare them with the candidates.
    """

    def __init__(self, hashes: "array[int]", values: "array[int]") -> None:
        unordered = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unordered, kind="stable")  # the first of equal words comes first
        self._hashes = unordered[order]
        self._values = np.frombuffer(values, dtype=np.int64)[order]

    def __len__(self) -> int:
        return len(self._values)

    def candidates(self, word: bytes) -> list[int]:
        """The values of all words with the hash of this one."""
        start, end = (int(np.searchsorted(self._hashes, hash(word), s)) for s in ("left", "right"))
        return [int(value) for value in self._values[start:end]]


class TextVectors:
    """A `.vec` file: one line `word v1 ... vE` per word, after an optional first line `words E`.

    width  E, the size of the vectors
    Values are separated by single spaces. A word may contain spaces (GloVe has some). The first of
    two lines of a word counts. A row is checked when it is read.
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
        header = len(parts) == 2 and all(part.isdigit() and len(part) < 20 for part in parts)
        self.width = int(parts[1]) if header else len(parts) - 1
        if self.width < 1:
            shown = first[:40].decode("utf-8", "replace")
            raise DataError(f"{path}:1: expected `word v1 v2 ...` or `words width`, got {shown!r}")
        self._starts = self._find_words(skip_first=header)

    def __contains__(self, word: str) -> bool:
        return self._find(word) is not None

    def vector(self, word: str) -> Vector | None:
        """The vector of a word, None if the file has none. Raises DataError for a damaged row."""
        start = self._find(word)
        if start is None:
            return None
        values = self._line(start).rsplit(b" ", self.width)[1:]
        try:
            return np.array([float(value) for value in values], dtype=np.float32)
        except ValueError:
            raise DataError(
                f"{self.path}:{self._line_number(start)}: expected {self.width} numbers after "
                f"{word!r}, got {b' '.join(values)[:40].decode('utf-8', 'replace')!r}"
            ) from None

    def __deepcopy__(self, memo: object) -> "TextVectors":
        return self  # read-only, so copies of a model can share the file

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.path,)

    def _line(self, start: int) -> bytes:
        end = self._map.find(b"\n", start)
        line: bytes = self._map[start : end if end >= 0 else len(self._map)]
        return line.rstrip(b"\r ")

    def _line_number(self, start: int) -> int:
        self._map.seek(0)
        number = 1
        while self._map.tell() < start:
            self._map.readline()
            number += 1
        return number

    def _find_words(self, *, skip_first: bool) -> HashIndex:
        hashes, starts = array("q"), array("q")
        self._map.seek(0)
        start = len(self._map.readline()) if skip_first else 0
        self._map.seek(start)
        while line := self._map.readline():
            row = line.rstrip(b"\r\n ")
            n_spaces = row.count(b" ")  # much faster than splitting every row
            if n_spaces >= self.width:
                plain = n_spaces == self.width
                word = row.partition(b" ")[0] if plain else row.rsplit(b" ", self.width)[0]
                hashes.append(hash(word))
                starts.append(start)
            elif row:
                raise DataError(
                    f"{self.path}:{self._line_number(start)}: expected a word and {self.width} "
                    f"numbers, got {n_spaces + 1} columns; the file is damaged or cut short"
                )
            start += len(line)
        return HashIndex(hashes, starts)

    def _find(self, word: str) -> int | None:
        key = word.encode("utf-8", "replace")
        for start in self._starts.candidates(key):
            if self._line(start).rsplit(b" ", self.width)[0] == key:
                return start
        return None


class BinaryVectors:
    """A `.bin` file of fastText (format 11 or 12), which has vectors for subwords too.

    width  E, the size of the vectors
    `vector` equals fastText's `get_word_vector`: the mean of the row of the word, if it has one,
    and the rows that its character n-grams are hashed to.
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
            self._longest = 0  # old classifiers had no subwords, whatever this field contains
        n_entries, self._n_words, _, _, n_pruned = self._read("<iiiqq")
        self._words = self._find_words(n_entries)
        self._cursor += 8 * max(n_pruned, 0)
        (quantized,) = self._read("<?")
        if quantized or n_pruned >= 0:
            raise DataError(
                f"{path}: expected full vectors, got a {'quantized' if quantized else 'pruned'} "
                "fastText model; use the .bin or .vec file it was made from"
            )
        self._rows = self._map_rows()

    def __contains__(self, word: str) -> bool:
        return self._find(word.encode("utf-8", "replace")) is not None

    def vector(self, word: str) -> Vector | None:
        """The vector of a word; None for a word outside the dictionary without subwords."""
        row = self._find(word.encode("utf-8", "replace"))
        rows = ([] if row is None else [row]) + self._subword_rows(word)
        if not rows:
            return None
        # Summed in single precision, as fastText does.
        total: Vector = self._rows[rows].sum(axis=0, dtype=np.float32)
        return total * np.float32(1 / len(rows))

    def __deepcopy__(self, memo: object) -> "BinaryVectors":
        return self  # read-only, so copies of a model can share the file

    def __reduce__(self) -> tuple[type, tuple[Path]]:
        return type(self), (self.path,)

    def _read(self, form: str) -> tuple[int, ...]:
        try:
            values = struct.unpack_from(form, self._map, self._cursor)
        except (struct.error, OverflowError):  # a place beyond 2^63
            raise self._cut_short(self._cursor + struct.calcsize(form)) from None
        self._cursor += struct.calcsize(form)
        return values

    def _find_words(self, n_entries: int) -> HashIndex:
        """Index the dictionary; an entry is text, a zero byte, then 9 bytes of count and type."""
        self._starts, hashes = array("q"), array("q")
        for entry in range(n_entries):
            end = self._map.find(b"\0", self._cursor)
            if end < 0:
                raise self._cut_short(len(self._map) + 1)
            if entry < self._n_words:  # the labels of a classifier follow the words
                hashes.append(hash(self._map[self._cursor : end]))
                self._starts.append(self._cursor)
            self._cursor = end + 10
        return HashIndex(hashes, array("q", range(len(hashes))))

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
        for row in self._words.candidates(key):
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
    """Open a file of word vectors: `.bin` and `.ftz` as binary, all others as text."""
    return BinaryVectors(path) if Path(path).suffix in (".bin", ".ftz") else TextVectors(path)


def subword_hashes(word: str, *, shortest: int, longest: int) -> Iterator[int]:
    """FNV-1a hashes of the UTF-8 bytes of each n-gram of `<word>`, in fastText's order.

    As in fastText, bytes above 127 are sign-extended (a bug that became the format), and `<` and
    `>` alone do not count as n-grams.
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
    if path.exists() and not path.is_file():  # a pipe would block
        raise DataError(f"{path}: expected a file of word vectors, got a folder, pipe or device")
    try:
        with open(path, "rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:  # mmap refuses empty files
        raise DataError(f"{path}: expected word vectors, got an empty file") from None
    except OSError as error:
        raise DataError(unreadable(path, error)) from None
