"""Measure the time of ELMo vectors in training, with and without cached states.

    python benchmarks/elmo.py [--sentences 64] [--words 25]

The model has the size of ELMo "Original" with random weights, and sentences are random: the time
depends on neither. Both are measured in one run on the same batches, forward and backward through
the mix of the layers (the language models are frozen).
"""

import argparse
import random
import string
import time
from collections.abc import Callable

import torch
from torch import Tensor

from capsrl.network.embeddings.elmo import Elmo, Spelling
from capsrl.sentence import Sentence

ORIGINAL = {
    "lstm": {
        "dim": 4096,
        "projection_dim": 512,
        "n_layers": 2,
        "cell_clip": 3,
        "proj_clip": 3,
        "use_skip_connections": True,
    },
    "char_cnn": {
        "embedding": {"dim": 16},
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "max_characters_per_token": 50,
        "activation": "relu",
    },
}


def main() -> None:
    """Measure with and without the cache."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--words", type=int, default=25, help="of a sentence")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    random.seed(1)
    torch.manual_seed(1)
    elmo = Elmo(options=ORIGINAL).to(device)
    for parameter in elmo.layers.parameters():
        torch.nn.init.normal_(parameter, std=0.02)
    sentences = [make_sentence(options.words) for _ in range(options.sentences)]
    uncached = [elmo.index(sentence) for sentence in sentences]
    start = time.perf_counter()
    elmo.cache_states(sentences)
    print(f"{device}, {torch.get_num_threads()} threads, {len(sentences)} x {options.words} words")
    print(f"filling the cache took {time.perf_counter() - start:.2f} s")
    cached = [elmo.index(sentence) for sentence in sentences]
    difference = (
        (vectors(elmo, uncached, device) - vectors(elmo, cached, device)).abs().max().item()
    )
    again = best_time(lambda: vectors(elmo, uncached, device), options.repeat)
    once = best_time(lambda: vectors(elmo, cached, device), options.repeat)
    print(f"uncached  {again:8.4f} s\ncached    {once:8.4f} s ({again / once:.0f}x faster)")
    print(f"largest difference {difference:.0e}")


def make_sentence(n_words: int) -> Sentence:
    """A sentence of random words of one to ten letters."""
    lengths = [random.randint(1, 10) for _ in range(n_words)]
    return Sentence(
        words=tuple("".join(random.choices(string.ascii_lowercase, k=n)) for n in lengths)
    )


def vectors(elmo: Elmo, items: list[Spelling], device: torch.device) -> Tensor:
    """Compute the vectors of a batch and the gradients of the mix."""
    inputs = {name: tensor.to(device) for name, tensor in elmo.collate(items).items()}
    found: Tensor = elmo(inputs)
    found.sum().backward()  # type: ignore[no-untyped-call]
    return found.detach()


def best_time(way: Callable[[], Tensor], repeat: int) -> float:
    """The time of the fastest run."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        way()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


if __name__ == "__main__":
    main()
