"""Word vectors trained with the rest of the network: of words, of characters, of tags.

Characters distinguish the words that are not in the vocabulary.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from capsrl.errors import DataError
from capsrl.network.embeddings.source import Inputs, WordSource, pad
from capsrl.predict import Ids
from capsrl.predict.inventory import PADDING_ID, UNKNOWN_ID, WORD_END, WORD_START, Vocab
from capsrl.predict.subwords import Marked
from capsrl.sentence import Sentence

NGRAM_LENGTHS = (2, 3, 4)  # characters that a filter of each convolution covers
MIN_CHARACTERS_WIDTH = len(NGRAM_LENGTHS)  # one filter of each length
MAX_LETTERS = 48  # characters of a word that are read; a URL can have thousands


class LearnedWords(WordSource[Ids]):
    """A vector for each word of a vocabulary, and one for all other words.

    words    the vocabulary; ids 0 and 1 are padding and unknown
    width    E
    counts   frequency of each word in the training data; without it no word is dropped
    dropout  alpha: in training, a word seen n times is replaced by the unknown word with
             probability alpha / (alpha + n) (Kiperwasser and Goldberg, 2016), so that the unknown
             vector is trained on rare words. The counts are in the state dict.

    A word that is not in the vocabulary is looked up in lower case before it counts as unknown.
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
        # A word of infinite count is never dropped, nor are padding and the unknown word.
        frequencies = [float("inf") if counts is None else counts.get(word, 0) for word in words]
        frequencies[: UNKNOWN_ID + 1] = [float("inf")] * (UNKNOWN_ID + 1)
        self.register_buffer("counts", torch.tensor(frequencies, dtype=torch.float32))

    def index(self, sentence: Sentence) -> Ids:
        """The id of each word."""
        ids = [
            self.vocab.id(word if word in self.vocab else word.lower()) for word in sentence.words
        ]
        return np.array(ids, dtype=np.int64)

    def collate(self, items: Sequence[Ids], *, marked: Marked = None) -> Inputs:
        """Pad the sentences together.

        -> ids  B T
        """
        return {"ids": pad(items)}

    def forward(self, inputs: Inputs) -> Tensor:
        """Look up the vectors; padding is zeros.

        -> B T E
        """
        ids = inputs["ids"]
        if self.training and self.dropout > 0:
            rate = self.dropout / (self.dropout + self.counts[ids])
            dropped = torch.rand(ids.shape, device=ids.device) < rate
            ids = ids.masked_fill(dropped, UNKNOWN_ID)
        vectors: Tensor = self.vectors(ids)
        return vectors


class Characters(WordSource[list[tuple[int, ...]]]):
    """A convolution over the characters of a word, max-pooled.

    characters  a vocabulary made by `character_vocab`
    width       E, at least 3
    size        width of the character vectors

    A word longer than 48 characters is represented by its first and last 24.
    """

    def __init__(self, *, characters: Vocab, width: int, size: int = 32) -> None:
        super().__init__()
        if width < MIN_CHARACTERS_WIDTH:
            raise ValueError(f"expected a width of at least {MIN_CHARACTERS_WIDTH}, got {width}")
        self.vocab = characters
        self.width = width
        self._ends = characters.id(WORD_START), characters.id(WORD_END)
        self.vectors = _embedding(len(characters), size)
        n_filters = [width // len(NGRAM_LENGTHS)] * len(NGRAM_LENGTHS)
        n_filters[-1] += width % len(NGRAM_LENGTHS)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(size, n, length) for n, length in zip(n_filters, NGRAM_LENGTHS, strict=True)
        )

    def index(self, sentence: Sentence) -> list[tuple[int, ...]]:
        """The character ids of each word, between those of word start and end."""
        start, end = self._ends
        half = MAX_LETTERS // 2
        spellings = []
        for word in sentence.words:
            shortened = word if len(word) <= MAX_LETTERS else word[:half] + word[-half:]
            spellings.append((start, *self.vocab.ids(shortened), end))
        return spellings

    def collate(self, items: Sequence[list[tuple[int, ...]]], *, marked: Marked = None) -> Inputs:
        """Spell every distinct word of the batch once.

        -> spellings  U X  character ids of the distinct words; the first is empty, for padding
        -> rows       B T  row of `spellings` of each word, 0 at padding
        """
        known: dict[tuple[int, ...], int] = {}
        rows = []
        for item in items:
            ids = [known.setdefault(spelling, len(known) + 1) for spelling in item]
            rows.append(np.array(ids, dtype=np.int64))
        longest = max([max(NGRAM_LENGTHS), *map(len, known)])
        spellings = np.full((len(known) + 1, longest), PADDING_ID, dtype=np.int64)
        for spelling, row in known.items():
            spellings[row, : len(spelling)] = spelling
        return {"spellings": torch.from_numpy(spellings), "rows": pad(rows)}

    def forward(self, inputs: Inputs) -> Tensor:
        """Encode the distinct words, then copy each to its positions; padding is zeros.

        -> B T E
        """
        spellings, rows = inputs["spellings"], inputs["rows"]
        chars = self.vectors(spellings).transpose(1, 2)  # U size X
        lengths = (spellings != PADDING_ID).sum(1, keepdim=True)  # U 1
        words = torch.cat([self._max_pool(c, chars, lengths) for c in self.convolutions], 1)
        return words[rows] * (rows > 0).unsqueeze(-1)  # B T E

    def _max_pool(self, convolve: nn.Module, chars: Tensor, lengths: Tensor) -> Tensor:
        activations: Tensor = convolve(chars)  # U F X'
        ngram_length = chars.shape[2] - activations.shape[2] + 1
        starts = torch.arange(activations.shape[2], device=chars.device)
        # The amount of padding depends on the rest of the batch, so n-grams that reach into it are
        # masked; but a word shorter than the longest n-gram counts as if it had that length, or
        # there would be no n-gram left.
        outside = starts + ngram_length > lengths.clamp(min=max(NGRAM_LENGTHS))  # U X'
        return activations.masked_fill(outside.unsqueeze(1), float("-inf")).amax(2).relu()


class Tags(WordSource[Ids]):
    """A vector for each part-of-speech tag; raises DataError for a sentence without tags."""

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
                f"sentence {name!r}: no parts of speech, which this model was trained with; tag "
                "the words, or use a model without tags"
            )
        return np.array(self.vocab.ids(sentence.tags), dtype=np.int64)

    def collate(self, items: Sequence[Ids], *, marked: Marked = None) -> Inputs:
        """Pad the sentences together.

        -> ids  B T
        """
        return {"ids": pad(items)}

    def forward(self, inputs: Inputs) -> Tensor:
        """Look up the vectors; padding is zeros.

        -> B T E
        """
        vectors: Tensor = self.vectors(inputs["ids"])
        return vectors


def _embedding(n: int, width: int) -> nn.Embedding:
    vectors = nn.Embedding(n, width, padding_idx=PADDING_ID)
    with torch.no_grad():
        vectors.weight.normal_(std=width**-0.5)  # expected length 1 at any width
        vectors.weight[PADDING_ID] = 0
    return vectors
