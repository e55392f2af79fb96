"""What the frames say of the roles, in a graph (`capsrl.network.role_frames`)."""

import numpy as np
from onnx import TensorProto

from capsrl.export.builder import INT64, Builder
from capsrl.frames.kinds import CORE_ROLES, N_SENSES, PREFIXES, UNKNOWN_SENSE


def frame_logits(builder: Builder, joint: str, senses: str) -> str:
    """The term of the role logits (`RoleFrames.logits`): P T R.

    joint   P T M
    senses  P C    logits of the candidates
    """
    features = _role_features(builder, senses)
    found = builder.op("MatMul", joint, builder.op("Transpose", features, perm=[0, 2, 1]))
    # A column of zeros for words without role.
    found = builder.op("Pad", found, builder.ints(0, 0, 0, 0, 0, 1))
    return builder.op("Gather", found, builder.raw("frames.column_of"), axis=2)


def _role_features(builder: Builder, senses: str) -> str:
    """`RoleFrames.forward`: P F M."""
    count = builder.op("Min", builder.size(senses, 1), builder.ints(N_SENSES))
    probs, best = builder.ops("TopK", builder.op("Softmax", senses, axis=-1), count, n_outputs=2)
    chosen = builder.op("GatherElements", "candidates", best, axis=1)  # P s
    kinds = builder.op("Gather", builder.raw("frames.of_role"), chosen)  # P s N
    kinds = builder.op("Cast", kinds, to=TensorProto.INT32)
    is_unknown = builder.op("Equal", "n_candidates", builder.constant(0, np.int64))
    is_unknown = builder.op("Unsqueeze", is_unknown, builder.ints(1, 2))
    kinds = builder.op("Where", is_unknown, builder.constant(UNKNOWN_SENSE, np.int32), kinds)
    row = builder.op("Unsqueeze", probs, builder.ints(1))  # P 1 s
    mixed = builder.op(
        "Add",
        _mix_of_rows(builder, row, kinds, "function_of", "functions"),
        _mix_of_rows(builder, row, kinds, "thematic_of", "thematic"),
    )  # P N 3M
    rank = builder.stored["frames.modifier"].shape[0]
    features = builder.op("Reshape", mixed, builder.ints(0, 0, len(PREFIXES), rank))
    if "frames.descriptions" in builder.stored:
        vectors = builder.rows("frames.descriptions", kinds)  # P s N W
        mixed = _mix(builder, row, vectors, builder.stored["frames.descriptions"].shape[1])
        own = builder.linear(mixed, "frames.of_description", bias=False)
        features = builder.op("Add", features, builder.op("Unsqueeze", own, builder.ints(2)))
    features = builder.op("Reshape", features, builder.ints(0, -1, rank))
    shape = builder.op("Concat", builder.size(probs, 0), builder.ints(1, rank), axis=0)
    modifier = builder.op("Expand", builder.weight("frames.modifier"), shape)
    return builder.op("Concat", features, modifier, axis=1)


def _mix_of_rows(builder: Builder, row: str, kinds: str, ids: str, table: str) -> str:
    """The rows of a table that the kinds of roles have, weighted by the senses: P N 3M."""
    n_rows = builder.stored[f"frames.{table}"].shape[0]
    found = builder.op("Gather", builder.raw(f"frames.{ids}"), kinds)  # P s N
    found = builder.op("Cast", found, to=INT64)
    zero_one = builder.constant([0, 1], np.float32)
    chosen = builder.op("OneHot", found, builder.constant(n_rows, np.int64), zero_one)
    mixed = _mix(builder, row, chosen, n_rows)  # P N rows
    return builder.op("MatMul", mixed, builder.weight(f"frames.{table}"))


def _mix(builder: Builder, row: str, values: str, width: int) -> str:
    """The mean of P s N W, weighted by P 1 s: P N W."""
    flat = builder.op("Flatten", values, axis=2)  # P*s N*W
    sizes = builder.size(row, 0), builder.size(row, 2), builder.ints(-1)
    flat = builder.op("Reshape", flat, builder.op("Concat", *sizes, axis=0))  # P s N*W
    mixed = builder.op("MatMul", row, flat)  # P 1 N*W
    return builder.op("Reshape", mixed, builder.ints(0, len(CORE_ROLES), width))
