"""Sources of word vectors, any of them together: B T -> B T E.

A source is a module with one contract:

    width                what each of its vectors measures
    index(sentence)      what it needs of one sentence; made once, kept by the caller
    collate(items)       such items of a batch, padded together: name -> tensor
    forward(tensors)     B T E; a word's vector does not depend on its batch mates
    save_files(folder)   where there is more than weights to keep: write it into a model folder
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from capsrl.model.embeddings.elmo import Elmo
from capsrl.model.embeddings.transformer import Transformer
from capsrl.sentence import Sentence


@runtime_checkable
class HasFiles(Protocol):
    """A source that a model folder must hold more of than its weights."""

    def save_files(self, folder: Path) -> None:
        """Write that into `folder`, which is not there yet."""


class WordVectors(nn.Module):
    """The vectors of several sources side by side."""

    def __init__(self, sources: Mapping[str, nn.Module]) -> None:
        super().__init__()
        self.sources = nn.ModuleDict(sources)
        self.width = sum(int(source.width) for source in self._sources().values())

    def index(self, sentence: Sentence) -> dict[str, Any]:
        """What each source needs of a sentence."""
        return {name: source.index(sentence) for name, source in self._sources().items()}

    def length(self, item: Mapping[str, Any], n_words: int) -> int:
        """What a sentence costs in a batch: its words, or its pieces if a transformer reads it."""
        pieces = item.get("transformer")
        return n_words if pieces is None else max(n_words, len(pieces.ids))

    def collate(
        self, items: Sequence[Mapping[str, Any]], marked: Sequence[int | None] | None = None
    ) -> dict[str, dict[str, Tensor]]:
        """The tensors of each source for a batch.

        marked  the word of each sentence that a transformer is to mark as the predicate
        """
        inputs: dict[str, dict[str, Tensor]] = {}
        for name, source in self._sources().items():
            parts = [item[name] for item in items]
            if isinstance(source, Transformer):
                inputs[name] = source.collate(parts, marked)
            else:
                inputs[name] = source.collate(parts)
        return inputs

    def forward(self, inputs: dict[str, dict[str, Tensor]]) -> Tensor:
        """Vectors of the words.

        ->  B T E
        """
        vectors = [source(inputs[name]) for name, source in self._sources().items()]
        return vectors[0] if len(vectors) == 1 else torch.cat(vectors, -1)

    def keep(self, sentences: Iterable[Sentence], *, marked: bool = False) -> None:
        """Let frozen encoders read these sentences once and for all.

        marked  a transformer will be shown the predicates, and say something else of each
        """
        for source in self._sources().values():
            changes = marked and isinstance(source, Transformer)
            if isinstance(source, Transformer | Elmo) and not source.fine_tune and not changes:
                source.keep(sentences)

    def save_files(self, folder: Path) -> None:
        """Write what the sources need besides their weights, each in a folder of its name."""
        for name, source in self._sources().items():
            if isinstance(source, HasFiles):
                source.save_files(folder / name)

    def _sources(self) -> dict[str, Any]:
        return dict(self.sources.items())
