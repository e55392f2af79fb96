"""What a bulk run does: where its input and output are and how it labels."""

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
from capsrl.tables.columns import NOTHING, Passed
from capsrl.tables.documents import MAX_CHARACTERS, Input

AUTO = "auto"  # the device: GPUs if there are any
FORMATS = ("jsonl", "parquet", "csv", "tsv")


@dataclass(frozen=True, kw_only=True)
class Job:
    """All that a worker needs to know; the fields of the input are those of `tables.Input`.

    output   path or URL of the output folder
    to       format of the output, one of FORMATS
    rows     what a row of the output is: argument or sentence
    passed   columns of the inputs that the output has too
    folder   the working directory, in which relative paths are
    model    name or folder of the model
    frames   frame files or an index of them; None for the default
    device   cpu or cuda
    runtime  onnx or torch; None for the default
    threads  of one worker
    """

    output: str
    to: str = "jsonl"
    rows: str = "sentence"
    folder: str = "."
    format: str | None = None
    text_column: str | None = None
    id_column: str | None = None
    encoding: str | None = None
    max_characters: int = MAX_CHARACTERS
    model: str = "en"
    frames: str | None = None
    device: str = "cpu"
    runtime: str | None = None
    threads: int = 1
    options: Options = dataclasses.field(default_factory=Options)
    passed: Passed = NOTHING

    def enter_folder(self) -> None:
        """Go to the working directory of the run, if this machine has it."""
        if os.path.isdir(self.folder):
            os.chdir(self.folder)

    def make_input(self, path: str) -> Input:
        """How to read a file."""
        return Input(
            path,
            self.format,
            self.text_column,
            self.id_column,
            self.encoding,
            self.max_characters,
        )

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
        """What the output depends on besides the inputs, for the plan."""
        options = dataclasses.asdict(self.options)
        return {
            "version": capsrl.__version__,
            "to": self.to,
            "rows": self.rows,
            "columns": {name: str(each.type) for name, each in self.passed.columns.items()},
            "from": self.format,
            "text_column": self.text_column,
            "id_column": self.id_column,
            "encoding": self.encoding,
            "max_characters": self.max_characters,
            "model": self.fingerprint(),
            "device": self.device,
            "runtime": choose_runtime(find_model(self.model), self.device, self.runtime),
            "options": {**options, "pos": options["pos"] and list(options["pos"])},
        }
