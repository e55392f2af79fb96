"""Word vectors from a pretrained transformer: any Hugging Face encoder in a local folder.

The vector of a word is the hidden state of its first subword, or of its last subword if the encoder
is causal, because only the last one has seen the whole word. A sentence longer than the encoder
accepts is read in windows that overlap by half, and every word is taken from the window in which it
has most context; nothing is truncated.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from capsrl.model.embeddings.bert import Bert
from capsrl.model.embeddings.layer_mix import LayerMix
from capsrl.model.embeddings.pretrained import (
    common_names,
    find_folder,
    input_norms,
    is_causal,
    make_encoder,
    max_subwords,
    needs_spaces,
    read_config,
    read_tokenizer,
    special_subwords,
    unknown_subword,
)
from capsrl.model.embeddings.source import Inputs, Marked, WordSource
from capsrl.model.embeddings.state_cache import StateCache, collate_cached
from capsrl.sentence import Sentence
from capsrl.text.spacing import spaces_before

# Characters of a word that are tokenized. One subword represents the word anyway, and a line of
# dashes or a megabyte without a space must not fill hundreds of windows. URLs in EWT are shorter.
MAX_CHARS = 128

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Subwords:
    """One sentence as the encoder reads it.

    ids     n  subword ids, without the special tokens that open and close a window
    firsts  T  index in `ids` of the first subword of each word
    cached  row of the first word in the state cache, None if the sentence is not cached
    """

    ids: Ids
    firsts: Ids
    cached: int | None = None


class Transformer(WordSource[Subwords]):
    """A pretrained encoder: its last layer, fine-tuned, or a trained mix of its frozen layers.

    folder          config.json, tokenizer.json and, if `pretrained`, the weights
    fine_tune       train the encoder with the rest of the network
    mark_predicate  sentences will be encoded with a predicate marked by token type 1
    pretrained      read the weights; else the caller loads them

    n_types  number of token types; marking a predicate takes two
    causal   the encoder attends to the left only, as Gemma and Llama do
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        fine_tune: bool,
        mark_predicate: bool = False,
        pretrained: bool = True,
    ) -> None:
        super().__init__()
        self.folder = find_folder(folder)
        config = read_config(self.folder)
        self.fine_tune = fine_tune
        self.mark_predicate = mark_predicate
        self.encoder = make_encoder(self.folder, config, pretrained=pretrained)
        if isinstance(self.encoder, Bert):
            self.n_types = self.encoder.types.num_embeddings
        else:
            config = common_names(self.encoder, self.folder)
            self.n_types = int(config.get("type_vocab_size") or 0)
        self.encoder.requires_grad_(fine_tune)
        self.encoder.train(fine_tune)
        self.width = config["hidden_size"]
        self.mix = None if fine_tune else LayerMix(config["num_hidden_layers"] + 1)
        self.tokenizer = read_tokenizer(self.folder)
        self.causal = is_causal(self.encoder)
        self.spaced = needs_spaces(self.tokenizer)
        self.opening, self.closing = special_subwords(self.tokenizer)
        if self.causal and not self.opening and isinstance(config.get("bos_token_id"), int):
            # The tokenizer converted from a GGUF file adds no BOS token, without which the states
            # of Gemma are useless.
            self.opening = [config["bos_token_id"]]
        self.unknown = unknown_subword(self.tokenizer)
        self.max_subwords = max_subwords(config) - len(self.opening) - len(self.closing)
        self._cache = StateCache()

    def index(self, sentence: Sentence) -> Subwords:
        """Tokenize a sentence; a word that the tokenizer drops becomes one unknown subword."""
        return replace(self._tokenize(sentence), cached=self._cache.find(sentence.words))

    def _tokenize(self, sentence: Sentence) -> Subwords:
        words = _encodable([word[:MAX_CHARS] for word in sentence.words])
        if self.spaced:
            spaces = spaces_before(sentence.words)
            words = [
                f" {word}" if space else word for word, space in zip(words, spaces, strict=True)
            ]
        encoding = self.tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False)
        owners = encoding.word_ids  # the number of the word that each subword belongs to
        starts = [i for i, word in enumerate(owners) if i == 0 or word != owners[i - 1]]
        if len(starts) == len(words) and None not in owners:  # the common case: no word dropped
            return Subwords(_array(encoding.ids), _array(starts))
        ids_of: list[list[int]] = [[] for _ in words]
        for subword, word in zip(encoding.ids, owners, strict=True):
            if word is not None:
                ids_of[word].append(subword)
        ids: list[int] = []
        firsts: list[int] = []
        for of_word in ids_of:
            firsts.append(len(ids))
            ids.extend(of_word or [self.unknown])
        return Subwords(_array(ids), _array(firsts))

    def length(self, item: Subwords) -> int:
        """The number of subwords."""
        return len(item.ids)

    def collate(self, items: Sequence[Subwords], *, marked: Marked = None) -> Inputs:
        """Arrange the sentences of a batch in windows.

        marked  for each sentence the word whose subwords get token type 1, or None
        -> subwords, types, mask  W S
        -> words   B T, index of the subword of each word in subwords.flatten()
        -> cached  B T instead of all these, if all sentences are cached and nothing is marked
        """
        if all(word is None for word in marked or ()):
            rows = collate_cached([i.cached for i in items], [len(i.firsts) for i in items])
            if rows is not None:
                return {"cached": rows}
        windows: list[Ids] = []
        types: list[Ids] = []
        chosen: list[tuple[Ids, Ids]] = []  # for each sentence: window and column of its words
        for number, item in enumerate(items):
            starts, size = windows_of(len(item.ids), self.max_subwords)
            type_ids = np.zeros_like(item.ids)
            ends = np.append(item.firsts[1:], len(item.ids))[: len(item.firsts)]
            word = marked[number] if marked else None
            if word is not None:
                type_ids[item.firsts[word] : ends[word]] = 1
            subwords = ends - 1 if self.causal else item.firsts
            window = best_window(subwords, starts, size, causal=self.causal)
            chosen.append((window + len(windows), subwords - starts[window] + len(self.opening)))
            for start in starts:
                windows.append(item.ids[start : start + size])
                types.append(type_ids[start : start + size])
        return self._pad(windows, types, chosen)

    def _pad(self, windows: list[Ids], types: list[Ids], chosen: list[tuple[Ids, Ids]]) -> Inputs:
        n_open, n_close = len(self.opening), len(self.closing)
        n_columns = n_open + n_close + max((len(window) for window in windows), default=0)
        subwords = np.zeros((len(windows), n_columns), dtype=np.int64)
        type_ids = np.zeros_like(subwords)
        mask = np.zeros(subwords.shape, dtype=bool)
        for row, (window, window_types) in enumerate(zip(windows, types, strict=True)):
            end = n_open + len(window)
            subwords[row, :n_open] = self.opening
            subwords[row, n_open:end] = window
            subwords[row, end : end + n_close] = self.closing
            type_ids[row, n_open:end] = window_types
            mask[row, : end + n_close] = True
        n_words = max((len(column) for _, column in chosen), default=0)
        words = np.zeros((len(chosen), n_words), dtype=np.int64)
        for row, (window, column) in enumerate(chosen):
            words[row, : len(column)] = window * n_columns + column
        arrays = {"subwords": subwords, "types": type_ids, "mask": mask, "words": words}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def cache_states(self, sentences: Iterable[Sentence], *, batch_subwords: int = 8000) -> None:
        """Encode sentences now and reuse their hidden states from then on.

        Does nothing if the encoder is fine-tuned or predicates are marked: then the states change
        with every step, or with every predicate.
        """
        if self.fine_tune or self.mark_predicate:
            return
        device = next(self.encoder.parameters()).device

        def encode(items: list[Subwords]) -> Tensor:
            inputs = {name: tensor.to(device) for name, tensor in self.collate(items).items()}
            with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
                return torch.stack(self._layers(inputs), 2)

        items = {sentence.words: self._tokenize(sentence) for sentence in sentences}
        self._cache.add(items, encode, length=self.length, batch_length=batch_subwords)

    def forward(self, inputs: Inputs) -> Tensor:
        """Vectors of the words.

        ->  B T E
        """
        if "cached" in inputs:
            layers = self._cache.layers(inputs["cached"])
        else:
            layers = self._layers(inputs)
        return layers[-1] if self.mix is None else self.mix(layers)

    def _layers(self, inputs: Inputs) -> list[Tensor]:
        """The hidden states of the words: B T E for each layer, or only the last if fine-tuned."""
        subwords, mask, types = inputs["subwords"], inputs["mask"], inputs["types"]
        with torch.set_grad_enabled(self.fine_tune and torch.is_grad_enabled()):
            if isinstance(self.encoder, Bert):
                states = self.encoder(subwords, mask, types)
            else:
                states = self._hidden_states(subwords, mask, types)
        if self.mix is None:
            states = states[-1:]
        return [state.flatten(0, 1)[inputs["words"]] for state in states]

    def _hidden_states(self, subwords: Tensor, mask: Tensor, types: Tensor) -> list[Tensor]:
        arguments: dict[str, Any] = {"input_ids": subwords, "attention_mask": mask.long()}
        if self.n_types > 1:
            arguments["token_type_ids"] = types
        if self.causal:
            arguments["use_cache"] = False  # keys and values are only of use in generation
        states = list(self.encoder(**arguments, output_hidden_states=True).hidden_states)
        return self._normalize(states) if self.causal else states

    def _normalize(self, states: list[Tensor]) -> list[Tensor]:
        """The states as the next layer would read them, scaled to unit variance.

        In the residual stream of Gemma a few units are a thousand times larger than the others,
        and late layers are a thousand times larger than early ones: a plain average of the layers
        would consist of those alone. The last state has passed a norm already.
        """
        if self.mix is None:
            states = states[-1:]
        else:
            norms = input_norms(self.encoder)
            read = [norm(state) for norm, state in zip(norms, states, strict=False)]
            states = [*read, *states[len(read) :]]
        return [functional.layer_norm(state, state.shape[-1:]) for state in states]

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every fine-tuned parameter: 0 for the embeddings, then 1 for the first layer."""
        layers: dict[str, int] = {}
        for name, parameter in self.encoder.named_parameters(prefix="encoder"):
            # Most encoders never used token type 1 in pretraining: that embedding is new, and must
            # learn as fast as the new parts of the network.
            is_mark = self.mark_predicate and "type" in name
            if parameter.requires_grad and not is_mark:
                number = re.search(r"\.layers?\.(\d+)\.", name)
                # Outside the layers: Gemma and Llama have a norm after the last one, others have a
                # norm before the first.
                below = max(layers.values(), default=0) if "norm" in name.lower() else 0
                layers[name] = int(number[1]) + 1 if number else below
        return layers

    def save_files(self, folder: Path) -> None:
        """Write config.json and tokenizer.json, which a model folder needs besides the weights."""
        folder.mkdir()
        for name in ("config.json", "tokenizer.json"):
            shutil.copyfile(self.folder / name, folder / name)

    def train(self, mode: bool = True) -> "Transformer":
        """Keep a frozen encoder in evaluation mode: dropout would only add noise to its states."""
        super().train(mode)
        if not self.fine_tune:
            self.encoder.eval()
        return self


def windows_of(n_subwords: int, size: int) -> tuple[Ids, int]:
    """Starts of the windows over a sentence, and their size; the last window ends with it."""
    if n_subwords <= size:
        return np.zeros(1, dtype=np.int64), max(n_subwords, 1)
    step = max(size // 2, 1)
    starts = np.arange(0, n_subwords - size + step, step)
    return np.minimum(starts, n_subwords - size), size


def best_window(subwords: Ids, starts: Ids, size: int, *, causal: bool = False) -> Ids:
    """For each subword the window in which the smaller of its two contexts is largest.

    causal  only the context to the left counts
    """
    left = subwords[:, None] - starts[None]
    context = np.where(left < size, left, -1) if causal else np.minimum(left, size - 1 - left)
    window: Ids = context.argmax(1)
    return window


def _encodable(words: list[str]) -> list[str]:
    """The words as UTF-8 can encode them: tokenizers refuse lone surrogates."""
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError:
        return [word.encode("utf-8", "replace").decode("utf-8") for word in words]
    return words


def _array(values: Sequence[int]) -> Ids:
    return np.array(values, dtype=np.int64)
