"""The two graphs of a model: one reads a sentence, the other scores the propositions of predicates.

An LSTM is one node in 32-bit floats, and a loop in 8-bit integers.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto

from capsrl.config import ROUTED, ModelConfig
from capsrl.export.builder import BOOL, FLOAT, INT64, Builder, TypeAndShape
from capsrl.export.role_frames import frame_logits
from capsrl.export.routing import capsules, present, route, route_in_loop
from capsrl.predict.folder import SCALE

MAX_DISTANCE = 32  # PredicateLayer.max_distance and PhraseScorer.max_distance
_TRANSFORMER = "vectors.sources.transformer"


def sentences_graph(
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
        steps = builder.op("Unsqueeze", states, builder.ints(1))  # T 1 E
        both = bilstm(builder, steps, "encoder", layer)  # T 2 1 H
        states = builder.op("Flatten", both, axis=1)  # T 2H
    predicates = builder.op("Squeeze", builder.linear(states, "finder.score"), builder.ints(-1))
    outputs: dict[str, tuple[str, TypeAndShape]] = {
        "states": (states, (FLOAT, ["T", "H"])),
        "predicates": (predicates, (FLOAT, ["T"])),
    }
    if config.tagger:
        scores = builder.linear(states, "tagger.score")
        outputs["tags"] = builder.op("ArgMax", scores, axis=-1, keepdims=0), (INT64, ["T"])
    if builder.int8 == "signed":
        outputs["exact"] = builder.multiplies_exactly(), (TensorProto.INT32, [])
    return builder.model({"subwords": (INT64, ["W", "S"]), "words": (INT64, ["T"])}, outputs)


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
    hidden = _layer_norm(builder, embedded, f"{name}.norm", eps)
    states, n_layers = [hidden], config["num_hidden_layers"]
    for number in range(n_layers):
        layer, before = f"{name}.layers.{number}", states[-1]
        mixed = _attend(builder, before, layer, config["num_attention_heads"], width)
        if number == n_layers - 1:
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
    hidden = _layer_norm(builder, builder.op("Add", hidden, mixed), f"{name}.attention_norm", eps)
    inner = builder.op("Gelu", builder.quantized_linear(hidden, f"{name}.inner"))
    outer = builder.quantized_linear(inner, f"{name}.outer")
    return _layer_norm(builder, builder.op("Add", hidden, outer), f"{name}.norm", eps)


def _layer_norm(builder: Builder, value: str, name: str, eps: float) -> str:
    weight, bias = builder.weight(f"{name}.weight"), builder.weight(f"{name}.bias")
    return builder.op("LayerNormalization", value, weight, bias, epsilon=eps)


def propositions_graph(builder: Builder, config: ModelConfig, *, traced: bool) -> onnx.ModelProto:
    """The graph of `Network.score_propositions` for the predicates of some sentences.

    traced  with any number of iterations, and the values after each of them

    Inputs: states n H (of the words of all sentences, one after the other), words P T (the row in
    `states` of each word of the sentence of a predicate, any row at padding), lengths P (words of
    that sentence), positions P (of the predicate in its sentence), candidates P C, n_candidates P,
    n_iterations (if traced).
    Outputs: roles P T R, senses P C and patterns P K (logits); if traced, steps N P T R, capsules
    N P R D and nodes N P D, as far as the variant has them; with a phrase scorer, firsts and
    lasts P T (word positions).
    """
    column = builder.op("Unsqueeze", "positions", builder.ints(1))
    row = builder.op("GatherElements", "words", column, axis=1)  # P 1
    row = builder.op("Squeeze", row, builder.ints(1))
    predicates = builder.op("Gather", "states", row)  # P H
    views = _views(builder, predicates) if config.encoder.predicate_width else None
    senses, patterns = _senses(builder, predicates)
    words = capsules(builder, config, views, predicates)
    of_frames = None
    if config.frames.roles != "none":
        of_frames = frame_logits(builder, words.joint, senses)
    logits, more = (
        route_in_loop(builder, words, config, of_frames)
        if traced
        else (route(builder, words, config, of_frames), {})
    )
    outputs: dict[str, tuple[str, TypeAndShape]] = {
        "roles": (logits, (FLOAT, ["P", "T", "R"])),
        "senses": (senses, (FLOAT, ["P", "C"])),
        "patterns": (patterns, (FLOAT, ["P", "K"])),
    }
    shapes = {"steps": "NPTR", "capsules": "NPRD", "nodes": "NPD"}
    for name, value in more.items():
        outputs[name] = value, (FLOAT, list(shapes[name]))
    if config.phrase_width:
        for name, value in _phrase_edges(builder, views, config.phrase_width).items():
            outputs[name] = value, (INT64, ["P", "T"])
    inputs: dict[str, TypeAndShape] = {
        "states": (FLOAT, ["n", "H"]),
        "words": (INT64, ["P", "T"]),
        "lengths": (INT64, ["P"]),
        "positions": (INT64, ["P"]),
        "candidates": (INT64, ["P", "C"]),
        "n_candidates": (INT64, ["P"]),
    }
    if traced and config.capsules.variant in ROUTED:
        inputs["n_iterations"] = INT64, []
    return builder.model(inputs, outputs)


def _views(builder: Builder, predicates: str) -> str:
    """The words as each predicate sees them (`PredicateLayer`): P T H'."""
    name = "predicate_layer"
    by_word = builder.op("Transpose", "words", perm=[1, 0])  # T P
    words = builder.op("Gather", builder.linear("states", f"{name}.of_word"), by_word)  # T P H'
    of_predicate = builder.linear(predicates, f"{name}.of_predicate")  # P H'
    numbers = builder.op("Unsqueeze", builder.count_up("words", 1), builder.ints(1))  # T 1
    distance = builder.op("Sub", numbers, "positions")  # T P
    limit = builder.constant(MAX_DISTANCE, np.int64)
    lowest = builder.constant(-MAX_DISTANCE, np.int64)
    distance = builder.op("Add", builder.op("Clip", distance, lowest, limit), limit)
    of_distance = builder.op("Gather", builder.weight(f"{name}.of_distance.weight"), distance)
    steps = builder.op("Add", builder.op("Add", words, of_predicate), of_distance)
    steps = builder.op("Gelu", steps)
    if builder.multiplies_integers(f"{name}.bilstm.forwards.0.weight_hh_l0"):
        is_word = builder.op("Transpose", present(builder), perm=[2, 0, 1])  # T P 1
        steps = builder.op("Where", is_word, steps, builder.constant(0, np.float32))
        return quantized_bilstm(builder, steps, f"{name}.bilstm", 0, "lengths")
    both = bilstm(builder, steps, f"{name}.bilstm", 0, "lengths")  # T 2 P H
    ordered = builder.op("Transpose", both, perm=[2, 0, 1, 3])
    return builder.op("Reshape", ordered, builder.ints(0, 0, -1))


