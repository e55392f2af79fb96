"""Sentences in, beliefs about their propositions out: the whole walk as one forward()."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from capsrl.model.batches import (
    Batch,
    Indexed,
    Predicates,
    collate_gold,
    collate_predicates,
    index_sentence,
)
from capsrl.model.capsules import CapsuleForms
from capsrl.model.embeddings import WordVectors
from capsrl.model.encoder import BiLSTM, PredicateLayer, variational_dropout
from capsrl.model.inventory import Inventory
from capsrl.model.predicates import PredicateFinder, SenseScorer, Tagger
from capsrl.model.routing import Beliefs, Routing, relate
from capsrl.sentence import Sentence


@dataclass(frozen=True)
class Propositions:
    """What the network believes of the predicates of a batch.

    beliefs         P T R after each iteration
    sense_logits    P C    over the candidates of each lemma
    pattern_logits  P K    for lemmas never seen
    """

    beliefs: Beliefs
    sense_logits: Tensor
    pattern_logits: Tensor


@dataclass(frozen=True)
class Output:
    """What the network says of a batch in training.

    predicate_logits  B T  above 0: a predicate
    tag_logits        B T tags, None without a tagger
    """

    predicate_logits: Tensor
    propositions: Propositions
    tag_logits: Tensor | None


class Network(nn.Module):
    """Word vectors, encoder, predicates and senses, capsules, routing: one after the other.

    The parts are made by `make_network`. `mark_predicate` encodes a sentence once for each of its
    predicates, with that one marked; `lookup` embeds predicates by lemma (eq. 2) instead of taking
    their state.
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
        lookup: nn.Embedding | None,
        forms: CapsuleForms,
        routing: Routing,
        tagger: Tagger | None,
        capsule_dropout: float,
        n_iterations: int,
        routing_parts: int,
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
        self.lookup = lookup
        self.forms = forms
        self.routing = routing
        self.tagger = tagger
        self.capsule_dropout = capsule_dropout
        self.n_iterations = n_iterations
        self.routing_parts = routing_parts
        self.mark_predicate = mark_predicate

    def index(self, sentence: Sentence, *, gold: bool = True) -> Indexed:
        """A sentence as numbers; worth keeping between epochs.

        gold  with the answers, for a loss
        """
        words = self.vectors.index(sentence)
        length = self.vectors.length(words, len(sentence.words))
        return index_sentence(sentence, self.inventory, words, length, gold=gold)

    def collate(self, items: Sequence[Indexed], *, gold: bool = True, blind: bool = True) -> Batch:
        """Some sentences as one batch, on the CPU.

        gold   with the answers, for a loss
        blind  where predicates are marked: also the sentences without a mark, to find predicates in
        """
        sentences = list(items) if blind or not self.mark_predicate else []
        marked: list[int | None] = [None] * len(sentences)
        first_copy = None
        if self.mark_predicate:
            first_copy = len(sentences)
            sentences += [item for item in items for _ in item.predicates]
            marked += [position for item in items for position in item.predicates]
        lengths = torch.tensor([item.n_words for item in sentences], dtype=torch.long)
        n_words = int(lengths.max()) if len(sentences) else 0
        return Batch(
            inputs=self.vectors.collate([item.words for item in sentences], marked),
            mask=torch.arange(n_words) < lengths[:, None],
            n_blind=len(items) if blind else 0,
            n_words=sum(item.n_words for item in items),
            predicates=self.collate_predicates(items, first_copy),
            gold=collate_gold(items, n_words) if gold else None,
        )

    def collate_predicates(
        self, items: Sequence[Indexed], first_copy: int | None = None
    ) -> Predicates:
        """The predicates of some sentences.

        first_copy  the row from which on the sentences stand once for each predicate
        """
        rows = [number for number, item in enumerate(items) for _ in item.predicates]
        if first_copy is not None:
            rows = list(range(first_copy, first_copy + len(rows)))
        positions = [position for item in items for position in item.predicates]
        lemmas = [lemma for item in items for lemma in item.lemmas]
        return collate_predicates(rows, positions, lemmas, self.inventory)

    def parameter_layers(self) -> dict[str, int]:
        """Depth of every parameter of a fine-tuned transformer: 0 its embeddings, then upwards."""
        layers: dict[str, int] = {}
        for name, parameter in self.named_parameters():
            if not name.startswith("vectors.sources.transformer.encoder."):
                continue
            # Token types were never used in pretraining by most encoders: the mark is all new.
            is_mark = self.mark_predicate and "type" in name
            if parameter.requires_grad and not is_mark:
                number = re.search(r"\.layers?\.(\d+)\.", name)
                # Gemma and Llama have a norm after the last layer, others one before the first.
                below = max(layers.values(), default=0) if "norm" in name.lower() else 0
                layers[name] = int(number[1]) + 1 if number else below
        return layers

    def forward(self, batch: Batch, n_iterations: int | None = None) -> Output:
        """Everything the loss needs, from one encoding of the words."""
        states = self.encode(batch)
        blind = states[: batch.n_blind]
        return Output(
            predicate_logits=self.finder(blind),
            propositions=self.relate(states, batch.mask, batch.predicates, n_iterations),
            tag_logits=None if self.tagger is None else self.tagger(blind),
        )

    def encode(self, batch: Batch) -> Tensor:
        """States of the words in context.

        ->  B T H
        """
        vectors = self.vectors(batch.inputs)  # B T E
        vectors = variational_dropout(vectors, self.vector_dropout, training=self.training)
        states: Tensor = self.encoder(vectors, batch.mask)
        return states

    def relate(
        self, states: Tensor, mask: Tensor, predicates: Predicates, n_iterations: int | None = None
    ) -> Propositions:
        """Relate the words of each sentence to each of its predicates.

        states  B T H
        mask    B T    True at words
        """
        rows, positions = predicates.rows, predicates.positions
        own = states[rows, positions]  # P H
        mask = mask[rows]  # P T
        seen = None
        if self.predicate_layer is not None:
            seen = self.predicate_layer(states, mask, rows, positions).float()  # P T H'
        # Routing adds many small terms and the first iteration spreads a word over all roles:
        # bf16 has too few digits for that, and the products here are small.
        with torch.autocast(states.device.type, enabled=False):
            own = own.float()
            sense_logits, pattern_logits = self.senses(
                own, predicates.candidates, predicates.n_candidates
            )
            predicate = own if self.lookup is None else self.lookup(predicates.lemmas)
            predicate = functional.dropout(predicate, self.capsule_dropout, self.training)
            words, rest = self._words(states.float(), seen, rows)
            n_iterations = self.n_iterations if n_iterations is None else n_iterations
            beliefs = relate(
                self.forms,
                self.routing,
                words,
                predicate,
                mask,
                n_iterations=n_iterations,
                parts=self.routing_parts,
                rest=rest,
            )
        return Propositions(beliefs, sense_logits, pattern_logits)

    def _words(
        self, states: Tensor, seen: Tensor | None, rows: Tensor
    ) -> tuple[Tensor, Tensor | None]:
        """What capsules are made of: a word as the predicate sees it, if it does, then its state.

        In training, dropout makes the state of a word another for every predicate. Else its part
        of the product is the same for all predicates of a sentence, and taken once for them all.

        states   B T H
        seen     P T H'
        -> words P T H+H', or P T H' with
        -> rest  P T M     for the states
        """
        if not self.training:
            nothing = states.new_zeros(len(rows), states.shape[1], 0)
            return nothing if seen is None else seen, self.forms.of_rest(states)[rows]
        words = states[rows] if seen is None else torch.cat([seen, states[rows]], -1)
        return variational_dropout(words, self.capsule_dropout, training=True), None
