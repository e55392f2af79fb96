"""A source of word vectors, and the concatenation of several."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn

from capsrl.predict import Ids
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

    def cache_states(self, sentences: Iterable[Sentence], file: Path | None = None) -> None:  # noqa: B027 - optional
        """Compute whatever is the same in every epoch once; `file` shares it between runs."""

    def save_files(self, folder: Path) -> None:  # noqa: B027 - optional
        """Write what a model folder must hold besides the weights to `folder`, and create it."""

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every pretrained parameter that is trained, by name; 0 is the lowest layer."""
        return {}


def pad(items: Sequence[Ids]) -> Tensor:
    """The ids of some sentences as one matrix, 0 at padding: B T."""
    longest = max((len(item) for item in items), default=0)
    ids = np.zeros((len(items), longest), dtype=np.int64)
    for row, item in enumerate(items):
        ids[row, : len(item)] = item
    return torch.from_numpy(ids)


class WordVectors(nn.Module):
    """The concatenated vectors of several sources; dictionaries are keyed by source name."""

    def __init__(self, sources: Mapping[str, WordSource[Any]]) -> None:
        super().__init__()
        self.sources = nn.ModuleDict(sources)
        self.width = sum(source.width for source in sources.values())

    def index(self, sentence: Sentence) -> dict[str, Any]:
        """What each source needs from a sentence."""
        return {name: source.index(sentence) for name, source in self.named_sources()}

    def length(self, items: Mapping[str, Any]) -> int:
        """The most positions that any source needs for a sentence in a padded batch."""
        return max((source.length(items[name]) for name, source in self.named_sources()), default=0)

    def collate(
        self, items: Sequence[Mapping[str, Any]], *, marked: Marked = None
    ) -> dict[str, Inputs]:
        """The tensors of each source for a batch.

        marked  for each sentence the position of the predicate to mark, or None
        """
        return {
            name: source.collate([item[name] for item in items], marked=marked)
            for name, source in self.named_sources()
        }

    def forward(self, inputs: Mapping[str, Inputs]) -> Tensor:
        """Vectors of the words.

        ->  B T E
        """
        vectors = [source(inputs[name]) for name, source in self.named_sources()]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, -1)

    def cache_states(self, sentences: Sequence[Sentence], folder: Path | None = None) -> None:
        """Run frozen encoders once, not in every epoch; runs share the files of `folder`."""
        for name, source in self.named_sources():
            source.cache_states(sentences, folder and folder / f"{name}.pt")

    def save_files(self, folder: Path) -> None:
        """Write what the sources need besides their weights, each to a subfolder of its name."""
        for name, source in self.named_sources():
            source.save_files(folder / name)

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every pretrained parameter that is trained, by its name in this module."""
        return {
            f"sources.{name}.{parameter}": layer
            for name, source in self.named_sources()
            for parameter, layer in source.parameter_layers().items()
        }

    def named_sources(self) -> Iterable[tuple[str, WordSource[Any]]]:
        """The sources by name."""
        # ModuleDict forgets the type of its values.
        return cast(Iterable[tuple[str, WordSource[Any]]], self.sources.items())
