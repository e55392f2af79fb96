"""`capsrl bulk IN... OUT`: label more text than fits into one process, on Ray."""

import os
import socket
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TextIO

from capsrl.bulk.job import AUTO, OUTPUT_FORMATS, Job
from capsrl.bulk.monitor import BEFORE, RunStatus, damaged_status, is_alive, read_status
from capsrl.bulk.storage import Folder
from capsrl.cli.inputs import note_skipped
from capsrl.cli.options import (
    ENCODING,
    ESCAPE,
    FRAME_FILES,
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
from capsrl.cli.outputs import NOT_ALL, write_options
from capsrl.cli.progress import bulk_progress, plural, problems
from capsrl.errors import ConfigError, without_secrets
from capsrl.options import TEXT_LAYOUT, Options
from capsrl.tables.documents import DOCUMENT_FORMATS
from capsrl.tables.reading import MAX_CHARACTERS, ReadOptions

_COUNTED = ("documents", "sentences", "propositions", "arguments")


@command(
    {
        "Input": [
            argument("inputs", "IN...", "Files, folders, patterns or URLs.", required=False),
            format_option("--from", DOCUMENT_FORMATS),
            ENCODING,
            *table_options(MAX_CHARACTERS),
            *field_options(Options, TEXT_LAYOUT),
        ],
        "Output": [
            argument("output", "OUT", "Folder or URL to write.", required=False, default=""),
            option(
                f"--to {'|'.join(OUTPUT_FORMATS)}", "Format.", name="to_format", default="jsonl"
            ),
            ROWS_OPTION,
            ESCAPE,
        ],
        "Labeling": field_options(Options, without=("predicates", "trace", *TEXT_LAYOUT)),
        "Model": [
            MODEL,
            FRAME_FILES,
            option(f"--device {AUTO}|cpu|cuda", "auto: GPUs if there are any.", default=AUTO),
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
    escape_formulas: bool,
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

    IN: CSV, TSV, JSON lines or Parquet files with a column of texts, or text files, also
    compressed. OUT/data gets one file for each shard of the rows. The same command resumes a run
    that was stopped or killed; the output is the same as without the interruption.

    Exit code: 0; 2 for a mistake in the command or the files; 3 if some documents could not be
    labeled (the output says why).
    """
    if status:
        found = read_status(Folder(_only(output, inputs)))
        _write_lines(status_lines(found), sys.stdout, output)
        return
    # The log of the run has what Ray would print to standard output. It reads this when imported.
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    # Here, so that --help and --status need no Ray.
    from capsrl.bulk.run import label_in_bulk

    job = Job(
        output=_checked_output(inputs, output),
        read=ReadOptions(from_format, text_column, id_column, encoding, max_characters),
        write=write_options(to_format, rows, escape=escape_formulas),
        model=model,
        frames=frames,
        device=device,
        runtime=runtime,
        threads=threads,
        options=options,
    )
    with bulk_progress() as report:
        last = label_in_bulk(
            inputs,
            job,
            n_workers=workers,
            shard_size=shard_size,
            columns=columns,
            address=address,
            report=report,
            report_skipped=note_skipped,
        )
    _write_lines(summary_lines(last, output), sys.stderr, output)
    if last["set_aside"] or last["errors"]:
        sys.exit(NOT_ALL)


def _write_lines(lines: Iterable[str], file: TextIO, output: str) -> None:
    """Write what a status says, which may come from a damaged file, and where the output is."""
    try:
        text = "".join(f"{line}\n" for line in lines)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise damaged_status(output, error) from None
    file.write(without_secrets(text))


def _only(output: str, inputs: Sequence[str]) -> str:
    if inputs or not output:
        raise ConfigError("--status: give one output folder and no inputs")
    return output


def _checked_output(inputs: Sequence[str], output: str) -> str:
    if not inputs:
        raise ConfigError("give files to label, then an output folder: capsrl bulk IN... OUT")
    if Path(output).is_file():
        raise ConfigError(f"{output}: the output must be a folder, not a file; name it last")
    return output


def summary_lines(status: RunStatus, output: str) -> Iterator[str]:
    """Describe the output of a run, line by line."""
    counts = (plural(status[name], name.removesuffix("s")) for name in _COUNTED)
    yield f"{output}/data: {', '.join(counts)}"
    took = f"this run took {timedelta(seconds=round(status['seconds']))}"
    rate = f"{plural(round(status['sentences_per_second']), 'sentence')}/s"
    done = "all were done before" if status["state"] == BEFORE else f"{took}, {rate}"
    yield f"{status['done']:,} of {plural(status['shards'], 'shard')}; {done}"
    for kind, number in status["errors"].items():
        yield f"{plural(number, 'document')} not labeled: {kind}"
    if aside := status["set_aside"]:
        shards = plural(len(aside), "shard")
        yield f"{shards} set aside, see {output}/failed; run the same command to try again"


def status_lines(status: RunStatus) -> Iterator[str]:
    """Describe the progress of a run, line by line."""
    yield f"state: {_state(status)}"
    failures = ", ".join(problems(status)) or "no failures"
    yield f"shards: {status['done']:,} of {status['shards']:,} done, {failures}"
    yield from (f"{name}: {status[name]:,}" for name in _COUNTED)
    yield from (f"errors, {kind}: {number:,}" for kind, number in status["errors"].items())
    is_running = status["state"] == "running"
    workers = f", {plural(status['workers'], 'worker')}" if is_running else ""
    rate = plural(round(status["sentences_per_second"]), "sentence")
    yield f"rate: {rate}/s{workers}"
    if is_running and status["seconds_left"] is not None:
        yield f"time left: {timedelta(seconds=status['seconds_left'])}"
    memory = status["memory_mb"]
    yield f"peak memory: {memory['driver']:,} MB driver, {memory['worker']:,} MB largest worker"


def _state(status: RunStatus) -> str:
    """The state, and whether the run that wrote it is still there."""
    age = datetime.now().astimezone() - datetime.fromisoformat(status["updated"])
    ago = f"{_duration(max(0, age.total_seconds()))} ago"  # clocks may differ
    if status["state"] != "running":
        return f"{status['state']} {ago}"
    if status["host"] == socket.gethostname() and not is_alive(status["pid"]):
        return f"killed {ago}; run the same command to resume"
    return f"running, updated {ago}"


def _duration(seconds: float) -> str:
    for size, unit in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
