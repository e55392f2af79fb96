"""A bidirectional LSTM as one node of a graph."""

from onnx import TensorProto

from capsrl.export.builder import Builder


def bilstm(builder: Builder, steps: str, name: str, layer: int, lengths: str = "") -> str:
    """One layer of `BiLSTM` .

    steps    T N E    for N sequences
    lengths  N        of the sequences, if they are padded
    ->       T 2 N H  forward and backward states
    """
    names = [f"{name}.{direction}.{layer}" for direction in ("forwards", "backwards")]
    n_units = builder.stored[f"{names[0]}.weight_hh_l0"].shape[1]

    def joined(*kinds: str) -> str:
        """The parameters of both directions, in the order of gates of ONNX."""
        parts = [
            builder.op(
                "Concat",
                *(_gates(builder, builder.weight(f"{one}.{kind}_l0"), n_units) for kind in kinds),
                axis=0,
            )
            for one in names
        ]
        stacked = [builder.op("Unsqueeze", part, builder.ints(0)) for part in parts]
        return builder.op("Concat", *stacked, axis=0)

    return builder.op(
        "LSTM",
        steps,
        joined("weight_ih"),
        joined("weight_hh"),
        joined("bias_ih", "bias_hh"),
        builder.op("Cast", lengths, to=TensorProto.INT32) if lengths else "",
        hidden_size=n_units,
        direction="bidirectional",
    )


def _gates(builder: Builder, weight: str, n_units: int) -> str:
    """Torch orders the gates input, forget, cell, output; ONNX input, output, forget, cell."""
    split = builder.ints(*[n_units] * 4)
    input_gate, forget, cell, output = builder.ops("Split", weight, split, n_outputs=4, axis=0)
    return builder.op("Concat", input_gate, output, forget, cell, axis=0)
