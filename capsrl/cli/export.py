"""`capsrl export MODEL`: export a model to ONNX, to run without torch."""

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from capsrl.cli.options import argument, command, option
from capsrl.errors import ConfigError
from capsrl.files.replacing import replacing_folder
from capsrl.models import find_model, shipped_models

OUT = option("--out FOLDER", "Write a copy of the model, instead of changing its folder.")


@command(
    {
        "Arguments": [argument("model", "MODEL", "Name or folder of a model.")],
        "Options": [
            option("--float", "Compute in 32-bit floats: slower, exact.", name="floats"),
            OUT,
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


@contextmanager
def changing(model: str, out: str | None) -> Iterator[Path]:
    """Yield a model folder to write into: that of the model, or a copy, which becomes `out`.

    Raises ConfigError for a model that ships with capsrl, which all programs use, unless there is
    an `out`; and for an `out` that exists.
    """
    folder = find_model(model)
    if out is None:
        if model in shipped_models():
            raise ConfigError(f"{model}: ships with capsrl; name a folder for a copy with --out")
        yield folder
        return
    if Path(out).exists():
        raise ConfigError(f"--out {out}: exists; name another folder")
    with replacing_folder(out) as copy:
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        yield copy
