"""Word vectors learned with the rest of the network: from words, from characters, from tags.

Three sources, to be used alone or together. Characters give an unknown word something of its own.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from capsrl.errors import DataError
from capsrl.model.vocabulary import PADDING_ID, UNKNOWN_ID, WORD_END, WORD_START, Vocab
from capsrl.sentence import Sentence

Ids = NDArray[np.int64]
LENGTHS = (2, 3, 4)  # of the character n-grams that the convolutions see
MIN_CHARACTERS_WIDTH = len(LENGTHS)  # a filter of each length
MAX_CHARACTERS = 48  # of a word; web addresses can have thousands


class Words(nn.Module):
    """A vector for each word of a vocabulary, and one for all others.

    words    its ids 0 and 1 are padding and unknown
    width    E
    counts   how often each word was seen; without them no word is dropped in training
    dropout  alpha: while training, a word seen n times is taken for unknown with probability
             alpha / (alpha + n) (Kiperwasser and Goldberg, 2016), so that the vector of unknown
             words is learned on the words most like them. The counts are in the state dict.

    A word that is not in the vocabulary is looked for in lower case before it counts as unknown.
    """

    counts: Tensor

    def __init__(
        self,
        *,
        words: Vocab,
        width: int,
        counts: Mapping[str, int] | None = None,
        dropout: float = 0.25,
    ) -> None:
        super().__init__()
        self.vocab = words
        self.width = width
        self.dropout = dropout
        self.vectors = _embedding(len(words), width)
        # Infinite: never dropped. The first two are no words.
        seen = [float("inf") if counts is None else counts.get(word, 0) for word in words]
        seen[: UNKNOWN_ID + 1] = [float("inf")] * (UNKNOWN_ID + 1)
        self.register_buffer("counts", torch.tensor(seen, dtype=torch.float32))

    def index(self, sentence: Sentence) -> Ids:
        """The id of each word."""
        ids = [
            self.vocab.id(word if word in self.vocab else word.lower()) for word in sentence.words
        ]
        return np.array(ids, dtype=np.int64)

    def collate(self, items: Sequence[Ids]) -> dict[str, Tensor]:
        """Pad the sentences together.

        -> ids  B T
        """
        return {"ids": _padded(items)}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Look the vectors up; padding is zeros.

        -> B T E
        """
        ids = inputs["ids"]
        if self.training and self.dropout > 0:
            rate = self.dropout / (self.dropout + self.counts[ids])
            dropped = torch.rand(ids.shape, device=ids.device) < rate
            ids = ids.masked_fill(dropped, UNKNOWN_ID)
        vectors: Tensor = self.vectors(ids)
        return vectors


class Characters(nn.Module):
    """The strongest answer of each of some filters to the character n-grams of a word.

    characters  a vocabulary made by `character_vocab`
    width       E, at least 3
    size        of the vectors of characters

    Of a word longer than 48 characters the first and the last 24 are read.
    """

    def __init__(self, *, characters: Vocab, width: int, size: int = 32) -> None:
        super().__init__()
        if width < MIN_CHARACTERS_WIDTH:
            raise ValueError(f"expected a width of at least {MIN_CHARACTERS_WIDTH}, got {width}")
        self.vocab = characters
        self.width = width
        self._ends = characters.id(WORD_START), characters.id(WORD_END)
        self.vectors = _embedding(len(characters), size)
        n_filters = [width // len(LENGTHS)] * len(LENGTHS)
        n_filters[-1] += width % len(LENGTHS)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, n, length) for n, length in zip(n_filters, LENGTHS, strict=True)
        )

    def index(self, sentence: Sentence) -> list[tuple[int, ...]]:
        """The ids of the characters of each word, between the marks of its ends."""
        start, end = self._ends
        half = MAX_CHARACTERS // 2
        spellings = []
        for word in sentence.words:
            read = word if len(word) <= MAX_CHARACTERS else word[:half] + word[-half:]
            spellings.append((start, *self.vocab.ids(read), end))
        return spellings

    def collate(self, items: Sequence[list[tuple[int, ...]]]) -> dict[str, Tensor]:
        """Spell every distinct word of the batch once.

        -> spellings  U L  character ids of the distinct words; the first is empty, for padding
        -> rows       B T  row of `spellings` of each word, 0 at padding
        """
        known: dict[tuple[int, ...], int] = {}
        rows = []
        for item in items:
            ids = [known.setdefault(spelling, len(known) + 1) for spelling in item]
            rows.append(np.array(ids, dtype=np.int64))
        longest = max([max(LENGTHS), *map(len, known)])
        spellings = np.full((len(known) + 1, longest), PADDING_ID, dtype=np.int64)
        for spelling, row in known.items():
            spellings[row, : len(spelling)] = spelling
        return {"spellings": torch.from_numpy(spellings), "rows": _padded(rows)}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Encode the distinct words, then put each where it stands; padding is zeros.

        -> B T E
        """
        spellings, rows = inputs["spellings"], inputs["rows"]
        letters = self.vectors(spellings).transpose(1, 2)  # U size L
        n_letters = (spellings != PADDING_ID).sum(1, keepdim=True)
        words = torch.cat([self._strongest(c, letters, n_letters) for c in self.convolutions], 1)
        return words[rows] * (rows > 0).unsqueeze(-1)  # B T E

    def _strongest(self, convolve: nn.Module, letters: Tensor, n_letters: Tensor) -> Tensor:
        answers: Tensor = convolve(letters)  # U F L'
        length = letters.shape[2] - answers.shape[2] + 1
        starts = torch.arange(answers.shape[2], device=letters.device)
        # How far a word is padded depends on its batch mates, so n-grams that reach beyond its
        # end do not count; but a word shorter than the longest n-gram is one of that length.
        beyond = starts + length > n_letters.clamp(min=max(LENGTHS))  # U L'
        return answers.masked_fill(beyond.unsqueeze(1), float("-inf")).amax(2).relu()


class Tags(nn.Module):
    """A vector for each part of speech. Raises DataError for a sentence without tags."""

    def __init__(self, *, tags: Vocab, width: int) -> None:
        super().__init__()
        self.vocab = tags
        self.width = width
        self.vectors = _embedding(len(tags), width)

    def index(self, sentence: Sentence) -> Ids:
        """The id of each word's tag."""
        if sentence.tags is None:
            name = sentence.id or " ".join(sentence.words[:5])
            raise DataError(
                f"sentence {name!r}: expected parts of speech, which this model was trained with, "
                "got none; tag the words or use a model without tags"
            )
        return np.array(self.vocab.ids(sentence.tags), dtype=np.int64)

    def collate(self, items: Sequence[Ids]) -> dict[str, Tensor]:
        """Pad the sentences together.

        -> ids  B T
        """
        return {"ids": _padded(items)}

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Look the vectors up; padding is zeros.

        -> B T E
        """
        vectors: Tensor = self.vectors(inputs["ids"])
        return vectors


def _embedding(n: int, width: int) -> nn.Embedding:
    vectors = nn.Embedding(n, width, padding_idx=PADDING_ID)
    with torch.no_grad():
        vectors.weight.normal_(std=width**-0.5)  # length about 1, whatever the width
        vectors.weight[PADDING_ID] = 0
    return vectors


def _padded(items: Sequence[Ids]) -> Tensor:
    longest = max((len(item) for item in items), default=0)
    ids = np.full((len(items), longest), PADDING_ID, dtype=np.int64)
    for row, item in enumerate(items):
        ids[row, : len(item)] = item
    return torch.from_numpy(ids)
