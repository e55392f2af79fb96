"""Score where the phrase around each word begins and ends, as an argument of a predicate."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class PhraseLogits:
    """Scores of the first and last word of the phrase that a word is the head of.

    firsts  P T T  for each head, over the words; -1e9 after the head
    lasts   P T T  for each head, over the words; -1e9 before the head and at padding
    """

    firsts: Tensor
    lasts: Tensor


class PhraseScorer(nn.Module):
    """Matches each head with the words that may begin or end its phrase (biaffine attention).

    A word as a predicate sees it is [view; state], as for the capsules. It is projected to two
    queries, for its role as the head, and two keys, for its role as an edge. First and last word
    are scored independently: any answer is an unbroken phrase that contains the head.
    """

    max_distance = 32  # words farther away than this have the same score for their distance

    def __init__(self, *, view_width: int, state_width: int, width: int, dropout: float) -> None:
        """`view_width` is 0 without a predicate layer."""
        super().__init__()
        self.dropout = dropout
        self.of_state = nn.Linear(state_width, 4 * width)
        self.of_view = nn.Linear(view_width, 4 * width, bias=False) if view_width else None
        self.of_distance = nn.Parameter(torch.zeros(2, self.max_distance + 1))

    def forward(
        self, states: Tensor, views: Tensor | None, rows: Tensor, mask: Tensor
    ) -> PhraseLogits:
        """Score the edges of the phrase of every word.

        states  B T H   of the words of each sentence
        views   P T H'  of the words for each predicate, None without a predicate layer
        rows    P       the sentence of each predicate
        mask    P T     True at words
        """
        words = self.of_state(states)[rows]  # P T 4W
        if self.of_view is not None:
            words = words + self.of_view(views)
        words = functional.dropout(functional.gelu(words), self.dropout, self.training)
        first_query, first_key, last_query, last_key = words.chunk(4, -1)  # P T W each
        positions = torch.arange(states.shape[1], device=states.device)
        distance = positions - positions.unsqueeze(1)  # T T: from head to edge
        near = distance.abs().clamp(max=self.max_distance)
        firsts = _dot_products(first_query, first_key) + self.of_distance[0][near]
        lasts = _dot_products(last_query, last_key) + self.of_distance[1][near]
        return PhraseLogits(
            firsts=firsts.masked_fill(distance > 0, -1e9),
            lasts=lasts.masked_fill((distance < 0) | ~mask.unsqueeze(1), -1e9),
        )


def _dot_products(queries: Tensor, keys: Tensor) -> Tensor:
    """Scaled dot products, P T T."""
    scale: float = queries.shape[-1] ** -0.5
    return torch.bmm(queries * scale, keys.transpose(1, 2))
