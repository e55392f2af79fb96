"""`capsrl bulk IN... OUT`: label more text than fits into one process, on Ray."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TextIO

from capsrl.bulk.job import AUTO, FORMATS, Job
from capsrl.bulk.status import read_status
from capsrl.bulk.storage import Folder
from capsrl.cli.bulk_progress import show_progress, status_lines, summary_lines
from capsrl.cli.inputs import note_skipped
from capsrl.cli.options import (
    ENCODING,
    FRAMES,
    MODEL,
    ROWS_OPTION,
    RUNTIME,
    argument,
    command,
    field_options,
    format_option,
    option,
    table_options,
)
from capsrl.errors import ConfigError
from capsrl.files.opening import suffix_of
from capsrl.options import TEXT_LAYOUT, Options
from capsrl.tables.columns import ROWS
from capsrl.tables.documents import FORMATS as INPUT_FORMATS
from capsrl.tables.documents import MAX_CHARACTERS, SUFFIXES, files_of
from capsrl.tables.writing import TABLES

NOT_ALL = 3  # exit code if some documents could not be labeled, as that of `capsrl label`


@command(
    {
        "Input": [
            argument("inputs", "IN...", "Files, folders, patterns or URLs.", required=False),
            format_option("--from", INPUT_FORMATS),
            ENCODING,
            *table_options(MAX_CHARACTERS),
            *field_options(Options, TEXT_LAYOUT),
        ],
        "Output": [
            argument("output", "OUT", "Folder or URL to write.", required=False, default=""),
            option("--to FORMAT", ", ".join(FORMATS), name="to_format", default="jsonl"),
            ROWS_OPTION,
        ],
        "Labeling": field_options(Options, without=("predicates", "trace", *TEXT_LAYOUT)),
        "Model": [
            MODEL,
            FRAMES,
            option("--device DEVICE", "cpu, cuda or auto: GPUs if any.", default=AUTO),
            RUNTIME,
        ],
        "Run": [
            option("--workers N", "Worker processes (default: one per core or GPU).", low=1),
            option("--threads N", "CPU threads of a worker.", low=1, default=1),
            option("--shard-size ROWS", "Rows of a shard (default: by their length).", low=1),
            option("--address ADDRESS", "Ray cluster: auto or HOST:6379 (default: none)."),
            option("--status", "Show the progress of the run writing to OUT."),
        ],
    },
    options=Options,
)
def bulk_command(
    inputs: Sequence[str],
    output: str,
    *,
    from_format: str | None,
    encoding: str | None,
    text_column: str | None,
    id_column: str | None,
    columns: Sequence[str] | None,
    max_characters: int,
    to_format: str,
    rows: str | None,
    model: str,
    frames: str | None,
    device: str,
    runtime: str | None,
    workers: int | None,
    threads: int,
    shard_size: int | None,
    address: str | None,
    status: bool,
    options: Options,
) -> None:
    """Label tables and folders of any size.

    IN are CSV, TSV, JSON lines or Parquet files with a column of texts, or text files, also
    compressed. OUT/data gets one file for each shard of the rows. The same command resumes a run
    that was stopped or killed; the output is the same as without the interruption.

    Exit code: 0; 2 for a mistake in the command or the files; 3 if some documents could not be
    labeled (the output says why).
    """
    if status:
        _write(status_lines(read_status(Folder(_only(output, inputs)))), sys.stdout)
        return
    # The log of the run has what Ray would print to standard output. It reads this when imported.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    # Here, so that --help and --status need no Ray.
    from capsrl.bulk.run import label_in_bulk

    job = Job(
        output=_checked_output(inputs, output),
        to=_one_of("--to", to_format, FORMATS),
        rows=_one_of("--rows", rows or ("argument" if to_format in TABLES else "sentence"), ROWS),
        format=from_format,
        text_column=text_column,
        id_column=id_column,
        encoding=encoding,
        max_characters=max_characters,
        model=model,
        frames=frames,
        device=_one_of("--device", device, (AUTO, "cpu", "cuda")),
        runtime=runtime,
        threads=threads,
        options=options,
    )
    _note_skipped(inputs, output)
    with show_progress() as report:
        last = label_in_bulk(
            inputs,
            job,
            n_workers=workers,
            shard_size=shard_size,
            columns=columns,
            address=address,
            report=report,
        )
    _write(summary_lines(last, output), sys.stderr)
    if last["set_aside"] or last["errors"]:
        sys.exit(NOT_ALL)


def _write(lines: Iterable[str], file: TextIO) -> None:
    file.writelines(f"{line}\n" for line in lines)


def _only(output: str, inputs: Sequence[str]) -> str:
    if inputs or not output:
        raise ConfigError(
            "--status: expected one output folder, got " + ("more" if output else "none")
        )
    return output


def _checked_output(inputs: Sequence[str], output: str) -> str:
    if not inputs:
        got = f"only {output}" if output else "nothing"
        raise ConfigError(f"expected files to label, then an output folder, got {got}")
    if Path(output).is_file():
        raise ConfigError(f"{output}: expected a folder for the output, got a file; name it last")
    return output


def _note_skipped(inputs: Iterable[str], output: str) -> None:
    """Name the files of folders that are no tables or texts, but for those of the output."""
    for folder in filter(os.path.isdir, inputs):
        unknown = (path for path in files_of(folder) if suffix_of(path) not in SUFFIXES)
        target = Path(output).resolve()
        note_skipped(folder, [p for p in unknown if not p.resolve().is_relative_to(target)])


def _one_of(name: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise ConfigError(f"{name}: expected {', '.join(allowed)}, got {value}")
    return value
