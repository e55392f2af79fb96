"""Words in, vectors of a pretrained transformer out: any Hugging Face encoder from a local folder.

A word's vector is that of its first piece, or of its last where the encoder reads left to right and
only the last has seen the whole word. A sentence longer than the encoder can take is read in
windows that overlap by half, and each word is taken from the window in which it sees most: nothing
is cut off.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from capsrl.model.embeddings.bert import Bert
from capsrl.model.embeddings.layer_mix import LayerMix
from capsrl.model.embeddings.pretrained import (
    common_names,
    find_folder,
    input_norms,
    is_causal,
    make_encoder,
    max_pieces,
    needs_spaces,
    read_config,
    read_tokenizer,
    special_pieces,
    unknown_piece,
)
from capsrl.model.embeddings.state_cache import KeptStates, collate_kept
from capsrl.sentence import Sentence
from capsrl.text.spacing import spaces_before

# Of a word that are read. A word's vector is that of one piece, and a rule of dashes or a megabyte
# without a blank should not fill hundreds of windows; addresses in EWT fit.
_LETTERS = 128


@dataclass(frozen=True)
class Pieces:
    """One sentence as the encoder reads it.

    ids     n  pieces, without the special ones that open and close a window
    firsts  T  where in `ids` each word begins
    kept    the place of the first word among the states that were kept, see `Transformer.keep`
    """

    ids: NDArray[np.int64]
    firsts: NDArray[np.int64]
    kept: int | None = None


class Transformer(nn.Module):
    """A pretrained encoder, fine-tuned (its last layer) or frozen (a learned mix of its layers).

    n_types      token types: to mark a predicate takes two
    causal       it reads left to right, as Gemma and Llama do
    folder       config.json, tokenizer.json and, when `pretrained`, the weights
    pretrained   read the weights; else they are left as initialised, to be loaded by the caller
    """

    def __init__(self, folder: str | Path, *, fine_tune: bool, pretrained: bool = True) -> None:
        super().__init__()
        self.folder = find_folder(folder)
        config = read_config(self.folder)
        self.fine_tune = fine_tune
        self.encoder = make_encoder(self.folder, config, pretrained=pretrained)
        if isinstance(self.encoder, Bert):
            self.n_types = self.encoder.types.num_embeddings
        else:
            config = common_names(self.encoder, self.folder)
            self.n_types = int(config.get("type_vocab_size") or 0)
        self.encoder.requires_grad_(fine_tune)
        self.encoder.train(fine_tune)
        self.width: int = config["hidden_size"]
        self.mix = None if fine_tune else LayerMix(config["num_hidden_layers"] + 1)
        self.tokenizer = read_tokenizer(self.folder)
        self.causal = is_causal(self.encoder)
        self.spaced = needs_spaces(self.tokenizer)
        self.opening, self.closing = special_pieces(self.tokenizer)
        if self.causal and not self.opening and isinstance(config.get("bos_token_id"), int):
            # The tokeniser that comes with a GGUF file adds none, and Gemma is lost without it.
            self.opening = [config["bos_token_id"]]
        self.unknown = unknown_piece(self.tokenizer)
        self.max_pieces = max_pieces(config) - len(self.opening) - len(self.closing)
        self._kept = KeptStates()

    def index(self, sentence: Sentence) -> Pieces:
        """The pieces of a sentence; a word the tokeniser drops altogether is one unknown piece."""
        pieces = self._spell(sentence)
        place = self._kept.place(sentence.words)
        return pieces if place is None else replace(pieces, kept=place)

    def _spell(self, sentence: Sentence) -> Pieces:
        words = _printable([word[:_LETTERS] for word in sentence.words])
        if self.spaced:
            spaces = spaces_before(sentence.words)
            words = [
                f" {word}" if space else word for word, space in zip(words, spaces, strict=True)
            ]
        encoding = self.tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        owners = encoding.word_ids  # of the pieces: words by number, in their order
        starts = [i for i, word in enumerate(owners) if i == 0 or word != owners[i - 1]]
        if len(starts) == len(words) and None not in owners:  # no word was dropped
            return Pieces(np.array(encoding.ids, dtype=np.int64), np.array(starts, dtype=np.int64))
        pieces_of: list[list[int]] = [[] for _ in words]
        for piece, word in zip(encoding.ids, owners, strict=True):
            if word is not None:
                pieces_of[word].append(piece)
        ids: list[int] = []
        firsts: list[int] = []
        for pieces in pieces_of:
            firsts.append(len(ids))
            ids.extend(pieces or [self.unknown])
        return Pieces(np.array(ids, dtype=np.int64), np.array(firsts, dtype=np.int64))

    def collate(
        self, items: Sequence[Pieces], marked: Sequence[int | None] | None = None
    ) -> dict[str, Tensor]:
        """Lay the sentences of a batch out in windows.

        marked  for each sentence the word whose pieces get token type 1, or None
        -> pieces, types  W S; mask  W S; words  B T, index of each word's piece in pieces.flatten()
        -> kept  B T instead of all these, where the states of all the sentences are kept
        """
        kept = [item.kept for item in items if item.kept is not None]
        if items and len(kept) == len(items) and all(word is None for word in marked or ()):
            return {"kept": collate_kept(kept, [len(item.firsts) for item in items])}
        windows: list[NDArray[np.int64]] = []
        types: list[NDArray[np.int64]] = []
        places: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []  # window, piece of each word
        for number, item in enumerate(items):
            starts, size = windows_of(len(item.ids), self.max_pieces)
            type_ids = np.zeros_like(item.ids)
            ends = np.append(item.firsts[1:], len(item.ids))[: len(item.firsts)]
            word = marked[number] if marked else None
            if word is not None:
                type_ids[item.firsts[word] : ends[word]] = 1
            chosen = ends - 1 if self.causal else item.firsts
            window = best_window(chosen, starts, size, causal=self.causal)
            places.append((window + len(windows), chosen - starts[window] + len(self.opening)))
            for start in starts:
                windows.append(item.ids[start : start + size])
                types.append(type_ids[start : start + size])
        return self._lay_out(windows, types, places)

    def _lay_out(
        self,
        windows: list[NDArray[np.int64]],
        types: list[NDArray[np.int64]],
        places: list[tuple[NDArray[np.int64], NDArray[np.int64]]],
    ) -> dict[str, Tensor]:
        n_open, n_close = len(self.opening), len(self.closing)
        n_pieces = n_open + n_close + max((len(window) for window in windows), default=0)
        pieces = np.zeros((len(windows), n_pieces), dtype=np.int64)
        type_ids = np.zeros_like(pieces)
        mask = np.zeros(pieces.shape, dtype=bool)
        for row, (window, types_of) in enumerate(zip(windows, types, strict=True)):
            end = n_open + len(window)
            pieces[row, :n_open] = self.opening
            pieces[row, n_open:end] = window
            pieces[row, end : end + n_close] = self.closing
            type_ids[row, n_open:end] = types_of
            mask[row, : end + n_close] = True
        n_words = max((len(piece) for _, piece in places), default=0)
        words = np.zeros((len(places), n_words), dtype=np.int64)
        for row, (window, piece) in enumerate(places):
            words[row, : len(piece)] = window * n_pieces + piece
        arrays = {"pieces": pieces, "types": type_ids, "mask": mask, "words": words}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def keep(self, sentences: Iterable[Sentence], *, batch_pieces: int = 8000) -> None:
        """Encode sentences now and keep the states of their words, instead of again in every epoch.

        For a frozen encoder; from then on these sentences are not encoded any more, wherever they
        come from.
        """
        assert self.mix is not None, "a fine-tuned encoder says something else in every epoch"
        device = next(self.encoder.parameters()).device

        def encode(items: list[Pieces]) -> Tensor:
            inputs = {name: tensor.to(device) for name, tensor in self.collate(items).items()}
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                return torch.stack(self._layers(inputs), 2)

        items = {sentence.words: self._spell(sentence) for sentence in sentences}
        self._kept.add(items, encode, size=lambda item: len(item.ids), at_once=batch_pieces)

    def forward(self, inputs: dict[str, Tensor]) -> Tensor:
        """Vectors of the words.

        ->  B T E
        """
        if "kept" in inputs:
            layers = self._kept.layers(inputs["kept"])
        else:
            layers = self._layers(inputs)
        return layers[-1] if self.mix is None else self.mix(layers)

    def _layers(self, inputs: dict[str, Tensor]) -> list[Tensor]:
        """The states of the words in every layer, B T E each."""
        pieces, mask, types = inputs["pieces"], inputs["mask"], inputs["types"]
        with torch.set_grad_enabled(self.fine_tune and torch.is_grad_enabled()):
            if isinstance(self.encoder, Bert):
                states = self.encoder(pieces, mask, types)
            else:
                states = self._hidden_states(pieces, mask, types)
        if self.mix is None:
            states = states[-1:]
        return [state.flatten(0, 1)[inputs["words"]] for state in states]

    def _hidden_states(self, pieces: Tensor, mask: Tensor, types: Tensor) -> list[Tensor]:
        arguments: dict[str, Any] = {"input_ids": pieces, "attention_mask": mask.long()}
        if self.n_types > 1:
            arguments["token_type_ids"] = types
        if self.causal:
            arguments["use_cache"] = False  # keys and values, of use when text is written
        states = list(self.encoder(**arguments, output_hidden_states=True).hidden_states)
        return self._on_one_scale(states) if self.causal else states

    def _on_one_scale(self, states: list[Tensor]) -> list[Tensor]:
        """The states that are asked for, each as the next layer reads it, at unit variance.

        Between the layers of Gemma a few units are a thousand times as large as the others, and
        late layers a thousand times as large as early ones: an average would be of those alone.
        The last state has gone through a norm.
        """
        if self.mix is None:
            states = states[-1:]
        else:
            norms = input_norms(self.encoder)
            read = [norm(state) for norm, state in zip(norms, states, strict=False)]
            states = [*read, *states[len(read) :]]
        return [functional.layer_norm(state, state.shape[-1:]) for state in states]

    def save_files(self, folder: Path) -> None:
        """Write what a model folder needs besides the weights: config.json and tokenizer.json."""
        folder.mkdir()
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(self.folder / name, folder / name)

    def train(self, mode: bool = True) -> "Transformer":
        """A frozen encoder stays in evaluation mode: its dropout would only blur its vectors."""
        super().train(mode)
        if not self.fine_tune:
            self.encoder.eval()
        return self


def windows_of(n_pieces: int, size: int) -> tuple[NDArray[np.int64], int]:
    """Starts of the windows over a sentence, overlapping by half, the last one ending with it."""
    if n_pieces <= size:
        return np.zeros(1, dtype=np.int64), max(n_pieces, 1)
    step = max(size // 2, 1)
    starts = np.arange(0, n_pieces - size + step, step)
    return np.minimum(starts, n_pieces - size), size


def best_window(
    pieces: NDArray[np.int64], starts: NDArray[np.int64], size: int, *, causal: bool = False
) -> NDArray[np.int64]:
    """For each piece the window that has most context on its poorer side.

    causal  what comes after a piece is not seen: the window that has most before it
    """
    left = pieces[:, None] - starts[None]
    room = np.where(left < size, left, -1) if causal else np.minimum(left, size - 1 - left)
    window: NDArray[np.int64] = room.argmax(1)
    return window


def _printable(words: Sequence[str]) -> list[str]:
    """The words as UTF-8 can hold them: tokenizers refuse lone surrogates."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode("utf-8") for word in words]
    return list(words)