def _senses(builder: Builder, predicates: str) -> tuple[str, str]:
    """Logits of the candidates and of all patterns (`SenseScorer`): P C and P K."""
    query = builder.op("Elu", builder.linear(predicates, "senses.of_state"))
    vectors = builder.op("Transpose", builder.weight("senses.patterns.weight"), perm=[1, 0])
    product = builder.op("MatMul", query, vectors)
    patterns = builder.op("Add", product, builder.weight("senses.pattern_prior"))
    vectors = builder.rows("senses.senses.weight", "candidates")  # P C width
    column = builder.op("Unsqueeze", query, builder.ints(2))
    own = builder.op("Squeeze", builder.op("MatMul", vectors, column), builder.ints(2))
    own = builder.op("Add", own, builder.op("Gather", builder.weight("senses.prior"), "candidates"))
    pattern_ids = builder.op("Gather", builder.weight("senses.pattern_of"), "candidates")
    senses = builder.op("Add", own, builder.op("GatherElements", patterns, pattern_ids, axis=1))
    counts = builder.op("Unsqueeze", "n_candidates", builder.ints(1))
    real = builder.op("Less", builder.count_up("candidates", 1), counts)
    senses = builder.op("Where", real, senses, builder.constant(-1e9, np.float32))
    return senses, builder.slice(patterns, 0, -1, axis=1)


def _phrase_edges(builder: Builder, views: str | None, width: int) -> dict[str, str]:
    """First and last word of the phrase of every word (`PhraseScorer`): P T each."""
    words = builder.op("Gather", builder.linear("states", "spans.of_state"), "words")  # P T 4V
    if views is not None:
        n_views = builder.stored["spans.of_view.weight"].shape[1]
        seen = builder.bounded_product(views, "spans.of_view.weight", n_columns=n_views)
        words = builder.op("Add", words, seen)
    parts = builder.ops(
        "Split", builder.op("Gelu", words), builder.ints(*[width] * 4), n_outputs=4, axis=-1
    )
    numbers = builder.count_up("words", 1)
    distance = builder.op("Sub", numbers, builder.op("Unsqueeze", numbers, builder.ints(1)))
    zero = builder.constant(0, np.int64)
    is_padding = builder.op("Not", present(builder))  # P 1 T
    is_wrong = (
        builder.op("Greater", distance, zero),
        builder.op("Or", builder.op("Less", distance, zero), is_padding),
    )
    near = builder.op("Min", builder.op("Abs", distance), builder.constant(MAX_DISTANCE, np.int64))
    edges = {}
    for row, name in enumerate(("firsts", "lasts")):
        query, key = parts[2 * row : 2 * row + 2]
        tables, number = builder.weight("spans.of_distance"), builder.constant(row, np.int64)
        table = builder.op("Gather", tables, number)
        query = builder.op("Mul", query, builder.constant(width**-0.5, np.float32))
        scores = builder.op("MatMul", query, builder.op("Transpose", key, perm=[0, 2, 1]))
        scores = builder.op("Add", scores, builder.op("Gather", table, near))
        scores = builder.op("Where", is_wrong[row], builder.constant(-1e9, np.float32), scores)
        edges[name] = builder.op("ArgMax", scores, axis=-1, keepdims=0)
    return edges


