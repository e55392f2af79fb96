"""Classifiers on the states of words: predicates, their senses, and parts of speech."""

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional


class PredicateFinder(nn.Module):
    """Scores how likely each word is a predicate: a logit, above 0 for yes."""

    def __init__(self, state_width: int) -> None:
        super().__init__()
        self.score = nn.Linear(state_width, 1)

    def forward(self, states: Tensor) -> Tensor:
        """Score the words; the states may be followed by other numbers.

        states  B T H+
        ->      B T
        """
        logits: Tensor = self.score(states[..., : self.score.in_features]).squeeze(-1)
        return logits


class Tagger(nn.Module):
    """Scores the part-of-speech tags of every word."""

    def __init__(self, state_width: int, *, n_tags: int) -> None:
        super().__init__()
        self.score = nn.Linear(state_width, n_tags)

    def forward(self, states: Tensor) -> Tensor:
        """Score the tags; the states may be followed by other numbers.

        states  B T H+
        ->      B T tags
        """
        logits: Tensor = self.score(states[..., : self.score.in_features])
        return logits


class SenseScorer(nn.Module):
    """Scores the candidate senses of a predicate: ELU(A state) . embedding of the sense.

    The embedding of a sense is the sum of its own vector and the vector of its pattern (`{}.02`),
    so that rare senses share what all `.02` have in common. A sense without training examples is
    its pattern alone. For a lemma without candidates the patterns themselves are scored.
    """

    def __init__(
        self,
        state_width: int,
        *,
        width: int,
        counts: Sequence[int],
        patterns: Sequence[int],
        n_patterns: int,
        dropout: float = 0.0,
    ) -> None:
        """`counts` and `patterns` are indexed by sense id.

        counts    frequency of each sense in training, the initial prior
        patterns  the pattern id of each sense, `n_patterns` for a sense without one
        dropout   on the projected state
        """
        super().__init__()
        self.dropout = dropout
        self.of_state = nn.Linear(state_width, width)
        self.senses = nn.Embedding(len(counts), width)
        self.patterns = nn.Embedding(n_patterns + 1, width)
        self.prior = nn.Parameter(torch.tensor([log(count + 0.5) for count in counts]))
        self.pattern_prior = nn.Parameter(torch.zeros(n_patterns + 1))
        self.pattern_of: Tensor
        self.register_buffer("pattern_of", torch.tensor(patterns))
        nn.init.normal_(self.senses.weight, std=width**-0.5)
        with torch.no_grad():  # never trained, so it must not stay at random values
            self.senses.weight[torch.tensor(counts) == 0] = 0
        nn.init.normal_(self.patterns.weight, std=width**-0.5)

    def forward(
        self, states: Tensor, candidates: Tensor, n_candidates: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score the candidates of each predicate, and all patterns.

        states        P H
        candidates    P C  sense ids
        n_candidates  P
        -> senses     P C  logits, -1e9 at padding
        -> patterns   P K  logits
        """
        query = functional.elu(self.of_state(states))  # P width
        query = functional.dropout(query, self.dropout, self.training)
        patterns = query @ self.patterns.weight.T + self.pattern_prior  # P K+1
        own = torch.einsum("ph,pch->pc", query, self.senses(candidates)) + self.prior[candidates]
        senses = own + patterns.gather(1, self.pattern_of[candidates])
        padding = torch.arange(candidates.shape[1], device=states.device) >= n_candidates[:, None]
        # Not -inf: the softmax of a lemma without candidates would be NaN, and so its gradient.
        return senses.masked_fill(padding, -1e9), patterns[:, :-1]
