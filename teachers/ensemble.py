"""Several networks as one, which predicts the mean of their probabilities."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from capsrl.errors import ModelError
from capsrl.network.batches import Batch, Predicates, collate
from capsrl.network.embeddings.source import WordSource, WordVectors
from capsrl.network.embeddings.transformer import Transformer
from capsrl.network.network import Network, PropositionLogits
from capsrl.network.phrases import PhraseLogits
from capsrl.network.routing import RoutingResult
from capsrl.predict.indexing import IndexedSentence, index_sentence
from capsrl.predict.inventory import Inventory
from capsrl.sentence import Sentence
from capsrl.train.soft_labels import SHARED

_TINY = 1e-30  # smaller than any probability that matters; its logarithm is finite


class Ensemble(nn.Module):
    """Networks with the same roles, senses and tags, whose probabilities are averaged.

    It has the methods of `Network` that a `Predictor` needs. The hidden states of the members are
    concatenated: H is the sum of their widths. `tagger` is None unless every member has one.
    Raises ModelError for members whose inventories differ, and for those that mark predicates,
    whose hidden states differ between the predicates of a sentence.
    """

    mark_predicate = False

    def __init__(self, members: Mapping[str, Network]) -> None:
        super().__init__()
        names = list(members)
        self._networks = list(members.values())
        self.members = nn.ModuleList(self._networks)
        self.inventory = self._networks[0].inventory
        for name, member in members.items():
            _check_member(name, member, names[0], self.inventory)
        self._widths = [member.encoder.width for member in self._networks]
        self.vectors, self._inputs = _join_vectors(self._networks)
        has_tagger = all(member.tagger is not None for member in self._networks)
        self.tagger: Callable[[Tensor], Tensor] | None = self._tag if has_tagger else None

    def index(self, sentence: Sentence, *, gold: bool = True) -> IndexedSentence:
        """The sentence as numbers; see `indexing.index_sentence`."""
        return index_sentence(sentence, self.vectors, self.inventory, gold=gold)

    def collate(
        self, items: Sequence[IndexedSentence], *, gold: bool = True, unmarked: bool = True
    ) -> Batch:
        """Some sentences as one batch on the CPU; see `batches.collate`."""
        return collate(
            items,
            self.vectors,
            self.inventory,
            mark_predicate=False,
            gold=gold,
            unmarked=unmarked,
        )

    def encode(self, batch: Batch) -> Tensor:
        """Hidden states of the words in context, of all members side by side.

        ->  B T H
        """
        states = []
        for member, names in zip(self._networks, self._inputs, strict=True):
            inputs = {name: batch.inputs[joined] for name, joined in names.items()}
            states.append(member.encode(replace(batch, inputs=inputs)))
        return torch.cat(states, -1)

    def finder(self, states: Tensor) -> Tensor:
        """The log odds of the mean probability that a word is a predicate.

        states  B T H
        ->      B T
        """
        probs = [member.finder(own).float().sigmoid() for member, own in self._split(states)]
        return torch.stack(probs).mean(0).clamp(_TINY, 1 - 1e-7).logit()

    def _tag(self, states: Tensor) -> Tensor:
        logits = []
        for member, own in self._split(states):
            assert member.tagger is not None
            logits.append(member.tagger(own))
        return mean_of_probs(logits)

    def score_propositions(
        self, states: Tensor, mask: Tensor, predicates: Predicates, n_iterations: int | None = None
    ) -> PropositionLogits:
        """As `Network.score_propositions`; the logits are logarithms of mean probabilities.

        If the members have different numbers of iterations, the last ones are averaged.
        """
        results = [
            member.score_propositions(own, mask, predicates, n_iterations)
            for member, own in self._split(states)
        ]
        n_steps = min(len(result.routing.logits) for result in results)
        steps = zip(*(result.routing.logits[-n_steps:] for result in results), strict=True)
        return PropositionLogits(
            routing=RoutingResult([mean_of_probs(step) for step in steps]),
            senses=mean_of_probs([result.senses for result in results]),
            patterns=mean_of_probs([result.patterns for result in results]),
            spans=_mean_phrases([result.spans for result in results]),
        )

    def _split(self, states: Tensor) -> list[tuple[Network, Tensor]]:
        return list(zip(self._networks, torch.split(states, self._widths, -1), strict=True))


def mean_of_probs(logits: Sequence[Tensor]) -> Tensor:
    """Logarithms of the mean of the probabilities that some logits stand for.

    logits  ... classes, each
    ->      ... classes
    """
    probs = torch.stack([one.float().softmax(-1) for one in logits]).mean(0)
    return probs.clamp(min=_TINY).log()


def _mean_phrases(phrases: Sequence[PhraseLogits | None]) -> PhraseLogits | None:
    """The mean over the members that score phrases; None if no member does."""
    known = [one for one in phrases if one is not None]
    if not known:
        return None
    return PhraseLogits(
        firsts=mean_of_probs([one.firsts for one in known]),
        lasts=mean_of_probs([one.lasts for one in known]),
    )


def _check_member(name: str, member: Network, first: str, inventory: Inventory) -> None:
    if member.mark_predicate:
        raise ModelError(
            f"{name}: a model with model.embeddings.mark_predicate cannot be averaged: it encodes "
            "a sentence once per predicate"
        )
    own = member.inventory
    different = [part for part in SHARED if getattr(own, part) != getattr(inventory, part)]
    if different:
        raise ModelError(
            f"{name}: has other {', '.join(different)} than {first}; train both on the same data"
        )


def _join_vectors(networks: Sequence[Network]) -> tuple[WordVectors, list[dict[str, str]]]:
    """The sources of all networks, and for each network its names of sources -> the joint names.

    Transformers with the same tokenizer share an entry, so that a sentence is tokenized once.
    """
    sources: dict[str, WordSource[Any]] = {}
    joint_names: dict[object, str] = {}
    names: list[dict[str, str]] = []
    for number, network in enumerate(networks):
        names.append({})
        for name, source in network.vectors.named_sources():
            key: object = (number, name)
            if isinstance(source, Transformer):
                key = (
                    source.subwords.tokenizer.to_str(),
                    source.subwords.max_subwords,
                    source.causal,
                )
            joint = joint_names.setdefault(key, f"{number}/{name}")
            sources.setdefault(joint, source)
            names[-1][name] = joint
    return WordVectors(sources), names
