"""`capsrl bulk IN... OUT`: label more text than fits into one process, on Ray."""

import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TextIO

import typer

from capsrl.bulk.job import AUTO, FORMATS, Job
from capsrl.bulk.status import read_status
from capsrl.bulk.storage import Folder
from capsrl.cli.bulk_progress import show_progress, status_lines, summary_lines
from capsrl.cli.inputs import note_skipped
from capsrl.cli.options import Encoding, Frames, Model, Runtime, option, split_names, with_fields
from capsrl.errors import ConfigError
from capsrl.files.opening import suffix_of
from capsrl.options import Options
from capsrl.tables.columns import ROWS
from capsrl.tables.documents import FORMATS as INPUT_FORMATS
from capsrl.tables.documents import MAX_CHARACTERS, SUFFIXES, files_of
from capsrl.tables.writing import TABLES

NOT_ALL = 3  # exit code if some documents could not be labeled, as that of `capsrl label`


@with_fields("options", Options, without=("predicates", "trace"))
def bulk_command(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="IN...",
            help="Files, folders, patterns or URLs of tables and texts.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str, typer.Argument(metavar="OUT", help="Folder or URL of the output.", show_default=False)
    ] = "",
    *,
    text_column: Annotated[
        str | None, option("NAME", "Column of the texts. Default: text.")
    ] = None,
    id_column: Annotated[
        str | None, option("NAME", "Column of the ids. Default: id if there is one.")
    ] = None,
    from_format: Annotated[
        str | None,
        option("FORMAT", f"{', '.join(INPUT_FORMATS)}. Default: by the suffix.", "--from"),
    ] = None,
    encoding: Encoding = None,
    columns: Annotated[
        str | None, option("NAMES", "Other columns to keep, with commas. Default: all.")
    ] = None,
    max_characters: Annotated[int, option("N", "Longer texts are errors.", min=1)] = MAX_CHARACTERS,
    to_format: Annotated[
        str, option("FORMAT", f"Format of the output: {', '.join(FORMATS)}.", "--to")
    ] = "jsonl",
    rows: Annotated[
        str | None,
        option("argument|sentence", "What a row is. Default: argument in tables, else sentence."),
    ] = None,
    model: Model = "en",
    frames: Frames = None,
    device: Annotated[
        str,
        option("DEVICE", "cpu, or cuda for one worker per GPU. Default: GPUs if there are any."),
    ] = AUTO,
    runtime: Runtime = None,
    workers: Annotated[
        int | None, option("N", "Worker processes. Default: one per core or GPU.", min=1)
    ] = None,
    threads: Annotated[int, option("N", "CPU threads of a worker.", min=1)] = 1,
    shard_size: Annotated[
        int | None,
        option(
            "ROWS", "Rows of a shard. Default: those of 130,000 characters, at most 2,000.", min=1
        ),
    ] = None,
    address: Annotated[
        str | None,
        option("ADDRESS", "Ray cluster: auto or HOST:6379. Default: Ray on this machine."),
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Show how far the run that writes OUT is, and exit.")
    ] = False,
    options: Options,
) -> None:
    """Label tables and folders of any size.

    IN are CSV, TSV, JSON lines or Parquet files with a column of texts, or text files, also
    compressed. OUT/data gets one file for each shard of the rows. A run that was stopped or killed
    goes on with the same command, and its output is the same as without the interruption.

    The exit code is 0, or 2 for a mistake in the command or the files, or 3 if some documents could
    not be labeled: those have an error in the output.
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
    _note_skipped(inputs or [], output)
    with show_progress() as report:
        last = label_in_bulk(
            inputs or [],
            job,
            n_workers=workers,
            shard_size=shard_size,
            columns=split_names(columns),
            address=address,
            report=report,
        )
    _write(summary_lines(last, output), sys.stderr)
    if last["set_aside"] or last["errors"]:
        raise typer.Exit(NOT_ALL)


def _write(lines: Iterable[str], file: TextIO) -> None:
    file.writelines(f"{line}\n" for line in lines)


def _only(output: str, inputs: Sequence[str] | None) -> str:
    if inputs or not output:
        raise ConfigError(
            "--status: expected one output folder, got " + ("more" if output else "none")
        )
    return output


def _checked_output(inputs: Sequence[str] | None, output: str) -> str:
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
