"""Frozen pretrained word vectors.

A table holds the vectors of the words in the training data; vectors of other words are read from
the vector file while that file is available.
"""

import json
from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from capsrl.errors import ModelError
from capsrl.network.embeddings.source import Inputs, WordSource, pad
from capsrl.network.embeddings.vector_files import BinaryVectors, TextVectors
from capsrl.predict.folder import read_json
from capsrl.predict.subwords import Marked
from capsrl.sentence import Sentence

VectorFile = TextVectors | BinaryVectors
WORDS_FILE = "words.json"


class FastTextItem(NamedTuple):
    """One sentence as FastText reads it.

    rows      T    row of each word in the table, 0 for a word that is not in it
    new_rows  T    row in `new`, counted from 1, of each word that is only in the file; else 0
    new       n E  the vectors of those words
    """

    rows: NDArray[np.int64]
    new_rows: NDArray[np.int64]
    new: NDArray[np.float32]


class FastText(WordSource[FastTextItem]):
    """Frozen vectors of `words`; the table is part of the state dict, the file is not.

    words  the words of the table; row k + 1 belongs to words[k]
    width  E, the size of the vectors
    file   source of vectors for words that are not in the table, or None

    A word that is not in the table gets, in this order: its vector in the file; the vector of its
    lower-case form; the mean of its subword vectors (`.bin` only). Without the file it gets the
    table row of its lower-case form, else zeros: a model folder works without the file, and works
    better with it on words that the training data did not have.
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
            _check_vector_width(file, width)

    @classmethod
    def from_file(cls, file: VectorFile, words: Iterable[str]) -> "FastText":
        """Fill the table with those of `words` that have a vector in the file, sorted."""
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
        """Read the output of `save_files`; the table is zeros. ModelError names a damaged file."""
        file = folder / WORDS_FILE
        saved = read_json(file)
        try:
            return cls(words=saved["words"], width=saved["width"])
        except (KeyError, TypeError) as error:
            raise ModelError(
                f"{file}: expected the words and the width of a table of vectors, got {error!r}"
            ) from None

    def save_files(self, folder: Path) -> None:
        """Write the words of the table, which a model folder needs besides the table."""
        folder.mkdir()
        # Escaped to ASCII: a word may contain a lone surrogate, which UTF-8 cannot encode.
        text = json.dumps({"width": self.width, "words": self.words})
        (folder / WORDS_FILE).write_text(text + "\n", encoding="utf-8")

    def attach(self, file: VectorFile) -> None:
        """Use a file for words that are not in the table, which must come from the same file.

        Raises ModelError if the file does not have the vectors of the table.
        """
        _check_vector_width(file, self.width)
        for word in self.words[:50]:
            vector = look_up(file, word)
            expected = self.table[self._rows[word]].cpu().float()
            if vector is None or not _near(torch.from_numpy(vector), expected):
                raise ModelError(
                    f"{file.path}: not the vectors that the model was trained with: "
                    f"{'none' if vector is None else 'another'} for {word!r}"
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

    def collate(self, items: Sequence[FastTextItem], *, marked: Marked = None) -> Inputs:
        """Pad the sentences together.

        -> rows      B T  rows of the table, 0 at padding
        -> new_rows  B T  rows of `new`, 0 for a word that has none
        -> new       n E  vectors of the words that are only in the file; the first is all zeros
        """
        # The vectors of the sentences follow one another, after the zeros.
        firsts = accumulate((len(item.new) for item in items), initial=0)
        new_rows = [
            np.where(item.new_rows > 0, item.new_rows + first, 0)
            for item, first in zip(items, firsts, strict=False)
        ]
        new = [np.zeros((1, self.width), np.float32), *(item.new for item in items)]
        return {
            "rows": pad([item.rows for item in items]),
            "new_rows": pad(new_rows),
            "new": torch.from_numpy(np.concatenate(new)),
        }

    def forward(self, inputs: Inputs) -> Tensor:
        """Look up the vectors; unknown words and padding are zeros.

        -> B T E
        """
        # Row 0 is zeros in both tables, and a word has a nonzero row in one of them at most.
        new = functional.embedding(inputs["new_rows"], inputs["new"].to(self.table.dtype))
        return functional.embedding(inputs["rows"], self.table) + new


def look_up(file: VectorFile, word: str) -> NDArray[np.float32] | None:
    """The vector of a word, of its lower-case form, or from its subwords; None if there is none."""
    lower = word.lower()
    return file.vector(lower if word not in file and lower in file else word)


def _near(vector: Tensor, expected: Tensor) -> bool:
    # The table of a quantized model is off by up to 1/254 of the largest value of a row.
    return bool((vector - expected).abs().amax() <= 0.005 * vector.abs().amax() + 1e-5)


def _check_vector_width(file: VectorFile, width: int) -> None:
    if file.width != width:
        raise ModelError(f"{file.path}: expected vectors of width {width}, got {file.width}")
