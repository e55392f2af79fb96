"""Word vectors from a pretrained transformer: any Hugging Face encoder in a local folder.

The vector of a word is the hidden state of its first subword, or of its last subword if the encoder
is causal, because only the last one has seen the whole word. A sentence longer than the encoder
accepts is read in windows that overlap by half, and every word is taken from the window in which it
has most context; nothing is truncated.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.func import functional_call
from torch.nn import functional

from capsrl.network.embeddings.bert import Bert, cast_weights
from capsrl.network.embeddings.frozen import LayerMix, StateCache, collate_cached
from capsrl.network.embeddings.pretrained import common_names, find_folder, is_causal, make_encoder
from capsrl.network.embeddings.source import Inputs, WordSource
from capsrl.predict.subwords import Marked, SubwordReader, Subwords, any_marked, read_encoder_config
from capsrl.sentence import Sentence


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
        config = read_encoder_config(self.folder)
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
        self.causal = is_causal(self.encoder)
        self.subwords = SubwordReader(self.folder, config, causal=self.causal)
        self._cache = StateCache()

    def index(self, sentence: Sentence) -> Subwords:
        """Tokenize a sentence; a word that the tokenizer drops becomes one unknown subword."""
        subwords = self.subwords.read(sentence)
        return Subwords(subwords.ids, subwords.firsts, self._cache.find(sentence.words))

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
        if not any_marked(marked):
            rows = collate_cached([i.cached for i in items], [len(i.firsts) for i in items])
            if rows is not None:
                return {"cached": rows}
        arrays = self.subwords.collate(items, marked)
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    def cache_states(
        self, sentences: Iterable[Sentence], file: Path | None = None, *, batch_subwords: int = 8000
    ) -> None:
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

        items = {sentence.words: self.subwords.read(sentence) for sentence in sentences}
        with self._cache.shared(file, device):
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
                given = (subwords, mask, types)
                if self.encoder.training and torch.is_autocast_enabled(subwords.device.type):
                    weights = cast_weights(self.encoder)
                    states = functional_call(self.encoder, weights, given, tie_weights=False)
                else:
                    states = self.encoder(*given)
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
            arguments["use_cache"] = False  # keys and values are only needed in generation
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
            layers: Any = getattr(self.encoder, "layers", ())
            norms = [layer.input_layernorm for layer in layers if hasattr(layer, "input_layernorm")]
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
