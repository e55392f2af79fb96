"""The settings of a bulk run.

They say where its output is, which model labels, and how files are read and written.
"""

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import capsrl
from capsrl.frames.user import user_index
from capsrl.labeler import Labeler
from capsrl.models import find_model
from capsrl.options import Options
from capsrl.predict.folder import choose_runtime, fingerprint
from capsrl.tables.documents import make_input
from capsrl.tables.reading import Input, ReadOptions
from capsrl.tables.writing import WriteOptions

AUTO = "auto"  # the device: GPUs if there are any
OUTPUT_FORMATS = ("jsonl", "parquet", "csv", "tsv")


@dataclass(frozen=True, kw_only=True)
class Job:
    """All that a worker needs to know.

    output   path or URL of the output folder
    read     how the inputs are read
    write    how the output is written; its format is one of OUTPUT_FORMATS
    folder   the working directory, in which relative paths are
    model    name or folder of the model
    frames   frame files or an index of them; None for the default
    device   cpu or cuda
    runtime  onnx or torch; None for the default
    threads  of one worker
    """

    output: str
    read: ReadOptions = ReadOptions()
    write: WriteOptions = WriteOptions()
    folder: str = "."
    model: str = "en"
    frames: str | None = None
    device: str = "cpu"
    runtime: str | None = None
    threads: int = 1
    options: Options = dataclasses.field(default_factory=Options)

    def enter_folder(self) -> None:
        """Go to the working directory of the run, if this machine has it."""
        if os.path.isdir(self.folder):
            os.chdir(self.folder)

    def make_input(self, path: str) -> Input:
        """How to read a file."""
        return make_input(path, self.read)

    def load(self) -> Labeler:
        """Load the model."""
        return capsrl.load(
            self.model,
            device=self.device,
            threads=self.threads,
            frames=self.frames,
            runtime=self.runtime,
        )

    def fingerprint(self) -> str:
        """A digest of the files of the model, and of the frames that explain its answers."""
        return fingerprint(find_model(self.model), Path(self.frames or user_index()))

    def settings(self) -> dict[str, Any]:
        """All that the output depends on besides the inputs, for the plan."""
        options, read = dataclasses.asdict(self.options), dataclasses.asdict(self.read)
        return {
            "version": capsrl.__version__,
            "to": self.write.format,
            "rows": self.write.rows,
            "escape": self.write.escape,
            "columns": {name: str(each.type) for name, each in self.write.passed.columns.items()},
            "from": read.pop("format"),
            **read,
            "model": self.fingerprint(),
            "device": self.device,
            "runtime": choose_runtime(find_model(self.model), self.device, self.runtime),
            "options": {**options, "pos": options["pos"] and list(options["pos"])},
        }
