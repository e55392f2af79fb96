"""The examples of docs/bulk.md work as it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from capsrl.bulk.job import Job
from capsrl.bulk.plan import Plan, scan
from capsrl.bulk.tasks import Task
from capsrl.bulk.worker import Worker
from capsrl.tables.reading import ReadOptions
from capsrl.tables.writing import WriteOptions
from tests.helpers.bulk_runs import start

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = (ROOT / "docs" / "bulk.md").read_text(encoding="utf-8")
REVIEWS = """body,stars
Mira sold her bicycle to a neighbour. He gave it to his son.,5
The shop never answered.,1
A farmer sold us two tables.,4
"""


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


@pytest.fixture
def reviews(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("reviews.csv").write_text(REVIEWS)


def test_results_are_read(reviews):
    write = WriteOptions("parquet", "argument")
    job = Job(output="labeled", read=ReadOptions(text_column="body"), write=write)
    plan = Plan(job.settings(), 2, [scan(job.make_input("reviews.csv"), 2)])
    worker = Worker(job, job.fingerprint())
    for shard in range(plan.n_shards):
        worker.run(Task(shard), plan.parts(shard), plan.name(shard))
    assert len(list(Path("labeled/data").iterdir())) == 2
    with_duckdb, with_pandas = blocks("python")
    names = {}
    exec(with_duckdb, names)
    assert names["frequent"].fetchall()[0] == ("sell.01", 2)
    exec(with_pandas, names)
    assert names["sellers"].to_dict() == {"Mira": 1, "A farmer": 1}


@pytest.mark.slow
def test_the_first_example(reviews):
    [block] = blocks("console")
    command, *shown = block.splitlines()
    run = start("docs", *command.split()[3:], "--workers", 1)
    _, printed = run.communicate(timeout=120)
    assert run.returncode == 0
    lines = [line for line in printed.splitlines() if "left" not in line]
    assert lines[0] == shown[0]
    rates = (line.replace("sentences/s", "sentence/s") for line in (lines[1], shown[1]))
    ours, documented = (re.sub(r"\d+", "0", line) for line in rates)
    assert ours == documented


def test_the_estimate():
    [block] = blocks("text")
    command, _, shown = block.partition("\n")
    done = subprocess.run(
        [sys.executable, *command.split()[2:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == shown
