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
from capsrl.files.opening import file_digest
from capsrl.tables.columns import arrow_schema
from capsrl.tables.pipeline import DocumentSentence, Totals, label_items, split_document
from capsrl.tables.reading import Document, FilePart, Input
from capsrl.tables.records import Fault
from capsrl.tables.writing import WriteOptions, table_rows, text_parts, write_parquet

try:
    import resource
except ImportError:  # Windows, see storage.check_platform
    resource = None  # type: ignore[assignment]

FAILED = "failed"  # kind of the faults of rows at which a worker failed


@dataclass(frozen=True)
class TaskResult:
    """The result of a task.

    seconds    that it took, and those of processor time
    memory_mb  the most memory that the worker has used so far
    size       of the file that it has written, in bytes, and the SHA-256 of that
    """

    counts: Totals
    seconds: float
    cpu_seconds: float
    memory_mb: float
    size: int = 0
    digest: str = ""


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

    def run(self, task: Task, parts: Sequence[FilePart], name: str) -> TaskResult:
        """Label a shard and write it under this name in the output folder, or try some rows."""
        began = time.perf_counter(), time.process_time()
        documents = _with_faults(self._reader.read(parts), dict(task.bad_rows))
        counts, size, digest = Totals(), 0, ""
        if task.is_trial:
            for _ in self._label(islice(documents, task.first, task.stop)):
                pass
        else:
            with self._folder.writing(name) as path:
                _write_shard(path, counts.count(self._label(documents)), self._job.write)
                size, digest = path.stat().st_size, file_digest(path, digits=64)
        seconds, cpu_seconds = time.perf_counter() - began[0], time.process_time() - began[1]
        taken = round(seconds, 3), round(cpu_seconds, 3)
        return TaskResult(counts, *taken, round(peak_memory(), 1), size, digest)

    def _label(self, documents: Iterable[Document]) -> Iterator[DocumentSentence]:
        options = self._job.options
        layout = options.layout(self._labeler.inventory.language)
        split = (split_document(document, layout) for document in documents)
        return label_items(self._labeler, chain.from_iterable(split), options)


def _write_shard(path: Path, labeled: Iterable[DocumentSentence], options: WriteOptions) -> None:
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


class PartReader:
    """Reads parts of inputs; a part that continues the previous one is read from the open file.

    So a worker that gets one shard after the other decompresses a file only once.

    make_input  how to read the input of a path
    """

    def __init__(self, make_input: Callable[[str], Input]) -> None:
        self._make_input = make_input
        self._next: tuple[str, int] | None = None  # path and row at which the open file goes on
        self._documents: Iterator[Document] = iter(())  # those of the open file
        self._ahead: Document | None = None  # was read, but belongs to the next part

    def read(self, parts: Iterable[FilePart]) -> Iterator[Document]:
        """Yield the documents of the parts; raises DataError if an input has changed."""
        for part in parts:
            if self._next != (part.path, part.first):
                self._open(part)
            self._next = None  # after an error in between, nothing can go on from here
            yield from self._read_part(part)
            assert part.stop is not None
            self._next = part.path, part.stop

    def _open(self, part: FilePart) -> None:
        size, _ = stat(part.path)
        if size != part.size:
            raise DataError(
                f"{part.path}: expected {part.size:,} bytes as in the plan, got {size:,}; the "
                "file has changed since the run began"
            )
        self._documents = self._make_input(part.path).documents(replace(part, stop=None))
        self._ahead = None

    def _read_part(self, part: FilePart) -> Iterator[Document]:
        """The documents of a part; raises DataError unless they are those of the plan."""
        assert part.stop is not None
        count = 0
        for document in self._read_until(part.stop):
            if not count and (document.number, document.offset) != (part.first, part.offset):
                raise _differs(part, f"row {document.number + 1}")
            count += 1
            yield document
        if count != part.count:
            raise _differs(part, f"{count:,}")

    def _read_until(self, stop: int) -> Iterator[Document]:
        """The documents of the rows before `stop`."""
        while (found := self._ahead or next(self._documents, None)) and found.number < stop:
            self._ahead = None
            yield found
            # Not one more than needed: the next row may be damaged, which concerns the next part.
            if found.number + 1 == stop:
                return
        self._ahead = found


def _differs(part: FilePart, got: str) -> DataError:
    """The error for a part that has other rows than in the plan."""
    return DataError(
        f"{part.path}: expected {part.count:,} rows from row {part.first + 1} on as in the plan, "
        f"got {got}; has the file changed since the run began?"
    )
