"""States of words in, which are predicates, in which sense, and their parts of speech out."""

from collections.abc import Sequence
from math import log

import torch
from torch import Tensor, nn
from torch.nn import functional


class PredicateFinder(nn.Module):
    """Scores every word as a predicate: a logit, above 0 for yes."""

    def __init__(self, state_width: int) -> None:
        super().__init__()
        self.score = nn.Linear(state_width, 1)

    def forward(self, states: Tensor) -> Tensor:
        """Score the words.

        states  B T H
        ->      B T
        """
        logits: Tensor = self.score(states).squeeze(-1)
        return logits


class Tagger(nn.Module):
    """Scores the parts of speech of every word."""

    def __init__(self, state_width: int, *, n_tags: int) -> None:
        super().__init__()
        self.score = nn.Linear(state_width, n_tags)

    def forward(self, states: Tensor) -> Tensor:
        """Score the tags.

        states  B T H
        ->      B T tags
        """
        logits: Tensor = self.score(states)
        return logits


class SenseScorer(nn.Module):
    """Scores the candidate senses of a predicate: ELU(state) . embedding of the sense.

    A sense is embedded as the sum of itself and of the pattern that makes it from its lemma, so
    that rare senses share what all `.02` have in common. A sense never seen in training starts as
    its pattern alone; for a lemma without candidates the patterns are scored.
    """

    def __init__(
        self,
        state_width: int,
        *,
        width: int,
        counts: Sequence[int],
        patterns: Sequence[int],
        n_patterns: int,
    ) -> None:
        """Take the senses by number.

        counts    how often each sense was seen: the first guess is the most frequent one
        patterns  the pattern of each sense, `n_patterns` for one of no kept pattern
        """
        super().__init__()
        self.of_state = nn.Linear(state_width, width)
        self.senses = nn.Embedding(len(counts), width)
        self.patterns = nn.Embedding(n_patterns + 1, width)
        self.prior = nn.Parameter(torch.tensor([log(count + 0.5) for count in counts]))
        self.pattern_prior = nn.Parameter(torch.zeros(n_patterns + 1))
        self.pattern_of: Tensor
        self.register_buffer("pattern_of", torch.tensor(patterns))
        nn.init.normal_(self.senses.weight, std=width**-0.5)
        with torch.no_grad():  # what no lemma of the corpus ever trains must not be noise
            self.senses.weight[torch.tensor(counts) == 0] = 0
        nn.init.normal_(self.patterns.weight, std=width**-0.5)

    def forward(
        self, states: Tensor, candidates: Tensor, n_candidates: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Score the candidates of each predicate, and the patterns for want of candidates.

        states        P H
        candidates    P C  sense ids
        n_candidates  P
        -> senses     P C  logits, -1e9 beyond the candidates
        -> patterns   P K  logits
        """
        query = functional.elu(self.of_state(states))  # P width
        patterns = query @ self.patterns.weight.T + self.pattern_prior  # P K+1
        own = torch.einsum("ph,pch->pc", query, self.senses(candidates)) + self.prior[candidates]
        senses = own + patterns.gather(1, self.pattern_of[candidates])
        beyond = torch.arange(candidates.shape[1], device=states.device) >= n_candidates[:, None]
        # Not -inf: a lemma without candidates would have no softmax, and NaN for a gradient.
        return senses.masked_fill(beyond, -1e9), patterns[:, :-1]
