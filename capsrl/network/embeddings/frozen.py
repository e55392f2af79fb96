"""For frozen encoders: a cache of their hidden states, and a trained mix of their layers."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from capsrl.files.replacing import replacing
from capsrl.network.embeddings.source import SourceItem, pad


class StateCache:
    """The hidden states of the words of some sentences in every layer, in half precision.

    They are stored on the encoder's device and take words x layers x width x 2 bytes.
    """

    def __init__(self) -> None:
        self._states = torch.empty(0, 1, 1)  # n L E, the words of all cached sentences
        self._rows: dict[tuple[str, ...], int] = {}  # sentence -> row of its first word

    def find(self, words: Sequence[str]) -> int | None:
        """The row of the first word of a sentence, None if the sentence is not cached."""
        return self._rows.get(tuple(words)) if self._rows else None

    @torch.no_grad()
    def add(
        self,
        items: Mapping[tuple[str, ...], SourceItem],
        encode: Callable[[list[SourceItem]], Tensor],
        *,
        length: Callable[[SourceItem], int],
        batch_length: int,
    ) -> None:
        """Encode the sentences that are not cached yet, longest first, and store their states.

        items         by the words of the sentence
        encode        some items -> B T L E
        length        positions that an item takes in a padded batch
        batch_length  how many positions a batch may have
        """
        new = {words: item for words, item in items.items() if words and self.find(words) is None}
        waiting = sorted(new.items(), key=lambda pair: -length(pair[1]))
        row, n_words = len(self._states), sum(len(words) for words in new)
        while waiting:
            n = max(1, batch_length // length(waiting[0][1]))
            batch, waiting = waiting[:n], waiting[n:]
            states = encode([item for _, item in batch])
            if len(self._states) < row + n_words:
                self._grow(row + n_words, states)
            for number, (words, _) in enumerate(batch):
                self._states[row : row + len(words)] = states[number, : len(words)]
                self._rows[words] = row
                row += len(words)
                n_words -= len(words)

    @contextlib.contextmanager
    def shared(self, file: Path | None, device: torch.device) -> Iterator[None]:
        """Begin with the states of another run in the file; write it at the end if it is new."""
        is_new = file is None or not file.exists()
        if file is not None and not is_new:  # on a CPU, processes share the memory of the file
            self._states, self._rows = torch.load(file, map_location=device, mmap=True)
        yield
        if file is not None and is_new:
            file.parent.mkdir(parents=True, exist_ok=True)
            with replacing(file) as temporary:
                torch.save((self._states, self._rows), temporary)

    def _grow(self, n_words: int, like: Tensor) -> None:
        # Allocated once for all new words: growing batch by batch would copy the cache each time.
        grown = like.new_empty(n_words, *like.shape[2:], dtype=torch.half)
        grown[: len(self._states)] = self._states
        self._states = grown

    def layers(self, rows: Tensor) -> list[Tensor]:
        """The hidden states of some words, layer by layer.

        rows  B T, from `collate_cached`
        ->    L of B T E
        """
        return list(self._states[rows].float().unbind(2))


def collate_cached(first_rows: Sequence[int | None], n_words: Sequence[int]) -> Tensor | None:
    """Rows in the cache of the words of a batch; None unless all its sentences are cached.

    first_rows  the row of the first word of each sentence, None for one that is not cached
    ->          B T, 0 at padding
    """
    starts = [first for first in first_rows if first is not None]
    if not starts or len(starts) < len(first_rows):
        return None
    return pad([np.arange(first, first + n) for first, n in zip(starts, n_words, strict=True)])


class LayerMix(nn.Module):
    """gamma * sum_l softmax(w)_l h_l over the layers h_l of an encoder (Peters et al., 2018)."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Mix tensors of one shape into one of that shape."""
        stacked = torch.stack(list(layers))  # L ... E
        shares = self.gamma * self.weights.softmax(0)
        # Not a matrix product, which autocast would compute in bf16.
        return (stacked * shares.view(-1, *[1] * (stacked.dim() - 1))).sum(0)
