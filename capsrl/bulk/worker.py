"""Label one shard and write its output in one move."""

import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from capsrl.bulk.job import Job
from capsrl.bulk.plan import stat
from capsrl.bulk.storage import Folder
from capsrl.bulk.tasks import Task
from capsrl.errors import DataError, ModelError
from capsrl.tables.columns import arrow_schema
from capsrl.tables.pipeline import Counts, Labeled, label_stream, split_document
from capsrl.tables.reading import Document, Input, Part
from capsrl.tables.records import Fault
from capsrl.tables.writing import WriteOptions, table_rows, text_parts, write_parquet

try:
    import resource
except ImportError:  # Windows, see storage.check_platform
    resource = None  # type: ignore[assignment]

FAILED = "failed"  # kind of the faults of rows at which a worker failed


@dataclass(frozen=True)
class Result:
    """What a worker tells about a task.

    seconds    that it took, and those of processor time
    memory_mb  the most memory that the worker has used so far
    """

    counts: Counts
    seconds: float
    cpu_seconds: float
    memory_mb: float


class Worker:
    """Labels shards with a model that it loads once.

    model  the fingerprint that the model must have
    Raises ModelError if this machine has another model.
    """

    def __init__(self, job: Job, model: str) -> None:
        job.enter_folder()
        self._job = job
        self._labeler = job.load()
        if job.fingerprint() != model:
            raise ModelError(
                f"{job.model}: the model or the frames on {platform.node()} are not those of the "
                "plan; install the same on all machines"
            )
        self._reader = PartReader(job.make_input)
        self._folder = Folder(job.output)

    def run(self, task: Task, parts: Sequence[Part], name: str) -> Result:
        """Label a shard and write it under this name in the output folder, or try some rows."""
        began = time.perf_counter(), time.process_time()
        documents = _with_faults(self._reader.read(parts), dict(task.bad_rows))
        counts = Counts()
        if task.is_trial:
            for _ in self._label(islice(documents, task.first, task.stop)):
                pass
        else:
            with self._folder.writing(name) as path:
                _write(path, counts.count(self._label(documents)), self._job.write)
        seconds, cpu_seconds = time.perf_counter() - began[0], time.process_time() - began[1]
        return Result(counts, round(seconds, 3), round(cpu_seconds, 3), round(peak_memory(), 1))

    def _label(self, documents: Iterable[Document]) -> Iterator[Labeled]:
        options = self._job.options
        split = (split_document(document, options.layout) for document in documents)
        return label_stream(self._labeler, chain.from_iterable(split), options)


def _write(path: Path, labeled: Iterable[Labeled], options: WriteOptions) -> None:
    if options.format == "parquet":
        with open(path, "wb") as file:
            schema = arrow_schema(options.rows, options.passed)
            write_parquet(table_rows(labeled, options), file, schema)
        return
    with open(path, "w", encoding="utf-8", newline="\n") as text:
        text.writelines(text_parts(labeled, options))


def _with_faults(documents: Iterable[Document], reasons: Mapping[int, str]) -> Iterator[Document]:
    """The documents, some of them without text but with a fault.

    reasons  number of the document -> why it cannot be labeled
    """
    for number, document in enumerate(documents):
        reason = reasons.get(number)
        bad = reason and replace(document, text=None, fault=Fault(FAILED, reason))
        yield bad or document


def peak_memory() -> float:
    """The most memory that this process has used so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@dataclass
class _Reading:
    """An input that is being read.

    next_row  the number of the row at which the next part must begin
    ahead     a document that was read but belongs to the next part
    """

    path: str
    documents: Iterator[Document]
    next_row: int
    ahead: Document | None = None

    def until(self, stop: int) -> Iterator[Document]:
        """The documents of the rows before `stop`."""
        while self.next_row < stop:
            found = self.ahead or next(self.documents, None)
            self.ahead = None
            if found is None or found.number >= stop:
                self.ahead, self.next_row = found, stop
                return
            # Not one more than needed: the next row may be damaged, which concerns the next part.
            self.next_row = found.number + 1
            yield found


class PartReader:
    """Reads parts of inputs; one that follows the one before goes on in the open file.

    So a worker that gets one shard after the other decompresses a file only once.

    make_input  how to read the input of a path
    """

    def __init__(self, make_input: Callable[[str], Input]) -> None:
        self._make_input = make_input
        self._reading: _Reading | None = None

    def read(self, parts: Iterable[Part]) -> Iterator[Document]:
        """Yield the documents of the parts; raises DataError if an input has changed."""
        for part in parts:
            assert part.stop is not None
            reading = self._find(part)
            self._reading = None  # after an error in between, nothing can go on from here
            yield from reading.until(part.stop)
            self._reading = reading

    def _find(self, part: Part) -> _Reading:
        found = self._reading
        if found is not None and (found.path, found.next_row) == (part.path, part.first):
            return found
        size, _ = stat(part.path)
        if size != part.size:
            raise DataError(
                f"{part.path}: expected {part.size:,} bytes as in the plan, got {size:,}; the "
                "file has changed since the run began"
            )
        documents = self._make_input(part.path).documents(replace(part, stop=None))
        return _Reading(part.path, documents, part.first)
