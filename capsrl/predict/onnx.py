"""Run an exported model with onnxruntime, without torch.

Sentences are encoded one by one: nothing is padded, and the ranges of 8-bit values are those of the
sentence, so that it gets the same states alone and in any batch.
"""

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Before it is imported: else onnxruntime reports its use to Microsoft (see its Privacy.md).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from onnxruntime import InferenceSession, SessionOptions

from capsrl.errors import ModelError
from capsrl.predict import Floats
from capsrl.predict.backend import Backend, EncodedBatch, PropositionScores
from capsrl.predict.decode import most_probable
from capsrl.predict.folder import (
    PROPOSITIONS,
    SENTENCES,
    TRACED,
    TRANSFORMER,
    check_file,
    digest_of,
    find_stored,
    unsigned,
)
from capsrl.predict.indexing import IndexedSentence, predicate_arrays
from capsrl.predict.inventory import Inventory
from capsrl.predict.subwords import SubwordReader, read_encoder_config
from capsrl.sentence import Sentence

_SLOW = ["SkipLayerNormFusion"]  # a sum and a norm take a quarter of the time of the fused node


class OnnxBackend(Backend):
    """The graphs of a model folder, on the CPU.

    n_iterations  of routing, that of the model
    """

    runtime = "onnx"
    device = "cpu"
    marks_predicates = False
    batch_words = 500
    max_pairs = 1000
    concurrent = None

    def __init__(self, folder: Path, inventory: Inventory, *, n_iterations: int) -> None:
        self.inventory = inventory
        self._n_iterations = n_iterations
        self._folder, self._weights = folder, digest_of(find_stored(folder))
        self._sentences = _open(folder / SENTENCES, self._weights)
        self._is_exact = _is_exact(self._sentences)
        if not self._is_exact:
            self._sentences = self._open(SENTENCES)
        self.has_tagger = "tags" in _outputs(self._sentences)
        self._names = ["states", "predicates", *(["tags"] if self.has_tagger else [])]
        self._propositions = self._open(PROPOSITIONS)
        if "roles" not in _outputs(self._propositions):
            raise ModelError(f"{folder / PROPOSITIONS}: not a graph of propositions")
        transformer = folder / TRANSFORMER
        self._reader = SubwordReader(transformer, read_encoder_config(transformer))

    @cached_property
    def _traced(self) -> InferenceSession:
        """The graph that any number of iterations and traces need; others are faster."""
        return self._open(TRACED)

    def _open(self, graph: str) -> InferenceSession:
        """A graph, or the one that computes the same on processors without VNNI."""
        name = graph if self._is_exact else unsigned(graph)
        return _open(self._folder / name, self._weights)

    def index(self, sentence: Sentence) -> IndexedSentence:
        """As `Backend.index`."""
        subwords, n_words = self._reader.read(sentence), len(sentence)
        length = max(n_words, len(subwords.ids))
        return IndexedSentence(n_words, length, {TRANSFORMER: subwords}, sentence.predicates)

    def encode(self, items: Sequence[IndexedSentence]) -> EncodedBatch:
        """As `Backend.encode`."""
        results = [self._encode(item) for item in items]
        shape = (len(items), max(item.n_words for item in items))
        predicates = np.full(shape, -np.inf, np.float32)
        tags = np.zeros(shape, np.int64) if self.has_tagger else None
        for row, (_, logits, *found) in enumerate(results):
            predicates[row, : len(logits)] = logits
            if tags is not None:
                tags[row, : len(logits)] = found[0]
        return EncodedBatch(predicates, tags, [states for states, *_ in results])

    def _encode(self, item: IndexedSentence) -> list[Floats]:
        subwords, words = self._reader.windows(item.source_items[TRANSFORMER])
        feed = {"subwords": subwords, "words": words}
        return _run(self._sentences, self._names, feed)

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
        assert encoded is not None
        arrays = predicate_arrays(group, self.inventory)
        counts = [item.n_words for item in group]
        lengths = np.array(counts)[arrays["rows"]]  # P
        starts = np.cumsum([0, *counts[:-1]])[arrays["rows"]]
        # Padding refers to the last word of the batch, or another: it has no influence.
        words = np.minimum(starts[:, None] + np.arange(counts[0]), sum(counts) - 1)  # P T
        values = {
            **arrays,
            "states": np.concatenate([encoded.states[number] for number in numbers]),
            "words": words,
            "lengths": lengths,
            "n_iterations": np.array(n_iterations or self._n_iterations),
        }
        is_usual = not trace and n_iterations in (None, self._n_iterations)
        session = self._propositions if is_usual else self._traced
        feed = {given.name: values[given.name] for given in session.get_inputs()}
        found = dict(zip(_outputs(session), _run(session, None, feed), strict=True))
        if not is_usual:
            found["steps"] = _with_start(found["roles"], found.get("steps"))
        logits = found.pop("roles")
        probs, roles = most_probable(logits)
        return PropositionScores(
            roles=roles, probs=probs, role_logits=lambda rows: logits[rows], **found
        )


def _with_start(final: Floats, steps: Floats | None) -> Floats:
    """All logits of a trace: zeros before the first iteration, or only the final ones."""
    if steps is None:  # a variant without iterations
        return final[None]
    return np.concatenate([np.zeros_like(final)[None], steps])


def _run(
    session: InferenceSession, names: list[str] | None, feed: dict[str, NDArray[Any]]
) -> list[Any]:
    try:
        outputs: list[Any] = session.run(names, feed)
    except Exception as error:  # onnxruntime raises nothing narrower
        reason = " ".join(str(error).split())
        raise ModelError(f"the files of the model do not fit together: {reason:.200}") from None
    return outputs


def _outputs(session: InferenceSession) -> list[str]:
    return [output.name for output in session.get_outputs()]


def _is_exact(session: InferenceSession) -> bool:
    """Whether this processor multiplies the 8-bit weights of the graph exactly."""
    if "exact" not in _outputs(session):
        return True  # in floats
    word = {"subwords": np.zeros((1, 1), np.int64), "words": np.zeros(1, np.int64)}
    (exact,) = _run(session, ["exact"], word)
    return bool(exact)


def _open(file: Path, weights: str) -> InferenceSession:
    """Load a graph; raises ModelError unless it was made for the weights with this digest.

    A graph finds the weights by their offsets in the files: in others it would read anything.
    """
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Sentences of all lengths: memory planned for one is of no use for the next.
    options.enable_mem_pattern = options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    check_file(file)
    try:
        session = InferenceSession(
            str(file), options, ["CPUExecutionProvider"], disabled_optimizers=_SLOW
        )
        reason = "it has others"
    except Exception as error:  # onnxruntime raises nothing narrower
        session, reason = None, " ".join(str(error).split())
    if session is None or session.get_modelmeta().custom_metadata_map.get("weights") != weights:
        raise ModelError(
            f"{file}: not a graph of the weights in this folder ({reason:.200}); "
            f"export it again: capsrl export {file.parent}"
        )
    return session
