"""The whole network, from sentences to the logits of their propositions."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from capsrl.network.batches import Batch, Predicates, collate
from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.embeddings.source import WordVectors
from capsrl.network.encoder import BiLSTM, PredicateLayer, variational_dropout
from capsrl.network.phrases import PhraseLogits, PhraseScorer
from capsrl.network.predicates import PredicateFinder, SenseScorer, Tagger
from capsrl.network.role_frames import RoleFrames
from capsrl.network.routing import Routing, RoutingResult, route_predicates
from capsrl.predict.indexing import IndexedSentence, index_sentence
from capsrl.predict.inventory import Inventory
from capsrl.sentence import Sentence


@dataclass(frozen=True)
class PropositionLogits:
    """The scores of the propositions of a batch, one row per predicate.

    routing   P T R  after each iteration
    senses    P C    over the candidates of each lemma
    patterns  P K    for lemmas that training did not have
    phrases   P T T  first and last words of phrases; None for a network without phrase scorer
    """

    routing: RoutingResult
    senses: Tensor
    patterns: Tensor
    phrases: PhraseLogits | None = None


@dataclass(frozen=True)
class Output:
    """Everything the loss needs.

    predicate_logits  B T  above 0: a predicate
    tag_logits        B T tags, None without a tagger
    """

    predicate_logits: Tensor
    propositions: PropositionLogits
    tag_logits: Tensor | None


class Network(nn.Module):
    """Word vectors, encoder, predicates and senses, capsules, routing, made by `make_network`.

    mark_predicate  encode a sentence once for each of its predicates, with that predicate marked
    by_vector       predicates are represented by their word vectors (eq. 2), else by their states

    The names of the modules are keys in saved weights.
    """

    def __init__(
        self,
        *,
        inventory: Inventory,
        vectors: WordVectors,
        vector_dropout: float,
        encoder: BiLSTM,
        predicate_layer: PredicateLayer | None,
        finder: PredicateFinder,
        senses: SenseScorer,
        by_vector: bool,
        capsules: WordCapsuleLayer,
        routing: Routing,
        tagger: Tagger | None,
        spans: PhraseScorer | None,
        frames: RoleFrames | None,
        capsule_dropout: float,
        n_iterations: int,
        routing_chunks: int,
        mark_predicate: bool,
    ) -> None:
        super().__init__()
        self.inventory = inventory
        self.vectors = vectors
        self.vector_dropout = vector_dropout
        self.encoder = encoder
        self.predicate_layer = predicate_layer
        self.finder = finder
        self.senses = senses
        self.by_vector = by_vector
        self.forms = capsules  # its key in saved weights
        self.routing = routing
        self.tagger = tagger
        self.spans = spans  # its key in saved weights
        self.frames = frames
        self.capsule_dropout = capsule_dropout
        self.n_iterations = n_iterations
        self.routing_chunks = routing_chunks
        self.mark_predicate = mark_predicate

    def index(
        self, sentence: Sentence, *, gold: bool = True, partial: bool = False
    ) -> IndexedSentence:
        """The sentence as numbers; see `indexing.index_sentence`."""
        return index_sentence(sentence, self.vectors, self.inventory, gold=gold, partial=partial)

    def collate(
        self, items: Sequence[IndexedSentence], *, gold: bool = True, unmarked: bool = True
    ) -> Batch:
        """Some sentences as one batch on the CPU; see `batches.collate`."""
        return collate(
            items,
            self.vectors,
            self.inventory,
            mark_predicate=self.mark_predicate,
            gold=gold,
            unmarked=unmarked,
        )

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every fine-tuned pretrained parameter by name, for layer-wise learning rates."""
        return {f"vectors.{name}": n for name, n in self.vectors.parameter_layers().items()}

    def forward(self, batch: Batch, n_iterations: int | None = None) -> Output:
        """Score predicates, propositions and tags from one encoding of the words.

        Used in training only: in labeling `TorchBackend` calls `encode` and `score_propositions`
        separately, because predicates are found in between.
        """
        states = self.encode(batch)
        unmarked = states[: batch.n_unmarked]
        return Output(
            predicate_logits=self.finder(unmarked),
            propositions=self.score_propositions(
                states, batch.mask, batch.predicates, n_iterations
            ),
            tag_logits=None if self.tagger is None else self.tagger(unmarked),
        )

    def encode(self, batch: Batch) -> Tensor:
        """Hidden states of the words in context.

        ->  B T H, or B T H+E with the word vectors after them if they represent predicates
        """
        vectors = self.vectors(batch.inputs)  # B T E
        vectors = variational_dropout(vectors, self.vector_dropout, training=self.training)
        states: Tensor = self.encoder(vectors, batch.mask)
        return torch.cat([states, vectors], -1) if self.by_vector else states

    def score_propositions(
        self, states: Tensor, mask: Tensor, predicates: Predicates, n_iterations: int | None = None
    ) -> PropositionLogits:
        """Score the senses of each predicate and the roles of the words of its sentence.

        states        B T H  by `encode`
        mask          B T    True at words
        n_iterations  of routing; None for the number set by the model
        """
        rows, positions = predicates.rows, predicates.positions
        # Without by_vector no word vectors follow the states: P 0.
        states, vectors = states.tensor_split([self.encoder.width], -1)
        predicate_states = states[rows, positions]  # P H
        mask = mask[rows]  # P T
        views = None
        if self.predicate_layer is not None:
            views = self.predicate_layer(states, mask, rows, positions).float()  # P T H'
        # Routing sums many small terms, and the first iteration spreads a word over all roles:
        # bf16 has too few digits for that, and the products here are small.
        with torch.autocast(states.device.type, enabled=False):
            states, predicate_states = states.float(), predicate_states.float()
            senses, patterns = self.senses(
                predicate_states, predicates.candidates, predicates.n_candidates
            )
            embedded = vectors[rows, positions].float() if self.by_vector else predicate_states
            phrases = None if self.spans is None else self.spans(states, views, rows, mask)
            features = None
            if self.frames is not None:
                features = self.frames(senses, predicates.candidates, predicates.n_candidates)
            routing = self._route(
                states,
                views,
                rows,
                embedded,
                mask,
                features,
                n_iterations=self.n_iterations if n_iterations is None else n_iterations,
            )
        return PropositionLogits(routing, senses, patterns, phrases)

    def _route(
        self,
        states: Tensor,
        views: Tensor | None,
        rows: Tensor,
        predicates: Tensor,
        mask: Tensor,
        features: Tensor | None,
        *,
        n_iterations: int,
    ) -> RoutingResult:
        """Route words that are [view; state], or only states without a predicate layer.

        states      B T H
        views       P T H'
        rows        P
        predicates  P H, or as wide as what represents them
        mask        P T
        features    P F M  of the roles, by their frames
        """
        if not self.training:
            capsules = self.forms.forward_shared(states, views, rows, predicates)
            of_frames = None
            if self.frames is not None and features is not None:
                of_frames = self.frames.logits(capsules.joint, features)
            result: RoutingResult = self.routing(
                capsules, mask, n_iterations=n_iterations, of_frames=of_frames
            )
            return result
        # Dropout makes the state of a word differ between predicates: nothing can be shared.
        predicates = functional.dropout(predicates, self.capsule_dropout)
        words = states[rows] if views is None else torch.cat([views, states[rows]], -1)
        return route_predicates(
            self.forms,
            self.routing,
            variational_dropout(words, self.capsule_dropout, training=True),
            predicates,
            mask,
            n_iterations=n_iterations,
            chunks=self.routing_chunks,
            frames=self.frames,
            features=features,
        )
