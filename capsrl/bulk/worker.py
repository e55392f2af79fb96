"""Label one shard and write its output in one move."""

import os
import resource
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

from capsrl.bulk.failures import Task
from capsrl.bulk.job import Job
from capsrl.bulk.plan import Piece
from capsrl.bulk.rows import RowReader
from capsrl.bulk.status import Counts, counts_name, error_kind
from capsrl.bulk.storage import Folder
from capsrl.errors import ModelError
from capsrl.formats.jsonl import format_object
from capsrl.sentence import Sentence
from capsrl.tables.cells import Cells
from capsrl.tables.columns import arrow_schema, columns_of
from capsrl.tables.documents import Document
from capsrl.tables.labeled import Labeled, json_lines, labeled_rows, split_document
from capsrl.tables.writing import csv_parts, write_parquet


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
                f"{job.model}: expected the model and frames of the plan, got others on "
                f"{os.uname().nodename}; install the same on all machines"
            )
        self._reader = RowReader(job.make_input)
        self._folder = Folder(job.output)

    def run(self, task: Task, pieces: Sequence[Piece], name: str) -> Result:
        """Label a shard and write it under this name in the output folder, or try some rows."""
        began = time.perf_counter(), time.process_time()
        documents = _with_errors(self._reader.read(pieces), dict(task.bad_rows))
        if task.is_trial:
            for _ in self._label(islice(documents, task.first, task.stop)):
                pass
            return _result(Counts(), began)
        counts = Counts()
        with self._folder.writing(name) as path:
            self._write(path, _count(self._label(documents), counts))
            # Before the output has its name, which means that the shard is done.
            self._folder.write(counts_name(task.shard), counts.to_json())
        return _result(counts, began)

    def _label(self, documents: Iterable[Document]) -> Iterator[Labeled]:
        """Label the sentences of documents in order; a document without any is passed on."""
        options = self._job.options
        waiting: deque[Labeled] = deque()

        def sentences() -> Iterator[Sentence]:
            for document in documents:
                for each in split_document(document, options.layout):
                    waiting.append(each)
                    if each.sentence is not None:
                        yield each.sentence

        for sentence in self._labeler.label_sentences(sentences(), options=options):
            while waiting[0].sentence is None:
                yield waiting.popleft()
            yield replace(waiting.popleft(), sentence=sentence)
        yield from waiting

    def _write(self, path: Path, labeled: Iterable[Labeled]) -> None:
        job = self._job
        if job.to == "parquet":
            with open(path, "wb") as file:
                write_parquet(self._rows(labeled), file, arrow_schema(job.rows, job.passed))
            return
        with open(path, "w", encoding="utf-8", newline="\n") as text:
            text.writelines(self._lines(labeled))

    def _lines(self, labeled: Iterable[Labeled]) -> Iterable[str]:
        job = self._job
        if job.to != "jsonl":
            delimiter = "," if job.to == "csv" else "\t"
            columns = columns_of(job.rows, job.passed)
            return csv_parts(self._rows(labeled), columns, delimiter=delimiter)
        if job.rows == "argument":
            return map(format_object, self._rows(labeled))
        return json_lines(labeled, job.passed)

    def _rows(self, labeled: Iterable[Labeled]) -> Iterator[Cells]:
        job = self._job
        return chain.from_iterable(
            labeled_rows(each, rows=job.rows, passed=job.passed) for each in labeled
        )


def _with_errors(documents: Iterable[Document], reasons: Mapping[int, str]) -> Iterator[Document]:
    """The documents, some of them without text but with an error.

    reasons  number of the document -> why it cannot be labeled
    """
    for number, document in enumerate(documents):
        reason = reasons.get(number)
        yield document if reason is None else replace(document, text=None, error=reason)


def _count(labeled: Iterable[Labeled], counts: Counts) -> Iterator[Labeled]:
    for each in labeled:
        counts.documents += each.number in (None, 1)
        if each.sentence is not None:
            counts.sentences += 1
            counts.propositions += len(each.sentence.propositions)
            counts.arguments += sum(len(p.arguments) for p in each.sentence.propositions)
        if each.error is not None:
            counts.errors[error_kind(each.error)] += 1
        yield each


def _result(counts: Counts, began: tuple[float, float]) -> Result:
    seconds, cpu_seconds = time.perf_counter() - began[0], time.process_time() - began[1]
    return Result(counts, round(seconds, 3), round(cpu_seconds, 3), round(peak_memory(), 1))


def peak_memory() -> float:
    """The most memory that this process has used so far, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
