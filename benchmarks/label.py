"""How fast the shipped model labels: the whole path against its bare encoder, and starting up.

    python benchmarks/label.py [../shared/data/en_ewt/test.conll09.xz] [--repeat 5]

given       sentences whose words and predicates are known
text        raw text, one text per sentence, its words joined by spaces: split, tagged, predicates
            found, lemmatised, labelled
encoder     the forward pass of the encoder alone, on the very batches of the line it stands in
per pred.   the same encoder as systems use it that mark the predicate by token type: one forward
            pass over a copy of the sentence for each predicate, and nothing else; batches of like
            length and the same size
start       python -c "import capsrl; capsrl.load()" from nothing, and of that `import torch`

The ways take turns, batch after batch, and of every batch each way's fastest run counts: what else
the machine does then falls on none of them. The spread is that of the ratio over the rounds.
Threads that wait for each other make even this useless on a machine that others keep busy; there,
`--threads 1 --cpu` counts the time of the processor instead of that of the clock.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

import capsrl
from capsrl.data.conll09 import read_conll09
from capsrl.data.files import read_lines
from capsrl.labeler import Labeler
from capsrl.model.indexing import IndexedSentence, bucket
from capsrl.model.network import Network
from capsrl.model.torch_backend import TorchBackend
from capsrl.sentence import Sentence

CORPUS = Path(__file__).resolve().parents[2] / "shared/data/en_ewt/test.conll09.xz"
PARTS = ("given", "text", "start")
MARKED = capsrl.Options(predicates="marked")


@dataclass
class Timed:
    """Seconds that some ways took, each over batches x rounds."""

    seconds: dict[str, list[list[float]]] = field(default_factory=dict)

    def best(self, way: str) -> float:
        """The sum over the batches of the fastest round of each."""
        return sum(min(rounds) for rounds in self.seconds[way])

    def ratio(self, way: str, other: str) -> tuple[float, float, float]:
        """How many times as long one way takes as another: by the best, least and most by round."""
        by_round = np.array(self.seconds[way]).sum(0) / np.array(self.seconds[other]).sum(0)
        return self.best(way) / self.best(other), float(by_round.min()), float(by_round.max())


def main() -> None:
    """Print one line for each way, then the ratios with their bars."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("corpus", nargs="?", type=Path, default=CORPUS, help="CoNLL-2009 file")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="what to measure")
    parser.add_argument("--repeat", type=int, default=5, help="rounds")
    parser.add_argument("--every", type=int, default=1, help="take only every so manieth batch")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--cpu", action="store_true", help="processor time, for busy machines")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    source = str(options.corpus)
    sentences = list(read_conll09(read_lines(source), source=source))
    labeler = capsrl.load(runtime="torch")
    kind = "processor" if options.cpu else "clock"
    print(f"torch {torch.__version__}, {options.threads} threads, {kind} time, {source}")
    print(f"{'':10} {'sentences':>9} {'words':>7} {'seconds':>8} {'sent./s':>8} {'words/s':>8}")
    if "given" in options.parts:
        given(labeler, [s for s in sentences if s.predicates], options)
    if "text" in options.parts:
        text(labeler, sentences, options)
    if "start" in options.parts:
        start(options.repeat)


def given(labeler: Labeler, sentences: list[Sentence], options: argparse.Namespace) -> None:
    """Known predicates: the whole path, its encoder, and the encoder once per predicate."""
    network = labeler.network
    items = [network.index(sentence) for sentence in sentences]
    timed, n_sentences, n_words = Timed(), 0, 0
    for members in batches(items)[:: options.every]:
        batch = [sentences[member] for member in members]
        mine = [items[member] for member in members]
        n_sentences, n_words = n_sentences + len(batch), n_words + sum(map(len, batch))
        passes = list(marked_copies(network, mine))
        measure(
            timed,
            {
                "given": lambda batch=batch: list(labeler.label_sentences(batch, options=MARKED)),  # type: ignore[misc]
                "encoder": encoder(network, [network.collate(mine, gold=False).inputs]),
                "per pred.": encoder(network, passes),
            },
            options,
        )
    report(timed, n_sentences, n_words)
    bar("given / encoder", timed.ratio("given", "encoder"), "at most 1.35")
    bar("per pred. / given", timed.ratio("per pred.", "given"), "at least 2")


