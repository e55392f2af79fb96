"""The graph that scores the propositions of the predicates of a sentence."""

import numpy as np
import onnx
from onnx import helper

from capsrl.config import ROUTED, ModelConfig
from capsrl.export.builder import FLOAT, INT64, Builder
from capsrl.export.frames import frame_logits
from capsrl.export.lstm import bilstm, quantized_bilstm
from capsrl.export.routing import capsules, present, route, route_in_loop

MAX_DISTANCE = 32  # PredicateLayer.max_distance and PhraseScorer.max_distance


def propositions_graph(builder: Builder, config: ModelConfig, *, traced: bool) -> onnx.ModelProto:
    """The graph of `Network.score_propositions` for the predicates of some sentences.

    traced  with any number of iterations, and the values after each of them

    Inputs: states n H (of the words of all sentences, one after the other), words P T (the row in
    `states` of each word of the sentence of a predicate, any row at padding), lengths P (words of
    that sentence), positions P (of the predicate in its sentence), lemmas P (ids), candidates P C,
    n_candidates P, n_iterations (if traced).
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
    if config.capsules.predicate == "lookup":
        predicates = builder.rows("lookup.weight", "lemmas")
    words = capsules(builder, config, views, predicates)
    of_frames = None
    if config.frames.roles != "none":
        described = config.frames.descriptions > 0
        of_frames = frame_logits(builder, words.joint, senses, described=described)
    logits, more = (
        route_in_loop(builder, words, config, of_frames)
        if traced
        else (route(builder, words, config, of_frames), {})
    )
    outputs = {
        "roles": (logits, (FLOAT, ["P", "T", "R"])),
        "senses": (senses, (FLOAT, ["P", "C"])),
        "patterns": (patterns, (FLOAT, ["P", "K"])),
    }
    shapes = {"steps": "NPTR", "capsules": "NPRD", "nodes": "NPD"}
    for name, value in more.items():
        outputs[name] = value, (FLOAT, list(shapes[name]))
    if config.phrase_width:
        for name, value in _spans(builder, views, config.phrase_width).items():
            outputs[name] = value, (INT64, ["P", "T"])
    return builder.model(_inputs(config, traced), outputs)


def _inputs(config: ModelConfig, traced: bool) -> list[onnx.ValueInfoProto]:
    shapes: dict[str, list[str]] = {
        "words": ["P", "T"],
        "lengths": ["P"],
        "positions": ["P"],
        "candidates": ["P", "C"],
        "n_candidates": ["P"],
    }
    if config.capsules.predicate == "lookup":
        shapes["lemmas"] = ["P"]
    if traced and config.capsules.variant in ROUTED:
        shapes["n_iterations"] = []
    inputs = [helper.make_tensor_value_info("states", FLOAT, ["n", "H"])]
    return inputs + [
        helper.make_tensor_value_info(name, INT64, shape) for name, shape in shapes.items()
    ]


def _views(builder: Builder, predicates: str) -> str:
    """The words as each predicate sees them (`PredicateLayer`): P T H'."""
    name = "predicate_layer"
    by_word = builder.op("Transpose", "words", perm=[1, 0])  # T P
    words = builder.op("Gather", builder.linear("states", f"{name}.of_word"), by_word)  # T P H'
    of_predicate = builder.linear(predicates, f"{name}.of_predicate")  # P H'
    numbers = builder.op("Unsqueeze", builder.count_up("words", 1), builder.ints(1))  # T 1
    distance = builder.op("Sub", numbers, "positions")  # T P
    limit = builder.constant(MAX_DISTANCE, np.int64)
    distance = builder.op(
        "Add",
        builder.op("Clip", distance, builder.constant(-MAX_DISTANCE, np.int64), limit),
        limit,
    )
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
    patterns = builder.op(
        "Add", builder.op("MatMul", query, vectors), builder.weight("senses.pattern_prior")
    )
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


def _spans(builder: Builder, views: str | None, width: int) -> dict[str, str]:
    """First and last word of the phrase of every word (`PhraseScorer`): P T each."""
    words = builder.op("Gather", builder.linear("states", "spans.of_state"), "words")  # P T 4W
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
        table = builder.op(
            "Gather", builder.weight("spans.of_distance"), builder.constant(row, np.int64)
        )
        query = builder.op("Mul", query, builder.constant(width**-0.5, np.float32))
        scores = builder.op("MatMul", query, builder.op("Transpose", key, perm=[0, 2, 1]))
        scores = builder.op("Add", scores, builder.op("Gather", table, near))
        scores = builder.op("Where", is_wrong[row], builder.constant(-1e9, np.float32), scores)
        edges[name] = builder.op("ArgMax", scores, axis=-1, keepdims=0)
    return edges
