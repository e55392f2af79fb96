"""`capsrl export MODEL`: export a model to ONNX, to run without torch."""

import sys
from pathlib import Path

from capsrl.cli.options import argument, command, option
from capsrl.models import shipped_models


@command(
    {
        "Arguments": [argument("model", "MODEL", "Name or folder of a model.")],
        "Options": [option("--float", "Compute in 32-bit floats: slower, exact.", name="floats")],
    }
)
def export_command(model: str, *, floats: bool) -> None:
    """Export a model to ONNX: write the graphs into its folder.

    The model then runs on the CPU without torch, several times as fast if its weights are compact.
    The graphs are small: the weights stay in the safetensors files, which both read. Export a model
    again after it has been trained or saved again.
    """
    # Here, so that --help needs no onnx.
    from capsrl.export.folder import export

    folder = shipped_models().get(model, Path(model))
    for file in export(folder, int8=not floats):
        sys.stderr.write(f"{file}: {file.stat().st_size:,} bytes\n")