def text(labeler: Labeler, sentences: list[Sentence], options: argparse.Namespace) -> None:
    """Raw text: the whole path, and the encoder on the batches that path makes."""
    network = labeler.network
    texts = [" ".join(sentence.words) for sentence in sentences]
    items = [network.index(sentence) for sentence in sentences]
    timed, n_sentences, n_words = Timed(), 0, 0
    for members in batches(items)[:: options.every]:
        batch = [texts[member] for member in members]
        found = [sentence for each in labeler.label_many(batch) for sentence in each]
        n_sentences, n_words = n_sentences + len(found), n_words + sum(map(len, found))
        split = [network.index(sentence) for sentence in found]
        inputs = [
            network.collate([split[n] for n in part], gold=False).inputs for part in batches(split)
        ]
        copies = list(marked_copies(network, split))
        measure(
            timed,
            {
                "text": lambda batch=batch: list(labeler.label_many(batch)),  # type: ignore[misc]
                "encoder": encoder(network, inputs),
                "per pred.": encoder(network, copies),
            },
            options,
        )
    report(timed, n_sentences, n_words)
    bar("text / encoder", timed.ratio("text", "encoder"), "at most 1.5")
    bar("per pred. / text", timed.ratio("per pred.", "text"), "at least 2")


def start(repeat: int) -> None:
    """Starting up from nothing."""
    for code, limit in (("import torch", ""), ("import capsrl; capsrl.load()", "under 2 s")):
        seconds = []
        for _ in range(repeat):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            seconds.append(time.perf_counter() - begin)
        spread = f"{min(seconds):.2f} to {max(seconds):.2f} s"
        print(f"{code}: {spread}{limit and f'   (bar: {limit})'}")


def batches(items: Sequence[IndexedSentence]) -> list[list[int]]:
    """Groups of sentences as the labeler makes them."""
    return bucket([item.length for item in items], batch_words=TorchBackend.batch_words, seed=None)


Inputs = Mapping[str, dict[str, torch.Tensor]]


def marked_copies(network: Network, items: Sequence[IndexedSentence]) -> Iterator[Inputs]:
    """The sentences once for each predicate, it having token type 1, in batches of like length."""
    copies = [(item, position) for item in items for position in item.predicates]
    for members in batches([item for item, _ in copies]):
        words = [copies[member][0].source_items for member in members]
        yield network.vectors.collate(words, marked=[copies[member][1] for member in members])


def encoder(network: Network, inputs: Sequence[Inputs]) -> Callable[[], object]:
    """The forward pass of the encoder over some batches."""

    @torch.inference_mode()
    def way() -> None:
        for each in inputs:
            network.vectors(each)

    return way


def measure(
    timed: Timed, ways: dict[str, Callable[[], object]], options: argparse.Namespace
) -> None:
    """Time some ways on one batch, taking turns."""
    clock = time.process_time if options.cpu else time.perf_counter
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.repeat):
        for name, way in ways.items():
            begin = clock()
            way()
            seconds[name].append(clock() - begin)
    for name, rounds in seconds.items():
        timed.seconds.setdefault(name, []).append(rounds)


def report(timed: Timed, n_sentences: int, n_words: int) -> None:
    """Print one line for each way."""
    for way in timed.seconds:
        seconds = timed.best(way)
        print(
            f"{way:10} {n_sentences:9,} {n_words:7,} {seconds:8.2f} "
            f"{n_sentences / seconds:8.1f} {n_words / seconds:8.0f}"
        )


def bar(name: str, ratio: tuple[float, float, float], limit: str) -> None:
    """Print a ratio beside what it should be."""
    best, least, most = ratio
    print(f"  {name} = {best:.2f} (rounds: {least:.2f} to {most:.2f}; bar: {limit})")


if __name__ == "__main__":
    main()
