"""What runs a network: the interface that torch and onnxruntime share.

Everything around it (finding predicates, lemmas, senses, decoding) is the same for both, in numpy.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from capsrl.predict import Floats, Ids
from capsrl.predict.indexing import IndexedSentence
from capsrl.predict.inventory import Inventory
from capsrl.sentence import Sentence


@dataclass(frozen=True)
class EncodedBatch:
    """What a network makes of the sentences of a batch before it looks at their predicates.

    predicates  B T  logits: above 0 for a predicate, -inf at padding
    tags        B T  ids of parts of speech, None without a tagger
    states      the hidden states of the words, for `Backend.score`
    """

    predicates: Floats
    tags: Ids | None
    states: Any


@dataclass(frozen=True)
class PropositionScores:
    """The scores of the propositions of some predicates, one row each; words are padded to T.

    roles     P T         ids of the most probable roles after the last iteration
    probs     P T         their probabilities, in double precision
    role_logits           rows -> rows T R, the logits of all roles of some predicates, which only
                          few need: those of a GPU stay there
    senses    P C         logits of the candidates of each lemma
    patterns  P K         logits for lemmas that training did not have
    firsts    P T         first word of the phrase of each word; None without a phrase scorer
    lasts     P T         last word
    steps     N+1 P T R   logits before the first and after each iteration, if a trace is asked for
    capsules  N P R D     with a trace, if the variant has them; else None
    nodes     N P D       likewise
    """

    roles: Ids
    probs: NDArray[np.float64]
    role_logits: Callable[[Ids], Floats]
    senses: Floats
    patterns: Floats
    firsts: Ids | None = None
    lasts: Ids | None = None
    steps: Floats | None = None
    capsules: Floats | None = None
    nodes: Floats | None = None


class Backend(ABC):
    """Runs a network on sentences.

    runtime           onnx or torch
    device            cpu, or a GPU: cuda:0
    has_tagger        the network predicts parts of speech
    marks_predicates  the network encodes a sentence once per predicate, in `score`
    batch_words       words of a batch, padding counted
    max_pairs         pairs of a predicate and a word that `score` takes at a time
    chunk_sentences   sentences that are read ahead and sorted by length into batches
    concurrent        batches labeled at the same time; None for one per thread of the labeler
    """

    inventory: Inventory
    runtime: str
    device: str
    has_tagger: bool
    marks_predicates: bool
    batch_words: int
    max_pairs: int
    chunk_sentences: int = 2048
    concurrent: int | None = 1

    @abstractmethod
    def index(self, sentence: Sentence) -> IndexedSentence:
        """The sentence as numbers, with the positions of the predicates it marks."""

    @abstractmethod
    def encode(self, items: Sequence[IndexedSentence]) -> EncodedBatch:
        """Encode the words of the sentences of a batch."""

    @abstractmethod
    def score(
        self,
        encoded: EncodedBatch | None,
        group: Sequence[IndexedSentence],
        numbers: Sequence[int],
        *,
        n_iterations: int | None,
        trace: bool,
    ) -> PropositionScores:
        """Score the predicates of some sentences.

        encoded       the batch; None if predicates are marked
        group         the sentences with their predicates, the longest first
        numbers       their rows in the batch
        n_iterations  of routing; None for the number set by the model
        trace         also give the scores of every iteration
        """

    def prepare(self, n_words: int, threads: int) -> AbstractContextManager[object]:
        """A context in which the calling thread labels a batch of this size.

        threads  maximum number of CPU threads
        """
        return nullcontext()
