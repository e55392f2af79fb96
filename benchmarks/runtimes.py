"""Compare what runs a model: onnxruntime and torch, by processor time, in turn on the same text.

    python benchmarks/runtimes.py CORPUS [MODEL] [--every N] [--rounds N] [--threads N]

stream      `label_many` of the sentences of the corpus as raw text
one by one  `label`, one sentence after the other
start       `capsrl.load(MODEL)` in a process of its own
same        how many sentences get the same propositions from both

Processor time is that of all threads, so other work on the machine matters less than for wall time.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import capsrl
from capsrl.formats.formats import read_sentences
from capsrl.sentence import Sentence

START = "import sys, capsrl; capsrl.load(sys.argv[1], device='cpu', runtime=sys.argv[2])"
RUNTIMES = ("onnx", "torch")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("corpus")
    parser.add_argument("model", nargs="?", default="en")
    parser.add_argument("--every", type=int, default=3, help="take every N-th sentence")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    texts = [" ".join(s.words) for s in list(read_sentences(options.corpus))[:: options.every]]
    labelers = {
        runtime: capsrl.load(options.model, device="cpu", threads=options.threads, runtime=runtime)
        for runtime in RUNTIMES
    }
    answers: dict[str, list[Sentence]] = {}

    def stream(runtime: str) -> int:
        answers[runtime] = [s for text in labelers[runtime].label_many(texts) for s in text]
        return len(answers[runtime])

    def one_by_one(runtime: str) -> int:
        return sum(len(labelers[runtime].label(text)) for text in texts[::10])

    def start(runtime: str) -> int:
        subprocess.run([sys.executable, "-c", START, options.model, runtime], check=True)
        return 1

    print(f"{len(texts)} sentences; milliseconds of processor time, the best of {options.rounds}")
    for name, measured in (("stream", stream), ("one by one", one_by_one), ("start", start)):
        best = [measure(measured, runtime, options.rounds) for runtime in RUNTIMES]
        shown = ", ".join(f"{r} {t:.2f}" for r, t in zip(RUNTIMES, best, strict=True))
        print(f"{name:10}  {shown}; torch / onnx {best[1] / best[0]:.2f}")
    same = sum(map(is_same, *(answers[runtime] for runtime in RUNTIMES)))
    print(f"same        {same} of {len(answers['onnx'])} sentences")


def measure(function: Callable[[str], int], runtime: str, rounds: int) -> float:
    """Milliseconds of processor time for each of the items that a function says it processed."""
    times = []
    for _ in range(rounds):
        before = processor_time()
        n_items = function(runtime)
        times.append((processor_time() - before) / n_items)
    return 1000 * min(times)


def processor_time() -> float:
    """Seconds that this process and those it started have computed."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def is_same(left: Sentence, right: Sentence) -> bool:
    """Whether predicates, senses, roles and arguments are the same."""
    return facts(left) == facts(right)


def facts(sentence: Sentence) -> Sequence[object]:
    """The propositions without probabilities."""
    return [
        (p.predicate, p.sense, [(a.role, a.word, a.phrase) for a in p.arguments])
        for p in sentence.propositions
    ]


if __name__ == "__main__":
    main()
