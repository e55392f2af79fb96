"""Inputs and plans of bulk runs."""

import gzip
import json

import numpy as np

from capsrl.bulk.plan import Plan, PlannedInput, scan
from capsrl.tables.documents import make_input

SETTINGS = {"to": "jsonl", "model": "abc", "options": {"threshold": 0.0, "pos": None}}
TEXTS = [f"Sentence {number}." for number in range(23)]
LINES = "".join(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(TEXTS))


def planned(path, n_rows, size, *, offsets=True):
    """An input of rows of 10 bytes each, in parts of this size."""
    firsts = np.arange(0, n_rows, size, dtype=np.int64)
    begins = 10 * firsts if offsets else None
    counts = np.diff(firsts, append=n_rows)
    return PlannedInput(path, 10 * n_rows, "1", "digest", n_rows, firsts, begins, counts)


def write_gz(file):
    """TEXTS as compressed JSON lines."""
    file.write_bytes(gzip.compress(LINES.encode()))


def make_plan(paths, size):
    """The plan for some files."""
    return Plan({"to": "jsonl"}, size, [scan(make_input(path), size) for path in paths])
