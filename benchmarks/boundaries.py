"""How many phrases have both boundaries right where the head of the argument is given.

    python benchmarks/boundaries.py GOLD.conll09 [MODEL]

GOLD has a phrase file beside it (capsrl/formats/phrase_file.py). The model scores the phrase of
every word for every gold predicate, so the phrases at all gold heads are compared, whatever roles
it finds.
"""

import sys
from pathlib import Path

import torch

from capsrl.formats.formats import read_sentences
from capsrl.formats.phrase_file import phrase_file_of
from capsrl.models import shipped_models
from capsrl.network.network import Network
from capsrl.network.save import load_network
from capsrl.predict.indexing import IGNORED, bucket
from capsrl.sentence import Sentence


@torch.inference_mode()
def count_boundaries(network: Network, sentences: list[Sentence]) -> tuple[int, int]:
    """The number of gold phrases whose first and last word the network finds, and of all."""
    items = [network.index(sentence) for sentence in sentences]
    n_right = n_gold = 0
    for numbers in bucket([item.length for item in items], batch_words=3000, seed=None):
        batch = network.collate([items[number] for number in numbers])
        spans, gold = network(batch).propositions.spans, batch.gold
        assert spans is not None and gold is not None, "expected a model that predicts phrases"
        right = (spans.firsts.argmax(-1) == gold.firsts) & (spans.lasts.argmax(-1) == gold.lasts)
        known = gold.firsts != IGNORED
        n_right += int((right & known).sum())
        n_gold += int(known.sum())
    return n_right, n_gold


def main(path: str, model: str = "en") -> None:
    """Print the share of one file."""
    network, _ = load_network(shipped_models().get(model, Path(model)))
    read = read_sentences(path, phrases=phrase_file_of(path))
    right, gold = count_boundaries(network.eval(), [each for each in read if each.predicates])
    print(f"{right} of {gold} phrases have both boundaries right: {100 * right / gold:.2f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
