"""Compare this version of capsrl with another one, in turn on the same text.

    git worktree add --detach ../old 445f4a5
    python benchmarks/against_old.py ../old [CORPUS] [--every N] [--rounds N]

Each version runs with its own model `en` in processes of its own.

stream      `label_many` of the sentences of a corpus, each as a raw text: with one thread and with
            all cores
one by one  `label`, one sentence after the other, with the model loaded
load        python -c "import capsrl; capsrl.load()"
command     capsrl label "..."
memory      the peak of a process that has labeled the stream

Printed are milliseconds (for a stream: per sentence) of processor time and of wall time, the best
round of each, and how many times as long the other version takes: by the best rounds, then the
least and the most of the rounds, in which both take turns. Processor time is that of all threads;
other work on the machine changes it less than wall time.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from label_worker import WAYS

from capsrl.device import available_cores
from capsrl.formats.formats import read_sentences

HERE = Path(__file__).resolve()
CORPUS = HERE.parents[2] / "shared/data/en_ewt/test.conll09.xz"
EXAMPLE = "Mira sold her old bicycle to the neighbors yesterday."
COMMANDS = {
    "load": ("-c", "import capsrl; capsrl.load()"),
    "command": ("-m", "capsrl", "label", EXAMPLE),
}
Spent = tuple[float, float]  # processor time and wall time in milliseconds
Measure = Callable[[], Spent]


class Worker:
    """A process that labels texts with one version of capsrl; see `label_worker`."""

    def __init__(self, process: "subprocess.Popen[str]", texts: Sequence[str]) -> None:
        self._process, self._n_texts = process, len(texts)
        self.memory = 0.0
        self._send(texts)

    def label(self, way: str) -> Spent:
        """Label all texts; milliseconds for each."""
        self._send(way)
        assert self._process.stdout is not None
        processor, wall, self.memory = json.loads(self._process.stdout.readline())
        return 1000 * processor / self._n_texts, 1000 * wall / self._n_texts

    def _send(self, value: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a checkout of the other version")
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--every", type=int, default=6, help="take every N-th sentence")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    texts = [" ".join(s.words) for s in list(read_sentences(str(options.corpus)))[:: options.every]]
    with tempfile.TemporaryDirectory() as compiled:  # modules are compiled, as pip does
        os.environ["PYTHONPYCACHEPREFIX"] = compiled
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        measure_all(texts, options)


def measure_all(texts: Sequence[str], options: argparse.Namespace) -> None:
    """Print one row after the other."""
    versions = {"old": options.old.resolve(), "new": HERE.parents[1]}
    print(f"{len(texts)} sentences; milliseconds, the best of {options.rounds} rounds")
    print("| | processor: new | old | ratio | wall: new | old | ratio |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    for n_threads in dict.fromkeys((1, available_cores())):
        with ExitStack() as stack:
            workers = {
                name: stack.enter_context(work(folder, texts, n_threads))
                for name, folder in versions.items()
            }
            for way in WAYS if n_threads == 1 else WAYS[:1]:
                name = f"{way}, threads: {n_threads}"
                compare(name, ways_of(workers, way), options.rounds)
            memory = {name: f"{worker.memory:.0f} MB" for name, worker in workers.items()}
        print(f"| memory, threads: {n_threads} | {memory['new']} | {memory['old']} | | | | |")
    for name, arguments in COMMANDS.items():
        ways = {each: command(folder, arguments) for each, folder in versions.items()}
        compare(name, ways, options.rounds)


@contextmanager
def work(folder: Path, texts: Sequence[str], n_threads: int) -> Iterator[Worker]:
    """Start a process that labels, and end it."""
    with subprocess.Popen(
        [sys.executable, str(HERE.with_name("label_worker.py")), str(n_threads)],
        env=environment(folder, n_threads),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Worker(process, texts)


def environment(folder: Path, n_threads: int) -> Mapping[str, str]:
    """In which Python finds the version of capsrl in a folder."""
    return {**os.environ, "PYTHONPATH": str(folder), "OMP_NUM_THREADS": str(n_threads)}


def ways_of(workers: Mapping[str, Worker], way: str) -> dict[str, Measure]:
    """Label with each version."""
    return {name: lambda worker=worker: worker.label(way) for name, worker in workers.items()}  # type: ignore[misc]


def command(folder: Path, arguments: Sequence[str]) -> Measure:
    """Run Python with some arguments."""

    def run() -> Spent:
        before, begin = processor_time(), time.perf_counter()
        subprocess.run(
            [sys.executable, *arguments],
            cwd=folder,  # comes before PYTHONPATH
            env=environment(folder, 1),
            check=True,
            stdout=subprocess.DEVNULL,
        )
        return 1000 * (processor_time() - before), 1000 * (time.perf_counter() - begin)

    return run


def processor_time() -> float:
    """Seconds that the processes which have ended took."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def compare(name: str, ways: Mapping[str, Measure], rounds: int) -> None:
    """Measure the versions in turn, and print one row; the first round does not count."""
    spent: dict[str, list[Spent]] = {each: [] for each in ways}
    for _ in range(rounds + 1):
        for each, measure in ways.items():
            spent[each].append(measure())
    cells = [name]
    for kind in range(2):
        new, old = ([one[kind] for one in spent[each][1:]] for each in ("new", "old"))
        ratios = [b / a for a, b in zip(new, old, strict=True)]
        spread = f"{min(old) / min(new):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        cells += [f"{min(new):.2f}", f"{min(old):.2f}", spread]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
