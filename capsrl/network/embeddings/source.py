"""The contract of a source of word vectors."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from torch import Tensor, nn

from capsrl.predict.subwords import Marked
from capsrl.sentence import Sentence

SourceItem = TypeVar("SourceItem")  # one sentence in the form that a source reads
Inputs = dict[str, Tensor]  # a batch of sentences in the form that a source reads


class WordSource(nn.Module, ABC, Generic[SourceItem]):
    """A module that computes a vector for every word of a sentence.

    width  E, the size of the vectors

    Three methods do this: `index` once per sentence, on strings; `collate` once per batch, on the
    CPU; `forward` on the device. The others have defaults for sources that do not need them.
    """

    width: int

    @abstractmethod
    def index(self, sentence: Sentence) -> SourceItem:
        """Look up everything that this source needs from one sentence; callers keep the result."""

    @abstractmethod
    def collate(self, items: Sequence[SourceItem], *, marked: Marked = None) -> Inputs:
        """Pad the items of a batch together.

        marked  for each item the position of the predicate to mark, or None; ignored by sources
                that cannot mark a word
        """

    @abstractmethod
    def forward(self, inputs: Inputs) -> Tensor:
        """Compute the vectors; those of a sentence must not depend on the rest of the batch.

        inputs  what `collate` returned
        ->      B T E
        """

    def length(self, item: SourceItem) -> int:
        """Positions that a sentence takes in a padded batch, if that can exceed its words."""
        return 0

    def cache_states(self, sentences: Iterable[Sentence]) -> None:  # noqa: B027 - optional
        """Compute whatever is the same in every epoch once, and reuse it for these sentences."""

    def save_files(self, folder: Path) -> None:  # noqa: B027 - optional
        """Write what a model folder must hold besides the weights to `folder`, and create it."""

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every pretrained parameter that is trained, by name; 0 is the lowest layer."""
        return {}
