"""The graph that reads a sentence: its words in context, predicates and tags."""

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import TensorProto, helper

from capsrl.config import ModelConfig
from capsrl.export.builder import FLOAT, INT64, Builder
from capsrl.export.lstm import bilstm

_TRANSFORMER = "vectors.sources.transformer"


def encoder_graph(
    builder: Builder, config: ModelConfig, transformer: Mapping[str, Any]
) -> onnx.ModelProto:
    """The graph of `Network.encode`, the finder and the tagger, for one sentence.

    transformer  the settings of the encoder, from its config.json

    Inputs: subwords W S, words T (index of the subword of each word in subwords.flatten()).
    Outputs: states T H, predicates T (logits), tags T (ids) if the model has a tagger, and exact
    if weights are signed: whether this processor multiplies them exactly.
    """
    states = _word_vectors(builder, config, transformer)  # T E
    for layer in range(config.encoder.layers):
        states = _sentence_lstm(builder, states, layer)
    predicates = builder.op("Squeeze", builder.linear(states, "finder.score"), builder.ints(-1))
    outputs = {
        "states": (states, (FLOAT, ["T", "H"])),
        "predicates": (predicates, (FLOAT, ["T"])),
    }
    if config.tagger:
        scores = builder.linear(states, "tagger.score")
        outputs["tags"] = builder.op("ArgMax", scores, axis=-1, keepdims=0), (INT64, ["T"])
    if builder.int8 == "signed":
        outputs["exact"] = builder.multiplies_exactly(), (TensorProto.INT32, [])
    inputs = [
        helper.make_tensor_value_info("subwords", INT64, ["W", "S"]),
        helper.make_tensor_value_info("words", INT64, ["T"]),
    ]
    return builder.model(inputs, outputs)


def _word_vectors(builder: Builder, config: ModelConfig, transformer: Mapping[str, Any]) -> str:
    """Hidden states of the subwords that represent words: T E."""
    layers = _bert(builder, transformer)
    if config.embeddings.fine_tune:
        return layers[-1]
    shares = builder.op("Softmax", builder.weight(f"{_TRANSFORMER}.mix.weights"), axis=0)
    mixed = [
        builder.op("Mul", layer, builder.slice(shares, n, n + 1, axis=0))
        for n, layer in enumerate([*(_take_words(builder, one) for one in layers[:-1]), layers[-1]])
    ]
    return builder.op("Mul", builder.op("Sum", *mixed), builder.weight(f"{_TRANSFORMER}.mix.gamma"))


def _take_words(builder: Builder, hidden: str) -> str:
    flat = builder.op("Flatten", hidden, axis=2)  # W S E -> W*S E
    return builder.op("Gather", flat, "words")


def _bert(builder: Builder, config: Mapping[str, Any]) -> list[str]:
    """Hidden states of every layer of `Bert`, the embedding layer first.

    ->  W S E each, but only T E of the last one: after its attention, only the
        subwords that represent words are needed
    """
    name, width = f"{_TRANSFORMER}.encoder", config["hidden_size"]
    eps = config.get("layer_norm_eps", 1e-12)
    n_subwords = builder.size("subwords", 1)
    positions = builder.op(
        "Slice", builder.weight(f"{name}.positions.weight"), builder.ints(0), n_subwords
    )
    of_type = builder.slice(builder.weight(f"{name}.types.weight"), 0, 1, axis=0)
    pieces = builder.rows(f"{name}.pieces.weight", "subwords")
    embedded = builder.op("Add", pieces, builder.op("Add", positions, of_type))
    hidden = _normalize(builder, embedded, f"{name}.norm", eps)
    states, n_layers = [hidden], config["num_hidden_layers"]
    for number in range(n_layers):
        layer, is_last = f"{name}.layers.{number}", number == n_layers - 1
        mixed = _attend(builder, states[-1], layer, config["num_attention_heads"], width)
        before = states[-1]
        if is_last:
            mixed, before = _take_words(builder, mixed), _take_words(builder, before)
        states.append(_finish_layer(builder, before, mixed, layer, eps))
    return states


def _attend(builder: Builder, hidden: str, name: str, n_heads: int, width: int) -> str:
    """The attention of a layer of `Bert`: W S E -> W S E."""
    joint = builder.quantized_linear(hidden, f"{name}.attention_in")
    query, key, value = builder.ops(
        "Split", joint, builder.ints(width, width, width), n_outputs=3, axis=-1
    )
    return builder.fused("MultiHeadAttention", query, key, value, num_heads=n_heads)


def _finish_layer(builder: Builder, hidden: str, mixed: str, name: str, eps: float) -> str:
    """The rest of a layer, which computes every subword by itself: ... E -> ... E."""
    mixed = builder.quantized_linear(mixed, f"{name}.attention_out")
    hidden = _normalize(builder, builder.op("Add", hidden, mixed), f"{name}.attention_norm", eps)
    inner = builder.op("Gelu", builder.quantized_linear(hidden, f"{name}.inner"))
    outer = builder.quantized_linear(inner, f"{name}.outer")
    return _normalize(builder, builder.op("Add", hidden, outer), f"{name}.norm", eps)


def _normalize(builder: Builder, value: str, name: str, eps: float) -> str:
    return builder.op(
        "LayerNormalization",
        value,
        builder.weight(f"{name}.weight"),
        builder.weight(f"{name}.bias"),
        epsilon=eps,
    )


def _sentence_lstm(builder: Builder, states: str, layer: int) -> str:
    """One layer of the BiLSTM over the words: T E -> T 2H."""
    steps = builder.op("Unsqueeze", states, builder.ints(1))  # T 1 E
    both = bilstm(builder, steps, "encoder", layer)  # T 2 1 H
    return builder.op("Flatten", both, axis=1)
