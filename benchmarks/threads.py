"""Measure what more threads gain: `label_many` with one, two and four of them, in turn.

    python benchmarks/threads.py CORPUS [--every 8] [--rounds 7]

The sentences of the corpus are labeled as raw text. For a machine with a CPU quota, run this in a
control group: `systemd-run --scope -p CPUQuota=50% python benchmarks/threads.py ...`, or a
container.
"""

import argparse
import time

import capsrl
from capsrl.device import available_cores, default_threads
from capsrl.formats.formats import read_sentences

THREADS = (1, 2, 4)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("--every", type=int, default=8, help="take every N-th sentence")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    texts = [" ".join(s.words) for s in list(read_sentences(options.corpus))[:: options.every]]
    labelers = {n: capsrl.load(device="cpu", threads=n) for n in THREADS}
    rounds = [
        {n: measure(labeler, texts) for n, labeler in labelers.items()}
        for _ in range(options.rounds)
    ]
    print(f"{available_cores()} cores for this process, {default_threads()} threads by default")
    print(f"{len(texts)} sentences; seconds, the best of {options.rounds} rounds")
    for n in THREADS:
        wall, processor = (min(times[n][k] for times in rounds) for k in (0, 1))
        print(f"{n} threads: wall {wall:.2f}, processor {processor:.2f}")


def measure(labeler: capsrl.Labeler, texts: list[str]) -> tuple[float, float]:
    """Seconds of wall time and of processor time for labeling these texts."""
    wall, processor = time.perf_counter(), time.process_time()
    for _ in labeler.label_many(texts):
        pass
    return time.perf_counter() - wall, time.process_time() - processor


if __name__ == "__main__":
    main()
