"""BERT (Devlin et al., 2019) in plain torch.

Most small encoders have this architecture. This module runs them without importing transformers,
which takes seconds at start-up. The weights of a Hugging Face `BertModel` load after
`rename_weights`.
"""

import contextlib
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

# All but cuDNN, which takes a tenth of a second to plan for every new batch shape.
_ATTENTION = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]


class Bert(nn.Module):
    """A BERT encoder without its pooler."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width = config["hidden_size"]
        eps = abs(config.get("layer_norm_eps", 1e-12))  # a number
        self.dropout = abs(config.get("hidden_dropout_prob", 0.1))
        self.pieces = nn.Embedding(config["vocab_size"], width)  # of subwords, named as in files
        self.positions = nn.Embedding(config["max_position_embeddings"], width)
        self.types = nn.Embedding(config.get("type_vocab_size", 2), width)
        self.norm = nn.LayerNorm(width, eps=eps)
        self.layers = nn.ModuleList(BertLayer(config) for _ in range(config["num_hidden_layers"]))

    def forward(self, subwords: Tensor, mask: Tensor, types: Tensor) -> list[Tensor]:
        """Hidden states of every layer, the embedding layer first.

        subwords  W S  ids
        mask      W S  True at subwords
        types     W S  token types
        ->        L+1 of W S E
        """
        positions = self.positions.weight[: subwords.shape[1]]
        hidden = self.norm(self.pieces(subwords) + positions + self.types(types))
        hidden = functional.dropout(hidden, self.dropout, self.training)
        states = [hidden]
        with sdpa_kernel(_ATTENTION) if subwords.is_cuda else contextlib.nullcontext():
            for layer in self.layers:
                states.append(layer(states[-1], mask[:, None, None]))
        return states


class BertLayer(nn.Module):
    """Self-attention and a feed-forward network, each with a residual connection and a norm."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        super().__init__()
        width, inner_width = config["hidden_size"], config["intermediate_size"]
        eps = abs(config.get("layer_norm_eps", 1e-12))  # a number
        self.n_heads = config["num_attention_heads"]
        self.dropout = abs(config.get("hidden_dropout_prob", 0.1))
        self.attention_dropout = config.get("attention_probs_dropout_prob", 0.1)
        self.attention_in = nn.Linear(width, 3 * width)  # query, key and value in one product
        self.attention_out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=eps)
        self.inner = nn.Linear(width, inner_width)
        self.outer = nn.Linear(inner_width, width)
        self.norm = nn.LayerNorm(width, eps=eps)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        """Compute the hidden states of the next layer.

        hidden  W S E
        mask    W 1 1 S  True at subwords
        ->      W S E
        """
        joint = self.attention_in(hidden)
        heads = joint.unflatten(-1, (3, self.n_heads, -1))  # W S 3 heads E/heads
        query, key, value = heads.transpose(1, 3).unbind(2)  # W heads S E/heads
        dropout = self.attention_dropout if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, mask, dropout)
        mixed = self.attention_out(mixed.transpose(1, 2).flatten(2))
        mixed = functional.dropout(mixed, self.dropout, self.training)
        hidden = self.attention_norm(hidden + mixed)
        inner = self.outer(functional.gelu(self.inner(hidden)))
        inner = functional.dropout(inner, self.dropout, self.training)
        normed: Tensor = self.norm(hidden + inner)
        return normed


def cast_weights(encoder: nn.Module) -> dict[str, Tensor]:
    """The weights of linear layers by name, in the type of autocast.

    They are cast as one tensor: autocast would start two kernels for each of them in every step.
    """
    weights = {
        f"{name}.{part}": weight
        for name, module in encoder.named_modules()
        if isinstance(module, nn.Linear)
        for part, weight in module.named_parameters()
    }
    joined = torch.cat([weight.flatten() for weight in weights.values()])
    cast = joined.to(torch.get_autocast_dtype(joined.device.type))
    parts = torch.split(cast, [weight.numel() for weight in weights.values()])
    return {
        name: part.view_as(weight)
        for (name, weight), part in zip(weights.items(), parts, strict=True)
    }


_HUGGING_FACE_NAMES = {
    "embeddings.word_embeddings.weight": "pieces.weight",
    "embeddings.position_embeddings.weight": "positions.weight",
    "embeddings.token_type_embeddings.weight": "types.weight",
    "embeddings.LayerNorm.weight": "norm.weight",
    "embeddings.LayerNorm.bias": "norm.bias",
}
_LAYER_NAMES = {
    "attention.output.dense": "attention_out",
    "attention.output.LayerNorm": "attention_norm",
    "intermediate.dense": "inner",
    "output.dense": "outer",
    "output.LayerNorm": "norm",
}


def rename_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Map the weights of a Hugging Face BertModel to the names of `Bert`; the pooler is dropped."""
    renamed: dict[str, Tensor] = {}
    weights = {_current_name(name): weight for name, weight in weights.items()}
    for name, weight in weights.items():
        if name in _HUGGING_FACE_NAMES:
            renamed[_HUGGING_FACE_NAMES[name]] = weight
        elif match := re.fullmatch(r"encoder\.layer\.(\d+)\.(.+)\.(weight|bias)", name):
            number, part, kind = match.groups()
            if part in _LAYER_NAMES:
                renamed[f"layers.{number}.{_LAYER_NAMES[part]}.{kind}"] = weight
            elif part == "attention.self.query":
                joined = [
                    weights[name.replace("query", other)] for other in ("query", "key", "value")
                ]
                renamed[f"layers.{number}.attention_in.{kind}"] = torch.cat(joined)
    return renamed


def _current_name(name: str) -> str:
    """The first checkpoints called the weights of norms gamma and beta."""
    name = name.removeprefix("bert.").replace("LayerNorm.gamma", "LayerNorm.weight")
    return name.replace("LayerNorm.beta", "LayerNorm.bias")
