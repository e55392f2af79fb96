"""Measure time and memory of a training step of the recipes after the paper.

    python benchmarks/paper_steps.py [recipes/paper-english.toml] [--set KEY=VALUE ...]

Random sentences, as many and as long as a batch of CoNLL-2009 English has on average, with learned
vectors of ELMo's width in place of its cached states: neither changes the time. On a CPU the time
is that of the processor, so other programs do not disturb it; memory is the peak of the process.
"""

import argparse
import random
import resource
import time

import torch

from capsrl.network.build import make_network
from capsrl.predict.inventory import build_inventory
from capsrl.recipe import read_recipe
from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.train.processes import Processes
from capsrl.train.trainer import make_trainer

N_SENTENCES, N_WORDS, N_PREDICATES, N_ROLES = 32, 25, 4, 53
VECTORS = ["elmo=", "fasttext=", "tags=", "learned=1024"]


def main() -> None:
    """Train on one batch several times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipe", nargs="?", default="recipes/paper-english.toml")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    vectors = [f"model.embeddings.{each}" for each in VECTORS]
    recipe = read_recipe(options.recipe, [*vectors, "train.cache_states=", *options.set])
    random.seed(1)
    sentences = [make_sentence() for _ in range(N_SENTENCES)]
    processes = Processes()
    network = make_network(recipe.model, build_inventory(sentences)).to(processes.device)
    trainer = make_trainer(recipe, network, processes)
    batch = network.collate([network.index(sentence) for sentence in sentences])
    on_gpu = processes.device.type == "cuda"
    clock = time.perf_counter if on_gpu else time.process_time
    times = []
    for number in range(1, options.repeat + 1):
        start = clock()
        trainer.train_on(batch, 1.0, number)
        if on_gpu:
            torch.cuda.synchronize()
        times.append(clock() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if on_gpu:
        peak = torch.cuda.max_memory_allocated()
    n_weights = sum(weight.numel() for weight in network.parameters())
    print(f"{processes.device}, {torch.get_num_threads()} threads, {n_weights / 1e6:.1f} M weights")
    print(f"{min(times):.3f} s a step, {peak / 1e9:.2f} GB")


def make_sentence() -> Sentence:
    """A sentence of random words, with predicates that have three arguments each."""
    words = tuple(f"word{random.randrange(500)}" for _ in range(N_WORDS))
    propositions = []
    for position in sorted(random.sample(range(N_WORDS), N_PREDICATES)):
        places = sorted(random.sample(range(N_WORDS), 3))
        arguments = (Argument(f"A{random.randrange(N_ROLES - 1)}", place) for place in places)
        propositions.append(Proposition(position, f"{words[position]}.01", tuple(arguments)))
    return Sentence(words=words, lemmas=words, propositions=tuple(propositions))


if __name__ == "__main__":
    main()
