"""Word vectors from one or several sources, concatenated.

`source.py` defines what a source is; every other module with a class of vectors implements it.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from capsrl.network.embeddings.source import Inputs, WordSource
from capsrl.predict.subwords import Marked
from capsrl.sentence import Sentence


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

    def cache_states(self, sentences: Sequence[Sentence]) -> None:
        """Run frozen encoders over these sentences once, instead of in every epoch."""
        for _, source in self.named_sources():
            source.cache_states(sentences)

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