def bilstm(builder: Builder, steps: str, name: str, layer: int, lengths: str = "") -> str:
    """One layer of `BiLSTM`.

    steps    T N E    for N sequences
    lengths  N        of the sequences, if they are padded
    ->       T 2 N H  forward and backward states
    """
    directions = _directions(name, layer)

    return builder.op(
        "LSTM",
        steps,
        _parameter(builder, directions, "weight_ih"),
        _parameter(builder, directions, "weight_hh"),
        _biases(builder, directions),
        builder.op("Cast", lengths, to=TensorProto.INT32) if lengths else "",
        hidden_size=_n_units(builder, directions),
        direction="bidirectional",
    )


def quantized_bilstm(builder: Builder, steps: str, name: str, layer: int, lengths: str) -> str:
    """The same in 8-bit integers, one sequence after the other.

    The ranges of 8-bit values are those of a sequence, so that it does not matter which others are
    computed with it.

    steps    T N E   0 after the end of a sequence
    lengths  N
    ->       N T 2H
    """
    directions = _directions(name, layer)
    inputs, recurrent = (
        _integer_weights(builder, directions, kind) for kind in ("weight_ih", "weight_hh")
    )
    biases = _biases(builder, directions)
    lengths = builder.op("Cast", lengths, to=TensorProto.INT32)
    with builder.body():
        number = builder.op("Unsqueeze", "sequence", builder.ints(0))
        both = builder.fused(
            "DynamicQuantizeLSTM",
            builder.op("Gather", steps, number, axis=1),
            *(inputs[0], recurrent[0], biases, builder.op("Gather", lengths, number)),
            *("", "", ""),  # initial states, peepholes
            *inputs[1:],
            *recurrent[1:],
            hidden_size=_n_units(builder, directions),
            direction="bidirectional",
        )  # T 2 1 H
        flat = builder.op("Flatten", both, axis=1)  # T 2H
        body = builder.graph(
            "sequence",
            {"sequence": (INT64, []), "is_next": (BOOL, [])},
            {"next_too": ("is_next", (BOOL, [])), "of_sequence": (flat, (FLOAT, None))},
        )
    count = builder.op("Squeeze", builder.size(steps, 1))
    return builder.op("Loop", count, "", body=body)


def _directions(name: str, layer: int) -> list[str]:
    return [f"{name}.{direction}.{layer}" for direction in ("forwards", "backwards")]


def _n_units(builder: Builder, directions: Sequence[str]) -> int:
    return builder.stored[f"{directions[0]}.weight_hh_l0"].shape[1]


def _biases(builder: Builder, directions: Sequence[str]) -> str:
    """Those of the inputs, then the recurrent ones: 2 8H."""
    kinds = [_parameter(builder, directions, kind) for kind in ("bias_ih", "bias_hh")]
    return builder.op("Concat", *kinds, axis=1)


def _parameter(builder: Builder, directions: Sequence[str], kind: str) -> str:
    """A parameter of both directions in floats: 2 4H ..."""
    return _join_directions(builder, [builder.weight(f"{one}.{kind}_l0") for one in directions])


def _integer_weights(
    builder: Builder, directions: Sequence[str], kind: str
) -> tuple[str, str, str]:
    """Weights in 8 bits 2 E 4H, their scales 2 4H, and the integer that is zero 2 4H."""
    names = [f"{one}.{kind}_l0" for one in directions]
    scales = _join_directions(builder, [builder.raw(name + SCALE) for name in names])
    joined = _join_directions(builder, [builder.raw(name) for name in names])
    weights = builder.integers(builder.op("Transpose", joined, perm=[0, 2, 1]))
    zero, dtype = builder.zero
    shape = (2, builder.stored[names[0]].shape[0])
    return weights, scales, builder.constant(np.full(shape, zero), dtype)


def _join_directions(builder: Builder, tensors: Sequence[str]) -> str:
    """Parameters 4H ... of both directions, with the gates in the order of ONNX: 2 4H ..."""
    both = [builder.op("Unsqueeze", _gates(builder, one), builder.ints(0)) for one in tensors]
    return builder.op("Concat", *both, axis=0)


def _gates(builder: Builder, parameter: str) -> str:
    """Torch orders the gates input, forget, cell, output; ONNX input, output, forget, cell."""
    input_gate, forget, cell, output = builder.ops(
        "Split", parameter, n_outputs=4, axis=0, num_outputs=4
    )
    return builder.op("Concat", input_gate, output, forget, cell, axis=0)
