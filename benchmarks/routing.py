"""Measure peak memory and time of routing, forward and backward: implicit against literal.

    python benchmarks/routing.py [--propositions 64] [--words 60] [--roles 57] [--size 16]

The literal form builds every word capsule (P x T x R x D numbers) as the paper's equations are
printed; it is the oracle of the tests. The implicit form never builds them. Both start from the
same words and parameters and compute the same result. The memory allocated beyond those, between
the first product and the last gradient, is counted. It should be a quarter at most, which the
factored form achieves when training routes in three chunks (`model.capsules.routing_chunks = 3`).
In the dense form both need most memory for what they share: the forms (P x R x D x M, larger than
the word capsules when sentences are shorter than M) and the gradient of R x D x M x M parameters.
"""

import argparse
import importlib.util
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.routing import Routing, route_predicates

LITERAL = Path(__file__).resolve().parent.parent / "tests" / "helpers" / "literal.py"


def main() -> None:
    """Measure both forms of both kinds of parameters."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--propositions", type=int, default=64)
    parser.add_argument("--words", type=int, default=60)
    parser.add_argument("--roles", type=int, default=57)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--iterations", type=int, default=2)
    parser.add_argument("--chunks", type=int, default=3, help="as model.capsules.routing_chunks")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print(
        f"{options.propositions} propositions x {options.words} words x {options.roles} roles x "
        f"{options.size}, {options.iterations} iterations, forward and backward, {device}, "
        f"{torch.get_num_threads()} threads"
    )
    for form, rank in (("factored", 256), ("dense", 128)):
        measure(form, rank, options, device)


def measure(form: str, rank: int, options: argparse.Namespace, device: torch.device) -> None:
    """Print memory, time and difference of the two implementations for one form of parameters."""
    literal = _load(LITERAL)
    torch.manual_seed(1)
    n_predicates, n_words = options.propositions, options.words
    layer = WordCapsuleLayer(
        word_width=rank,
        predicate_width=rank,
        n_roles=options.roles,
        size=options.size,
        rank=rank,
        form=form,
    ).to(device)
    routing = Routing(
        variant="capsule+global",
        n_roles=options.roles,
        size=options.size,
        global_from="intermediate",
    ).to(device)
    words = torch.randn(n_predicates, n_words, rank, device=device, requires_grad=True)
    predicates = torch.randn(n_predicates, rank, device=device, requires_grad=True)
    mask = torch.arange(n_words) < torch.randint(n_words // 2, n_words + 1, (n_predicates, 1))
    mask = mask.to(device)

    def implicit(chunks: int) -> Tensor:
        return route_predicates(
            layer, routing, words, predicates, mask, n_iterations=options.iterations, chunks=chunks
        ).final

    def literally() -> Tensor:
        u = literal.word_capsules(layer, words, predicates)
        logits, _, _ = literal.route(u, mask, routing, n_iterations=options.iterations)
        final: Tensor = logits[-1]
        return final

    leaves = [words, predicates, *layer.parameters(), *routing.parameters()]
    for leaf in leaves:
        leaf.grad = torch.zeros_like(leaf)  # allocated before, so not counted
    ways: dict[str, Callable[[], Tensor]] = {"literal": literally}
    # Chunks are of no use in the dense form (see `route_predicates`).
    for chunks in (1, options.chunks) if form == "factored" else (1,):
        ways[f"implicit, {chunks} chunk{'s' * (chunks > 1)}"] = partial(implicit, chunks)
    print(f"{form}, rank {rank}")
    memory = seconds = 0.0
    for name, way in ways.items():
        mib, ms = peak_bytes(way, device) / 2**20, best_time(way, options.repeat, device) * 1000
        memory, seconds = memory or mib, seconds or ms
        difference = (way() - literally()).abs().max().item()
        print(f"  {name:18} {mib:7.1f} MiB ({mib / memory:4.0%} of literal)   ", end="")
        print(f"{ms:7.1f} ms ({ms / seconds:4.0%})   largest difference {difference:.0e}")


def peak_bytes(way: Callable[[], Tensor], device: torch.device) -> int:
    """Peak memory of forward and backward, beyond what was allocated before."""
    _step(way)  # warm-up: workspaces that libraries allocate once
    if device.type == "cuda":
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        _step(way)
        return torch.cuda.max_memory_allocated() - before
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        _step(way)
    results = profiler.profiler.kineto_results
    changes = [event for event in results.events() if event.name() == "[memory]"]
    held = peak = 0
    for event in sorted(changes, key=lambda event: event.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def best_time(way: Callable[[], Tensor], repeat: int, device: torch.device) -> float:
    """The time of the fastest run."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        _step(way)
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def _step(way: Callable[[], Tensor]) -> None:
    way().square().mean().backward()  # type: ignore[no-untyped-call]


def _load(path: Path) -> ModuleType:
    """Import a file of the tests, which are not installed."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
