"""`capsrl export MODEL`: export a model to ONNX, to run without torch."""

import sys
from pathlib import Path

from capsrl.cli.options import COPY, argument, changing, command, option


@command(
    {
        "Arguments": [argument("model", "MODEL", "Name or folder of a model.")],
        "Options": [
            option("--float", "Compute in 32-bit floats: slower, exact.", name="floats"),
            COPY,
        ],
    }
)
def export_command(model: str, *, floats: bool, out: str | None) -> None:
    """Export a model to ONNX: write the graphs into its folder.

    The model then runs on the CPU without torch, several times as fast if its weights are compact.
    The graphs are small: the weights stay in the safetensors files, which both read. Export a model
    again after it has been trained or saved again.
    """
    # Here, so that --help needs no onnx.
    from capsrl.export.folder import export

    with changing(model, out) as folder:
        sizes = {file.name: file.stat().st_size for file in export(folder, int8=not floats)}
    for name, size in sizes.items():
        sys.stderr.write(f"{Path(out or folder, name)}: {size:,} bytes\n")
