"""Measure bulk labeling, and plan runs that are larger than this machine.

    python benchmarks/bulk.py speed [--sentences 20000] [--rounds 2]
    python benchmarks/bulk.py memory [--sentences 2000]
    python benchmarks/bulk.py plan [--shards 1000000]
    python benchmarks/bulk.py estimate [--sentences 1e9] [--rate 358] [--workers 256] ...

speed     `label_many` in one process, bulk with one worker and with two, in turn on the same text;
          the time of bulk is that of the run, in which workers load the model, without Ray's start
memory    the most memory of driver and worker for a text, and for one that is 100 times as long
plan      makes a plan of so many shards, all but ten of which are done, and resumes it
estimate  workers, hours, storage and memory of a run, from rates that you give

The first three compare with bars and exit with 1 if one is missed. On a busy machine look at
processor time (CPU), which other programs change less than wall time.
"""

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from capsrl.bulk.monitor import Monitor
from capsrl.bulk.plan import Plan, find_added, read_plan, scan
from capsrl.bulk.storage import Folder
from capsrl.bulk.tasks import Queue
from capsrl.tables.documents import make_input
from capsrl.tables.pipeline import Totals

WHO = ("The company", "Mira", "A neighbour of ours", "My old friend", "The union", "She")
DID = ("sold", "bought", "signed", "promised to bring", "gave up", "found", "repaired", "lost")
WHAT = ("the contract", "a bicycle", "her car", "the old house in the village", "a long report")
WHEN = ("", " yesterday", " in Paris", " to a friend of hers", " because it had rained all day")

MAX_OVERHEAD = 1.1  # time of bulk with one worker / time of label_many
MIN_GAIN = 1.8  # time of one worker / time of two
MAX_GROWTH = 1.1  # memory for 100 times the text / memory for the text
MAX_SECONDS = 60.0  # of planning, and of resuming, a million shards
MAX_MEMORY = 1000.0  # MB, of both

BULK = {1: "bulk, one worker", 2: "bulk, two workers"}
LABEL_MANY = """
import json, sys, time, capsrl
texts = [json.loads(line)["text"] for line in open(sys.argv[1], encoding="utf-8")]
labeler = capsrl.load(threads=1, device="cpu")
began = time.perf_counter(), time.process_time()
n_sentences = sum(len(sentences) for sentences in labeler.label_many(texts))
print(n_sentences, time.perf_counter() - began[0], time.process_time() - began[1])
"""


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    speed = commands.add_parser("speed")
    speed.add_argument("--sentences", type=int, default=20_000)
    speed.add_argument("--rounds", type=int, default=2)
    memory = commands.add_parser("memory")
    memory.add_argument("--sentences", type=int, default=2000)
    plan = commands.add_parser("plan")
    plan.add_argument("--shards", type=int, default=1_000_000)
    add_estimate(commands.add_parser("estimate"))
    options = parser.parse_args()
    if options.command == "estimate":
        print_estimate(options)
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(prefix="capsrl-benchmark-") as name:
        measure = {"speed": measure_speed, "memory": measure_memory, "plan": measure_plan}
        missed = measure[options.command](Path(name), options)
    print("bars missed: " + ", ".join(missed) if missed else "all bars are met")
    sys.exit(1 if missed else 0)


def write_texts(file: Path, number: int) -> None:
    """Write so many rows of one sentence each, 4 to 16 words long."""
    choose = random.Random(1).choice
    with file.open("w", encoding="utf-8") as lines:
        for row in range(number):
            text = f"{choose(WHO)} {choose(DID)} {choose(WHAT)}{choose(WHEN)}."
            lines.write(json.dumps({"id": f"r{row}", "text": text}) + "\n")


