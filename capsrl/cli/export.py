"""`capsrl export MODEL`: write the graphs with which a model labels without torch."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from capsrl.models import shipped_models


def export_command(
    model: Annotated[
        str,
        typer.Argument(metavar="MODEL", help="A model folder, or a model that ships with capsrl."),
    ],
    *,
    floats: Annotated[
        bool,
        typer.Option("--float", help="Compute with 32-bit floats: slower, as exact as torch."),
    ] = False,
) -> None:
    """Write the ONNX graphs of a model into its folder.

    With them the model labels on the CPU without torch, several times as fast if its weights are
    compact. The graphs are small: the weights stay in the safetensors files, which both read.
    After the model is trained or saved again, it must be exported again.
    """
    # Here, so that --help needs no onnx.
    from capsrl.export.folder import export

    folder = shipped_models().get(model, Path(model))
    for file in export(folder, int8=not floats):
        sys.stderr.write(f"{file}: {file.stat().st_size:,} bytes\n")
