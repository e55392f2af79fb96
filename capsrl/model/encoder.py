"""Word vectors in, states in context out: the stacked BiLSTM, and the layer that sees a predicate.

Each direction is an LSTM of its own over words laid out from their first; the backward one reads
every sentence reversed within its own length. So padding always comes last, a sentence gets the
same states alone and in any batch, and nothing is packed (packing needs lengths on the host and
cannot be exported).
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


def variational_dropout(states: Tensor, rate: float, *, training: bool) -> Tensor:
    """Drop the same units at every word of a sentence (Gal and Ghahramani, 2016).

    states  B T H
    """
    if not training or rate == 0.0:
        return states
    keep = states.new_full((states.shape[0], 1, states.shape[2]), 1 - rate)
    return states * torch.bernoulli(keep) / (1 - rate)


class BiLSTM(nn.Module):
    """Stacked bidirectional LSTM with variational dropout on the input of every layer."""

    def __init__(self, input_width: int, *, width: int, n_layers: int, dropout: float) -> None:
        super().__init__()
        self.width = 2 * width if n_layers else input_width
        self.dropout = dropout
        widths = [input_width] + [2 * width] * (n_layers - 1)
        self.forwards = nn.ModuleList(
            nn.LSTM(w, width, batch_first=True) for w in widths[:n_layers]
        )
        self.backwards = nn.ModuleList(
            nn.LSTM(w, width, batch_first=True) for w in widths[:n_layers]
        )

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """States of the words in their sentence.

        words  B T E
        mask   B T    True at words
        ->     B T H
        """
        states = words
        reverse = _reversing(mask)
        for ahead, back in zip(self.forwards, self.backwards, strict=True):
            states = variational_dropout(states, self.dropout, training=self.training)
            there, _ = ahead(states)
            and_back, _ = back(_take(states, reverse))
            states = torch.cat([there, _take(and_back, reverse)], -1)
        return states


class PredicateLayer(nn.Module):
    """One more BiLSTM, over [word; predicate]: the sentence as one predicate sees it.

    The words were encoded once for all predicates; this thin layer is all that is done again for
    each. Its input layer is a sum of one part per word and one per predicate, so the wide product
    with the words is taken once per sentence, and of an embedding of the distance between them.
    """

    reach = 32  # distances beyond this many words look the same

    def __init__(self, state_width: int, *, width: int, dropout: float) -> None:
        super().__init__()
        self.width = 2 * width
        self.dropout = dropout
        self.of_word = nn.Linear(state_width, width)
        self.of_predicate = nn.Linear(state_width, width)
        self.of_distance = nn.Embedding(2 * self.reach + 1, width)
        self.bilstm = BiLSTM(width, width=width, n_layers=1, dropout=dropout)

    def forward(self, states: Tensor, mask: Tensor, rows: Tensor, positions: Tensor) -> Tensor:
        """What each word looks like from each predicate.

        states     B T H
        mask       P T    True at words
        rows       P      the sentence of each predicate
        positions  P      where in it the predicate stands
        ->         P T H'
        """
        of_predicate = self.of_predicate(states[rows, positions]).unsqueeze(1)  # P 1 H'
        distance = torch.arange(states.shape[1], device=states.device) - positions.unsqueeze(1)
        distance = distance.clamp(-self.reach, self.reach) + self.reach  # P T
        words = self.of_word(states)[rows] + of_predicate + self.of_distance(distance)
        words = functional.gelu(words)
        seen: Tensor = self.bilstm(words, mask)
        return seen


def _reversing(mask: Tensor) -> Tensor:
    """Indices B T that turn every sentence round within its own length, padding left in place."""
    positions = torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)  # 1 T
    lengths = mask.sum(1, keepdim=True)  # B 1
    return torch.where(positions < lengths, lengths - 1 - positions, positions)


def _take(states: Tensor, order: Tensor) -> Tensor:
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