def run_bulk(file: Path, folder: Path, n_workers: int, *more: str) -> dict[str, Any]:
    """Label a file into a new folder; the status, with the seconds of the whole command."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [sys.executable, "-m", "capsrl", "bulk", str(file), str(folder)]
    began = time.perf_counter()
    subprocess.run(
        [*command, "--device", "cpu", "--workers", str(n_workers), *more],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    status: dict[str, Any] = json.loads((folder / "status.json").read_text(encoding="utf-8"))
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    shards = [event for event in map(json.loads, lines) if event["kind"] == "shard"]
    status["command_seconds"] = time.perf_counter() - began
    status["cpu_seconds"] = sum(event["cpu_seconds"] for event in shards)
    status["worker_seconds"] = sum(event["seconds"] for event in shards)
    return status


def measure_speed(folder: Path, options: argparse.Namespace) -> list[str]:
    """The cost of bulk labeling, and the gain of a second worker."""
    file = folder / "in.jsonl"
    write_texts(file, options.sentences)
    best: dict[str, tuple[float, float]] = {}

    def note(name: str, seconds: float, cpu: float, more: str = "") -> None:
        print(f"{name:22} {seconds:7.1f} s, {cpu:7.1f} s of CPU{more}", flush=True)
        before = best.get(name, (seconds, cpu))
        best[name] = (min(seconds, before[0]), min(cpu, before[1]))

    for _ in range(options.rounds):
        done = subprocess.run(
            [sys.executable, "-c", LABEL_MANY, str(file)],
            check=True,
            capture_output=True,
            text=True,
        )
        _, seconds, cpu = map(float, done.stdout.split())
        note("label_many", seconds, cpu)
        for n_workers in (1, 2):
            status = run_bulk(file, folder / "out", n_workers)
            more = (
                f"; shards {status['worker_seconds']:.1f} s, "
                f"whole command {status['command_seconds']:.1f} s"
            )
            note(BULK[n_workers], status["seconds"], status["cpu_seconds"], more)
    size = sum(each.stat().st_size for each in (folder / "out" / "data").iterdir())
    n = options.sentences
    one, two, many = best[BULK[1]], best[BULK[2]], best["label_many"]
    overhead, gain = one[0] / many[0], one[0] / two[0]
    print(f"bulk / label_many      {overhead:.2f} (CPU {one[1] / many[1]:.2f})")
    print(f"one / two workers      {gain:.2f}")
    print(f"a million sentences    {one[1] / n * 1e6 / 3600:.2f} core hours, {n / one[1]:.0f}/s")
    print(f"output                 {size / n:.0f} bytes per sentence as JSON lines")
    return [
        *([f"overhead {overhead:.2f}"] if overhead > MAX_OVERHEAD else []),
        *([f"gain {gain:.2f}"] if gain < MIN_GAIN else []),
    ]


def measure_memory(folder: Path, options: argparse.Namespace) -> list[str]:
    """The memory of driver and worker for a text, and for one 100 times as long."""
    found = []
    for factor in (1, 100):
        file = folder / f"{factor}.jsonl"
        write_texts(file, factor * options.sentences)
        status = run_bulk(file, folder / "out", 2)
        found.append(status["memory_mb"])
        print(f"{factor * options.sentences:9,} sentences: {status['memory_mb']} MB", flush=True)
    growth = {name: found[1][name] / found[0][name] for name in found[0]}
    print(f"growth: {', '.join(f'{name} {value:.2f}' for name, value in growth.items())}")
    return [f"memory of {name}" for name, value in growth.items() if value > MAX_GROWTH]


def measure_plan(folder: Path, options: argparse.Namespace) -> list[str]:
    """Time and memory of a plan with very many shards."""
    file, output = folder / "in.jsonl", Folder(str(folder / "out"))
    write_texts(file, options.shards)
    before = peak()
    began = time.perf_counter()
    plan = Plan({"to": "jsonl"}, 1, [scan(make_input(file), 1)])
    plan.write(output)
    planning = time.perf_counter() - began
    print(f"planning: {planning:.1f} s, {plan.n_shards:,} shards", flush=True)
    size = (folder / "out" / "plan.jsonl").stat().st_size
    write_done(plan, output)
    began = time.perf_counter()
    again = read_plan(output)
    assert again is not None
    assert not find_added(again, [str(file)], output.url)
    monitor = Monitor(again, output, lambda status: None)
    queue = Queue(monitor.todo())
    first = queue.take("worker")
    assert first is not None and len(queue) == 9
    again.parts(first)
    status = monitor.end("interrupted")
    resuming = time.perf_counter() - began
    print(f"resuming: {resuming:.1f} s, {status['sentences']:,} sentences done")
    print(f"plan {size / 1e6:.0f} MB; memory {peak():.0f} MB, {before:.0f} MB of it at the start")
    return [
        *(["planning"] if planning > MAX_SECONDS else []),
        *(["resuming"] if resuming > MAX_SECONDS else []),
        *(["memory"] if peak() > MAX_MEMORY else []),
    ]


def write_done(plan: Plan, output: Folder) -> None:
    """Make the files of all shards but ten, and their log."""
    (Path(output.url) / "data").mkdir()
    done = np.ones(plan.n_shards, bool)
    done[np.linspace(0, plan.n_shards - 1, 10).astype(int)] = False
    empty = {"size": 0, "sha256": hashlib.sha256().hexdigest()}
    counts = Totals(1, 1, 1, 2).to_dict() | empty
    with open(f"{output.url}/log.jsonl", "w", encoding="utf-8") as log:
        for shard in np.flatnonzero(done).tolist():
            os.close(os.open(f"{output.url}/{plan.name(shard)}", os.O_CREAT))
            event = {"time": "2026-01-01T00:00:00.000+00:00", "kind": "shard", "shard": shard}
            log.write(json.dumps({**event, **counts, "seconds": 1.234, "cpu_seconds": 1.2}) + "\n")


def peak() -> float:
    """The most memory that this process has used so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def add_estimate(parser: argparse.ArgumentParser) -> None:
    """The options of `estimate`; docs/bulk.md says where the defaults were measured."""
    add = parser.add_argument
    add("--sentences", type=float, default=1e9)
    add("--rate", type=float, default=358.0, help="sentences per second of one worker")
    add("--workers", type=int, default=256)
    add("--price", type=float, default=0.04, help="of a worker for an hour")
    add("--input-bytes", type=float, default=80.0, help="of a sentence")
    add("--output-bytes", type=float, default=294.0, help="of a sentence in the output")
    add("--shard-sentences", type=float, default=2000.0, help="in a shard")
    add("--worker-mb", type=float, default=310.0, help="memory of a worker")
    add("--driver-mb", type=float, default=140.0, help="memory of the driver with few shards")
    add("--shard-bytes", type=float, default=230.0, help="memory of the driver for a shard")


def print_estimate(options: argparse.Namespace) -> None:
    """What a run of this size needs."""
    worker_hours = options.sentences / options.rate / 3600
    n_shards = options.sentences / options.shard_sentences
    rate = options.rate / options.shard_sentences
    driver = options.driver_mb + n_shards * options.shard_bytes / 1e6
    rows = {
        "sentences": f"{options.sentences:,.0f}",
        "worker hours": f"{worker_hours:,.0f}",
        "hours with all workers": f"{worker_hours / options.workers:,.1f}",
        "cost": f"{worker_hours * options.price:,.0f}",
        "input": f"{options.sentences * options.input_bytes / 1e9:,.0f} GB",
        "output": f"{options.sentences * options.output_bytes / 1e9:,.0f} GB",
        "shards": f"{n_shards:,.0f}",
        "seconds per shard": f"{1 / rate:,.1f}",
        "shards done per second": f"{options.workers * rate:,.1f}",
        "memory of all workers": f"{options.workers * options.worker_mb / 1e3:,.0f} GB",
        "memory of the driver": f"{driver:,.0f} MB",
    }
    for name, value in rows.items():
        print(f"{name:24}{value:>16}")


if __name__ == "__main__":
    main()
