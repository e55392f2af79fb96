"""How fast the shipped model labels on a GPU, from words to propositions, in one process.

    python benchmarks/gpu.py [../shared/data/en_ewt/test.conll09.xz] [--repeat 3] [--copies 16]

float     32-bit floats, one batch of 2,000 words after the other, as on a CPU
default   bfloat16, large batches, several at a time
raw text  the words of each sentence joined by spaces, in several processes that share the GPU;
          start `nvidia-cuda-mps-control -d` before, or they take turns on it

The first two ways take turns. F1 of both is that of the official scorer on the same file,
predicates marked.
"""

import argparse
import multiprocessing
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path

import torch

import capsrl
from capsrl.files.opening import read_lines
from capsrl.formats.conll09 import read_conll09
from capsrl.labeler import Labeler
from capsrl.network.backend import TorchBackend
from capsrl.score import score
from capsrl.sentence import Sentence

CORPUS = Path(__file__).resolve().parents[2] / "shared/data/en_ewt/test.conll09.xz"


class FloatBackend(TorchBackend):
    """The backend as it is on a CPU, on a GPU."""

    def __init__(self, other: TorchBackend) -> None:
        super().__init__(other.network, other.torch_device)
        self.batch_words, self.max_pairs, self.chunk_sentences = 2000, 8192, 2048
        self.concurrent = 1
        self._on_gpu = False


def main() -> None:
    """Print sentences per second and F1 of both ways."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="CoNLL-2009 file")
    parser.add_argument("--model", default="en")
    parser.add_argument("--repeat", type=int, default=3, help="rounds")
    parser.add_argument("--copies", type=int, default=16, help="how often the file is labeled")
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 4, 8, 14])
    options = parser.parse_args()
    source = str(options.corpus)
    gold = list(read_conll09(read_lines(source), source=source))
    default = capsrl.load(options.model, device="cuda", runtime="torch")
    assert isinstance(default.backend, TorchBackend)
    slow = Labeler(FloatBackend(default.backend), default.config, calibration=default.calibration)
    ways = {"float": slow, "default": default}
    words = [Sentence(sentence.words) for sentence in gold]
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {source}")
    for name, labeler in ways.items():
        answers = list(labeler.label_sentences(gold, predicates="marked"))
        print(f"{name:8} F1 {score(gold, answers).labeled_f1:.2f}")
    print(f"{'':8} {'sentences/s':>12}, one column for each round")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.repeat):
        for name, labeler in ways.items():
            begin = time.perf_counter()
            n_sentences = sum(1 for _ in labeler.label_sentences(words * options.copies))
            seconds[name].append(time.perf_counter() - begin)
    for name, rounds in seconds.items():
        print(f"{name:8} " + " ".join(f"{n_sentences / each:12,.0f}" for each in rounds))
    print(f"GPU memory: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB at most")
    texts = [" ".join(sentence.words) for sentence in gold] * options.copies
    for number in options.processes:
        rate = share(options.model, texts, number)
        print(f"raw text, {number:2} processes: {rate:,.0f} sentences/s in all")


def share(model: str, texts: list[str], number: int) -> float:
    """Sentences per second of several processes that all label these texts on one GPU."""
    context = multiprocessing.get_context("spawn")
    start, done = context.Barrier(number + 1), context.Queue()
    arguments = (model, texts, start, done)
    processes = [context.Process(target=label_texts, args=arguments) for _ in range(number)]
    for process in processes:
        process.start()
    start.wait()
    begin = time.perf_counter()
    n_sentences: int = sum(done.get() for _ in processes)
    seconds = time.perf_counter() - begin
    for process in processes:
        process.join()
    return n_sentences / seconds


def label_texts(model: str, texts: list[str], start: Barrier, done: "Queue[int]") -> None:
    """Load the model, wait for the other processes, label."""
    labeler = capsrl.load(model, device="cuda", runtime="torch")
    list(labeler.label_many(texts[:200]))
    start.wait()
    done.put(sum(len(sentences) for sentences in labeler.label_many(texts)))


if __name__ == "__main__":
    main()
