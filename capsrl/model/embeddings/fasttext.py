"""Words -> pretrained vectors that stay as they are.

A table holds those of the training data; the file they came from, while at hand, all others.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from capsrl.errors import ModelError
from capsrl.model.embeddings.vector_files import BinaryVectors, TextVectors
from capsrl.sentence import Sentence

VectorFile = TextVectors | BinaryVectors
WORDS_FILE = "words.json"


class FastTextItem(NamedTuple):
    """What FastText needs of one sentence.

    rows      T    row of the table of each word, 0 for a word that is not in it
    new_rows  T    row of `new` of each word that the file alone knows, counted from 1; else 0
    new       N E  the vectors of those words
    """

    rows: NDArray[np.int64]
    new_rows: NDArray[np.int64]
    new: NDArray[np.float32]


class FastText(nn.Module):
    """Frozen vectors of `words`; the table is part of the state dict, the file is not.

    words  the words of the table, row k + 1 belongs to words[k]
    width  E, size of the vectors
    file   where vectors of new words come from, None for nowhere

    A new word takes, in this order: its own vector in the file; that of its lower-case form; what
    its subwords give (`.bin` only). Without the file it takes the row of its lower-case form, else
    zeros: a model folder works without the file, and better with it on words it was not trained on.
    """

    table: Tensor

    def __init__(self, *, words: Sequence[str], width: int, file: VectorFile | None = None) -> None:
        super().__init__()
        self.words = list(words)
        self.width = width
        self.file = file
        self._rows = {word: row for row, word in enumerate(self.words, start=1)}
        self.register_buffer("table", torch.zeros(len(self.words) + 1, width))
        if file is not None:
            _check_width(file, width)

    @classmethod
    def from_file(cls, file: VectorFile, words: Iterable[str]) -> "FastText":
        """The table for those of `words` to which the file gives a vector, alphabetically."""
        found = {}
        for word in sorted(set(words)):
            vector = look_up(file, word)
            if vector is not None:
                found[word] = vector
        module = cls(words=list(found), width=file.width, file=file)
        if found:
            module.table[1:] = torch.from_numpy(np.stack(list(found.values())))
        return module

    @classmethod
    def from_saved(cls, folder: Path) -> "FastText":
        """What `save_files` wrote, its table not filled; raises ModelError naming a bad file."""
        file = folder / WORDS_FILE
        try:
            saved = json.loads(file.read_text(encoding="utf-8"))
            return cls(words=saved["words"], width=saved["width"])
        except OSError as error:
            raise ModelError(f"{file}: cannot be read: {error.strerror or error}") from None
        except (ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"{file}: expected the words and the width of a table of vectors, got {error!r}"
            ) from None

    def save_files(self, folder: Path) -> None:
        """Write what a model folder needs besides the table itself: its words."""
        folder.mkdir()
        # In ASCII: a word may hold a lone surrogate, which UTF-8 cannot.
        text = json.dumps({"width": self.width, "words": self.words})
        (folder / WORDS_FILE).write_text(text + "\n", encoding="utf-8")

    def attach(self, file: VectorFile) -> None:
        """Use a file for new words from now on; the table must be filled and from the same file.

        Raises ModelError if the file's vectors are not those the model was trained with.
        """
        _check_width(file, self.width)
        for word in self.words[:50]:
            vector = look_up(file, word)
            expected = self.table[self._rows[word]].cpu().float()
            if vector is None or not _near(torch.from_numpy(vector), expected):
                raise ModelError(
                    f"{file.path}: expected the vectors the model was trained with, "
                    f"got {'none' if vector is None else 'another'} for {word!r}"
                )
        self.file = file

    def index(self, sentence: Sentence) -> FastTextItem:
        """Find each word in the table, or else in the file."""
        rows = np.zeros(len(sentence), dtype=np.int64)
        new_rows = np.zeros(len(sentence), dtype=np.int64)
        new: list[NDArray[np.float32]] = []
        for position, word in enumerate(sentence.words):
            if word in self._rows:
                rows[position] = self._rows[word]
            elif self.file is None:
                rows[position] = self._rows.get(word.lower(), 0)
            elif (vector := look_up(self.file, word)) is not None:
                new.append(vector)
                new_rows[position] = len(new)
        vectors = np.stack(new) if new else np.zeros((0, self.width), np.float32)
        return FastTextItem(rows, new_rows, vectors)

    def collate(self, items: Sequence[FastTextItem]) -> dict[str, Tensor]:
        """Pad sentences together.

        -> rows      B T  rows of the table, 0 at padding
        -> new_rows  B T  rows of `new`, 0 where there is none
        -> new       N E  vectors of new words of the batch, the first all zeros
        """
        longest = max((len(item.rows) for item in items), default=0)
        rows = np.zeros((len(items), longest), dtype=np.int64)
        new_rows = np.zeros((len(items), longest), dtype=np.int64)
        new = [np.zeros((1, self.width), dtype=np.float32)]
        n_before = 0
        for number, item in enumerate(items):
            rows[number, : len(item.rows)] = item.rows
            shifted = np.where(item.new_rows > 0, item.new_rows + n_before, 0)
            new_rows[number, : len(item.rows)] = shifted
            new.append(item.new)
            n_before += len(item.new)
        return {
            "rows": torch.from_numpy(rows),
            "new_rows": torch.from_numpy(new_rows),
            "new": torch.from_numpy(np.concatenate(new)),
        }

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Look the vectors up; unknown words and padding are zeros.

        -> B T E
        """
        # Row 0 is zeros in both tables and each word has at most one other row.
        new = F.embedding(inputs["new_rows"], inputs["new"].to(self.table.dtype))
        return F.embedding(inputs["rows"], self.table) + new


def look_up(file: VectorFile, word: str) -> NDArray[np.float32] | None:
    """The vector of a word, else of its lower-case form, else from subwords, else None."""
    lower = word.lower()
    return file.vector(lower if word not in file and lower in file else word)


def _near(vector: Tensor, expected: Tensor) -> bool:
    # A model folder may hold the table in 8 bits: off by 1/254 of a row's largest value at most.
    return bool((vector - expected).abs().amax() <= 0.005 * vector.abs().amax() + 1e-5)


def _check_width(file: VectorFile, width: int) -> None:
    if file.width != width:
        raise ModelError(f"{file.path}: expected vectors of width {width}, got {file.width}")
