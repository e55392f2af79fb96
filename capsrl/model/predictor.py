"""Predict the propositions of one batch of sentences."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from capsrl.errors import ConfigError
from capsrl.model.batches import Indexed, share_out
from capsrl.model.decode import decode
from capsrl.model.inventory import Inventory
from capsrl.model.network import Network
from capsrl.options import Options
from capsrl.sentence import Proposition, Sentence
from capsrl.text.lemmatizer import kind_of

MAX_PAIRS = 8192  # predicate-word pairs per forward pass; bounds memory


class Predictor:
    """A network on a device, and what it takes from hidden states to propositions."""

    def __init__(self, network: Network, device: torch.device) -> None:
        self.network = network
        self.device = device

    @property
    def inventory(self) -> Inventory:
        """The roles, senses and words the network knows."""
        return self.network.inventory

    @torch.inference_mode()
    def label_batch(
        self, sentences: Sequence[Sentence], items: Sequence[Indexed], options: Options
    ) -> list[Sentence]:
        """Label sentences that fit into memory together.

        items    each sentence as `Network.index` gives it
        options  where `predicates` is marked or found; `auto` has been decided before
        """
        network = self.network.eval()
        if options.predicates == "found" or not network.mark_predicate:
            blind = [_with_predicates(item, ()) for item in items]
            batch = network.collate(blind, gold=False).to(self.device)
            states = network.encode(batch)
            sentences = self._tagged(sentences, states)
        if options.predicates == "found":
            found = ((network.finder(states) > 0) & batch.mask).cpu().numpy()  # B T
            items = [
                _with_predicates(item, np.flatnonzero(row).tolist())
                for item, row in zip(items, found, strict=True)
            ]
        items = [
            self._with_lemmas(_with_pos(item, sentence, options), sentence)
            for item, sentence in zip(items, sentences, strict=True)
        ]
        answers: list[list[Proposition]] = [[] for _ in items]
        for numbers, parts in share_out(items, most=MAX_PAIRS):
            if network.mark_predicate:
                marked = network.collate(parts, gold=False, blind=False).to(self.device)
                near, mask, predicates = network.encode(marked), marked.mask, marked.predicates
            else:
                here, longest = torch.tensor(numbers, device=self.device), parts[0].n_words
                near, mask = states[here, :longest], batch.mask[here, :longest]
                predicates = network.collate_predicates(parts).to(self.device)
            propositions = decode(
                network.relate(near, mask, predicates, options.iterations),
                positions=[position for item in parts for position in item.predicates],
                lemmas=[lemma for item in parts for lemma in item.lemmas],
                lengths=[item.n_words for item in parts for _ in item.predicates],
                inventory=self.inventory,
                threshold=options.threshold,
                trace=options.trace,
            )
            owners = [n for n, item in zip(numbers, parts, strict=True) for _ in item.predicates]
            for owner, proposition in zip(owners, propositions, strict=True):
                answers[owner].append(proposition)
        return [s.with_propositions(a) for s, a in zip(sentences, answers, strict=True)]

    def _tagged(self, sentences: Sequence[Sentence], states: Tensor) -> Sequence[Sentence]:
        """The sentences with parts of speech, predicted where there were none.

        states  B T H
        """
        if self.network.tagger is None or all(sentence.tags for sentence in sentences):
            return sentences
        tags = list(self.inventory.tags)
        best = self.network.tagger(states).argmax(-1).tolist()  # B T
        return [
            sentence
            if sentence.tags
            else dataclasses.replace(
                sentence, tags=tuple(tags[tag] for tag in row[: len(sentence.words)])
            )
            for sentence, row in zip(sentences, best, strict=True)
        ]

    def _with_lemmas(self, item: Indexed, sentence: Sentence) -> Indexed:
        """The lemma of each predicate: the sentence's own, else by its form and tag."""
        if sentence.lemmas is not None:
            lemmas = [sentence.lemmas[position].lower() for position in item.predicates]
        elif self.inventory.lemmatiser is None:
            lemmas = [sentence.words[position].lower() for position in item.predicates]
        else:
            tags = sentence.tags or (None,) * len(sentence.words)
            lemmas = [
                self.inventory.lemmatiser.find(sentence.words[position], tags[position])
                for position in item.predicates
            ]
        return dataclasses.replace(item, lemmas=tuple(lemmas))


def _with_predicates(item: Indexed, positions: Sequence[int]) -> Indexed:
    return dataclasses.replace(item, predicates=tuple(positions), lemmas=())


def _with_pos(item: Indexed, sentence: Sentence, options: Options) -> Indexed:
    """Only the predicates of some parts of speech, by their tags."""
    if options.pos is None:
        return item
    tags = sentence.tags
    if tags is None:
        raise ConfigError(
            "pos: expected words with tags, or a model with a tagger, to choose predicates by, "
            "got neither"
        )
    return _with_predicates(item, [p for p in item.predicates if kind_of(tags[p]) in options.pos])
