"""Sentences in, what a frozen encoder says of them out, without asking it again."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

Item = TypeVar("Item")  # one sentence as an encoder reads it


class KeptStates:
    """The states of the words of some sentences in every layer, in half precision: n L E.

    They lie where the encoder is and take words x layers x width x 2 bytes.
    """

    def __init__(self) -> None:
        self._states = torch.empty(0, 1, 1)
        self._places: dict[tuple[str, ...], int] = {}  # of its first word, by sentence

    def place(self, words: Sequence[str]) -> int | None:
        """Where the states of a sentence begin, if they are kept."""
        return self._places.get(tuple(words)) if self._places else None

    @torch.no_grad()
    def add(
        self,
        items: Mapping[tuple[str, ...], Item],
        encode: Callable[[list[Item]], Tensor],
        *,
        size: Callable[[Item], int],
        at_once: int,
    ) -> None:
        """Encode sentences, long ones first, and keep what is said; those known are left out.

        items    by the words of the sentence
        encode   such items -> B T L E
        size     what an item costs in a batch, where an item costs as much as the longest
        at_once  what a batch may cost
        """
        new = {words: item for words, item in items.items() if words and self.place(words) is None}
        waiting = sorted(new.items(), key=lambda pair: -size(pair[1]))
        place, n_words = len(self._states), sum(len(words) for words in new)
        while waiting:
            n = max(1, at_once // size(waiting[0][1]))
            batch, waiting = waiting[:n], waiting[n:]
            states = encode([item for _, item in batch])
            if len(self._states) < place + n_words:
                self._grow(place + n_words, states)
            for row, (words, _) in enumerate(batch):
                self._states[place : place + len(words)] = states[row, : len(words)]
                self._places[words] = place
                place += len(words)
                n_words -= len(words)

    def _grow(self, n_words: int, like: Tensor) -> None:
        grown = like.new_empty(n_words, *like.shape[2:], dtype=torch.half)
        grown[: len(self._states)] = self._states
        self._states = grown

    def layers(self, places: Tensor) -> list[Tensor]:
        """The layers at some words.

        places  B T, as `collate_kept` gives them
        ->      L of B T E
        """
        return list(self._states[places].float().unbind(2))


def collate_kept(places: Sequence[int], n_words: Sequence[int]) -> Tensor:
    """The places of the words of a batch, B T, from those of its sentences; padding is at 0."""
    words = np.zeros((len(places), max(n_words)), dtype=np.int64)
    for row, (place, length) in enumerate(zip(places, n_words, strict=True)):
        words[row, :length] = np.arange(place, place + length)
    return torch.from_numpy(words)
