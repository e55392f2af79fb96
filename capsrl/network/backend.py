"""Run a network with torch: the reference, and the only way on a GPU."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from queue import SimpleQueue

import numpy as np
import torch
from torch import Tensor

from capsrl.errors import ConfigError
from capsrl.network.batches import collate_predicates
from capsrl.network.network import Network, PropositionLogits
from capsrl.predict import Floats, Ids
from capsrl.predict.backend import Backend, EncodedBatch, PropositionScores
from capsrl.predict.indexing import IndexedSentence, with_predicates
from capsrl.predict.inventory import Inventory
from capsrl.sentence import Sentence

# Smaller batches use one thread: several would spend more time synchronizing than computing.
THREADED_WORDS = 256
# Batches that a GPU is given at a time: while it computes one, Python prepares or decodes others.
IN_FLIGHT = 3


class TorchBackend(Backend):
    """A network on a device.

    device  cpu, cuda, cuda:1; default: the GPU if there is one
    """

    runtime = "torch"
    batch_words = 2000
    max_pairs = 8192

    def __init__(self, network: Network, device: str | torch.device | None = None) -> None:
        self.torch_device = find_device(device)
        self.device = str(self.torch_device)
        self.network = network.to(self.torch_device)
        self.has_tagger = network.tagger is not None
        self.marks_predicates = network.mark_predicate
        self._on_gpu = self.torch_device.type == "cuda"
        if self._on_gpu:
            # Small batches take as long as large ones, because starting their kernels does.
            self.batch_words, self.max_pairs, self.chunk_sentences = 16_000, 32_768, 16_384
            self.concurrent = IN_FLIGHT
            # Kept: torch keeps the memory that a stream has used for that stream.
            self._streams = SimpleQueue[torch.cuda.Stream]()
            for _ in range(IN_FLIGHT):
                self._streams.put(torch.cuda.Stream(self.torch_device))  # type: ignore[no-untyped-call]

    @property
    def inventory(self) -> Inventory:  # type: ignore[override]  # tests replace that of a network
        """The roles, senses and words of the network."""
        return self.network.inventory

    def index(self, sentence: Sentence) -> IndexedSentence:
        """As `Backend.index`."""
        return self.network.index(sentence, gold=False)

    @torch.inference_mode()
    def encode(self, items: Sequence[IndexedSentence]) -> EncodedBatch:
        """As `Backend.encode`."""
        network = self.network.eval()
        bare = [with_predicates(item, ()) if item.predicates else item for item in items]
        batch = network.collate(bare, gold=False).to(self.torch_device)
        with self._precision():
            states = network.encode(batch)  # B T H
        states = states.float()
        predicates = network.finder(states).masked_fill(~batch.mask, -torch.inf)
        return EncodedBatch(
            predicates=_floats(predicates),
            tags=None if network.tagger is None else _ids(network.tagger(states).argmax(-1)),
            states=(states, batch.mask),
        )

    @torch.inference_mode()
    def score(
        self,
        encoded: EncodedBatch | None,
        group: Sequence[IndexedSentence],
        numbers: Sequence[int],
        *,
        n_iterations: int | None,
        trace: bool,
    ) -> PropositionScores:
        """As `Backend.score`."""
        network = self.network.eval()
        if self.marks_predicates:
            batch = network.collate(group, gold=False, unmarked=False).to(self.torch_device)
            states, mask, predicates = network.encode(batch), batch.mask, batch.predicates
        else:
            assert encoded is not None
            rows, n_words = torch.tensor(numbers, device=self.torch_device), group[0].n_words
            states, mask = (value[rows, :n_words] for value in encoded.states)
            predicates = collate_predicates(group, self.inventory).to(self.torch_device)
        with self._precision():
            logits = network.score_propositions(states, mask, predicates, n_iterations)
        return to_scores(logits, trace=trace)

    def _precision(self) -> AbstractContextManager[object]:
        """On a GPU products are computed in bfloat16; routing is in floats all the same."""
        return torch.autocast("cuda", torch.bfloat16) if self._on_gpu else nullcontext()

    def prepare(self, n_words: int, threads: int) -> AbstractContextManager[object]:
        """As `Backend.prepare`: a stream of its own on a GPU, a number of threads on a CPU."""
        if self._on_gpu:
            return self._stream()
        return limited_threads(1 if n_words < THREADED_WORDS else threads)

    @contextmanager
    def _stream(self) -> Iterator[None]:
        stream = self._streams.get()
        try:
            # The weights may have been changed just now: training swaps in averaged ones.
            stream.wait_stream(torch.cuda.default_stream(self.torch_device))
            with torch.cuda.stream(stream):
                yield
        finally:
            self._streams.put(stream)


def find_device(name: str | torch.device | None = None) -> torch.device:
    """The device of this name, or the GPU if there is one.

    Raises ConfigError for a device that this machine does not have.
    """
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        device = None
    if device is None or device.type not in ("cpu", "cuda"):
        raise ConfigError(f"device: expected cpu, cuda or cuda:N, got {name}")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        found = torch.cuda.device_count()
        raise ConfigError(f"device: no {name}; this machine has {found} GPUs")
    return device


@contextmanager
def limited_threads(number: int) -> Iterator[None]:
    """Let torch compute with at most this many threads."""
    before = torch.get_num_threads()
    if number >= before:
        yield
        return
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def to_scores(logits: PropositionLogits, *, trace: bool = False) -> PropositionScores:
    """The scores as arrays; those of every iteration only if a trace is asked for."""
    routing, phrases = logits.routing, logits.phrases
    probs, roles = most_probable_class(routing.final)
    return PropositionScores(
        roles=_ids(roles),
        probs=probs.cpu().numpy(),
        role_logits=lambda rows: _floats(routing.final[rows.tolist()]),
        senses=_floats(logits.senses),
        patterns=_floats(logits.patterns),
        firsts=None if phrases is None else _ids(phrases.firsts.argmax(-1)),
        lasts=None if phrases is None else _ids(phrases.lasts.argmax(-1)),
        steps=_stack(routing.logits) if trace else None,
        capsules=_stack(routing.capsules) if trace else None,
        nodes=_stack(routing.nodes) if trace else None,
    )


def most_probable_class(logits: Tensor) -> tuple[Tensor, Tensor]:
    """As `decode.most_probable`, on the device.

    logits  ... classes
    """
    highest, ids = logits.float().max(-1, keepdim=True)
    odds = (logits.float() - highest).exp().scatter(-1, ids, 0.0)
    return 1 / (1 + odds.sum(-1, dtype=torch.float64)), ids.squeeze(-1)


def _stack(steps: Sequence[Tensor]) -> Floats | None:
    return np.stack([_floats(step) for step in steps]) if steps else None


def _floats(values: Tensor) -> Floats:
    array: Floats = values.float().cpu().numpy()
    return array


def _ids(values: Tensor) -> Ids:
    array: Ids = values.cpu().numpy()
    return array
