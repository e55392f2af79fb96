"""Word capsules and routing in a graph, with any number of iterations."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from capsrl.config import ROUTED, ModelConfig
from capsrl.export.builder import BOOL, FLOAT, INT64, Builder


@dataclass(frozen=True)
class Capsules:
    """Word capsules of the predicates of a sentence; see `capsrl.network.capsules`.

    pull        weights P T R -> P R D
    pull_equal  the same for weights P T 1 that are those of all roles
    push        vectors P R D -> P T R
    joint       P T M, the words combined with their predicates
    """

    pull: Callable[[str], str]
    pull_equal: Callable[[str], str]
    push: Callable[[str], str]
    joint: str


def capsules(builder: Builder, config: ModelConfig, views: str | None, predicates: str) -> Capsules:
    """The capsules of words [view; state] (`WordCapsuleLayer.forward_shared`).

    views       P T H', None without a predicate layer
    predicates  P H
    """
    weight = builder.weight("forms.of_word.weight")
    rank, width = builder.stored["forms.of_word.weight"].shape
    n_view = 2 * config.encoder.predicate_width if views else 0
    of_state = builder.slice(weight, n_view, width, axis=1)
    words = builder.op("MatMul", "states", builder.op("Transpose", of_state, perm=[1, 0]))
    words = builder.op("Add", words, builder.weight("forms.of_word.bias"))  # n M
    words = builder.op("Gather", words, "words")  # P T M
    if views:
        seen = builder.bounded_product(views, "forms.of_word.weight", n_columns=n_view)
        words = builder.op("Add", words, seen)
    predicates = builder.linear(predicates, "forms.of_predicate")  # P M
    joint = builder.op("Mul", words, builder.op("Unsqueeze", predicates, builder.ints(1)))
    if config.capsules.form == "factored":
        return _factored(builder, joint)
    return _dense(builder, words, predicates, joint)


def _factored(builder: Builder, joint: str) -> Capsules:
    """Capsules as `FactoredCapsules`; joint is P T M."""
    factor = builder.weight("forms.weight")  # R D M

    def pull(weights: str) -> str:
        summed = builder.op("MatMul", builder.op("Transpose", weights, perm=[0, 2, 1]), joint)
        by_role = builder.op("Transpose", summed, perm=[1, 0, 2])  # R P M
        product = builder.op("MatMul", by_role, builder.op("Transpose", factor, perm=[0, 2, 1]))
        return builder.op("Transpose", product, perm=[1, 0, 2])  # P R D

    def pull_equal(weights: str) -> str:
        n_roles, size, rank = builder.stored["forms.weight"].shape
        summed = builder.op("MatMul", builder.op("Transpose", weights, perm=[0, 2, 1]), joint)
        flat = builder.op("Reshape", factor, builder.ints(-1, rank))
        product = builder.op("MatMul", summed, builder.op("Transpose", flat, perm=[1, 0]))
        return builder.op("Reshape", product, builder.ints(-1, n_roles, size))

    def push(vectors: str) -> str:
        by_role = builder.op("Transpose", vectors, perm=[1, 0, 2])  # R P D
        combined = builder.op("MatMul", by_role, factor)  # R P M
        return builder.op("MatMul", joint, builder.op("Transpose", combined, perm=[1, 2, 0]))

    return Capsules(pull, pull_equal, push, joint)


def _dense(builder: Builder, words: str, predicates: str, joint: str) -> Capsules:
    """Capsules as `DenseCapsules`; words are P T M, predicates P M."""
    words, predicates = (_elu_and_one(builder, value) for value in (words, predicates))
    forms = builder.op(
        "Einsum", builder.weight("forms.weight"), predicates, equation="rdmn,pn->prdm"
    )

    def pull(weights: str) -> str:
        summed = builder.op("MatMul", builder.op("Transpose", weights, perm=[0, 2, 1]), words)
        column = builder.op("Unsqueeze", summed, builder.ints(-1))  # P R M 1
        return builder.op("Squeeze", builder.op("MatMul", forms, column), builder.ints(-1))

    def push(vectors: str) -> str:
        row = builder.op("Unsqueeze", vectors, builder.ints(2))  # P R 1 D
        combined = builder.op("Squeeze", builder.op("MatMul", row, forms), builder.ints(2))
        return builder.op("MatMul", words, builder.op("Transpose", combined, perm=[0, 2, 1]))

    return Capsules(pull, pull, push, joint)


def _elu_and_one(builder: Builder, value: str) -> str:
    """An ELU, and a constant 1 after the last entry of every row."""
    value = builder.op("Elu", value)
    one = builder.op("Mul", builder.slice(value, 0, 1, axis=-1), builder.constant(0, np.float32))
    one = builder.op("Add", one, builder.constant(1, np.float32))
    return builder.op("Concat", value, one, axis=-1)


def present(builder: Builder) -> str:
    """True at words, False at padding: P 1 T."""
    lengths = builder.op("Unsqueeze", "lengths", builder.ints(1, 2))
    return builder.op("Less", builder.count_up("words", 1), lengths)


def route(
    builder: Builder, words: Capsules, config: ModelConfig, of_frames: str | None = None
) -> str:
    """The role logits after as many iterations as the model was trained with (`Routing`): P T R.

    of_frames  P T R  what the frames say of the roles
    """
    n_roles, size = builder.stored["forms.weight"].shape[:2]
    if config.capsules.variant not in ROUTED:
        n_predicates = builder.size("words", 0)
        shape = builder.op("Concat", n_predicates, builder.ints(n_roles, size), axis=0)
        mean = builder.op("Expand", builder.constant(1 / size, np.float32), shape)
        return _sum(builder, words.push(mean), of_frames)
    is_word = _is_word(builder)
    # The softmax of equal logits is uniform: the same weight for all roles.
    equal = builder.op("Mul", is_word, builder.constant(1 / n_roles, np.float32))
    directions, _ = _agree(builder, config, words.pull_equal(equal))
    logits = _sum(builder, words.push(directions), of_frames)
    later = of_frames if config.frames.roles == "every" else None
    for _ in range(config.capsules.iterations - 1):
        logits, _ = _iterate(builder, words, config, logits, is_word, later)
    return logits


def _sum(builder: Builder, logits: str, of_frames: str | None) -> str:
    return logits if of_frames is None else builder.op("Add", logits, of_frames)


def route_in_loop(
    builder: Builder, words: Capsules, config: ModelConfig, of_frames: str | None = None
) -> tuple[str, dict[str, str]]:
    """The same with any number of iterations, `n_iterations`, and the values after each of them.

    ->  P T R, and steps N P T R, capsules N P R D and nodes N P D, as far as the variant has them
    """
    if config.capsules.variant not in ROUTED:
        return route(builder, words, config, of_frames), {}
    sizes = builder.size("words", 0), builder.size("words", 1)
    n_roles = builder.stored["forms.weight"].shape[0]
    shape = builder.op("Concat", *sizes, builder.ints(n_roles), axis=0)
    zeros = builder.op("Expand", builder.constant(0, np.float32), shape)  # P T R
    is_word = _is_word(builder)
    kind = FLOAT, ["P", "T", "R"]
    with builder.body():
        if of_frames is not None and config.frames.roles == "first":
            is_first = builder.op("Equal", "iteration", builder.constant(0, np.int64))
            of_frames = builder.op("Where", is_first, of_frames, builder.constant(0, np.float32))
        logits, kept = _iterate(builder, words, config, "logits_before", is_word, of_frames)
        body = builder.graph(
            "iteration",
            {"iteration": (INT64, []), "keep_going": (BOOL, []), "logits_before": kind},
            {
                "going_on": ("keep_going", (BOOL, [])),
                "logits_after": (logits, kind),
                **{f"{name}_after": (value, (FLOAT, None)) for name, value in kept.items()},
            },
        )
    outputs = builder.ops("Loop", "n_iterations", "", zeros, n_outputs=1 + len(kept), body=body)
    return outputs[0], dict(zip(kept, outputs[1:], strict=True))


def _is_word(builder: Builder) -> str:
    """1 at words, 0 at padding: P T 1."""
    return builder.op("Transpose", builder.op("Cast", present(builder), to=FLOAT), perm=[0, 2, 1])


def _iterate(
    builder: Builder,
    words: Capsules,
    config: ModelConfig,
    logits: str,
    is_word: str,
    of_frames: str | None,
) -> tuple[str, dict[str, str]]:
    """One iteration: the new logits, and what a trace keeps of it."""
    weights = builder.op("Mul", builder.op("Softmax", logits, axis=-1), is_word)
    directions, kept = _agree(builder, config, words.pull(weights))
    logits = _sum(builder, builder.op("Add", logits, words.push(directions)), of_frames)
    return logits, {"steps": logits, **kept}


def _agree(builder: Builder, config: ModelConfig, intermediate: str) -> tuple[str, dict[str, str]]:
    """What the words of each role are compared with, P R D, and what a trace keeps.

    intermediate  P R D  s of eq. 9
    """
    squashed = _squash(builder, intermediate)
    directions = builder.op("MatMul", squashed, builder.weight("routing.agreement"))
    kept = {"capsules": squashed}
    if config.capsules.variant == "capsule+global":
        from_squashed = config.capsules.global_from == "squashed"
        source = builder.op("Relu", squashed) if from_squashed else intermediate
        flat = builder.op("Flatten", source, axis=1)
        has_bias = "routing.node.bias" in builder.stored
        node = kept["nodes"] = builder.linear(flat, "routing.node", bias=has_bias)
        pushed = builder.op("MatMul", node, builder.weight("routing.node_agreement"))
        directions = builder.op("Add", directions, builder.op("Unsqueeze", pushed, builder.ints(1)))
    return directions, kept


def _squash(builder: Builder, vectors: str) -> str:
    """`capsrl.network.routing.squash`."""
    squared = builder.op("ReduceSumSquare", vectors, builder.ints(-1), keepdims=1)
    longer = builder.op("Add", squared, builder.constant(1, np.float32))
    root = builder.op("Sqrt", builder.op("Add", squared, builder.constant(1e-8, np.float32)))
    factor = builder.op("Div", squared, builder.op("Mul", longer, root))
    return builder.op("Mul", vectors, factor)
