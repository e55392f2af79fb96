"""The stacked BiLSTM over the word vectors, and the BiLSTM layer that sees a predicate.

Each direction is an LSTM of its own; the backward one reads every sentence reversed within its own
length. Padding therefore always comes last, and a sentence has the same states alone and in any
batch. Packed sequences would do the same, but need the lengths on the host and cannot be exported.
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
    keep_probs = states.new_full((states.shape[0], 1, states.shape[2]), 1 - rate)
    return states * torch.bernoulli(keep_probs) / (1 - rate)


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
        """Hidden states of the words in context.

        words  B T E
        mask   B T    True at words
        ->     B T H
        """
        states = words
        reverse = _reversed_order(mask)
        for forward_lstm, backward_lstm in zip(self.forwards, self.backwards, strict=True):
            states = variational_dropout(states, self.dropout, training=self.training)
            forward_states, _ = forward_lstm(states)
            backward_states, _ = backward_lstm(take(states, reverse))
            states = torch.cat([forward_states, take(backward_states, reverse)], -1)
        return states


class PredicateLayer(nn.Module):
    """A BiLSTM over each word and the predicate: the view that one predicate has of a sentence.

    The encoder runs once per sentence; only this thin layer runs once per predicate. Its input is
    gelu(A x_i + B p + distance embedding). The wide product A x_i is shared by all predicates of a
    sentence and computed once.
    """

    max_distance = 32  # words farther away than this have the same distance embedding

    def __init__(self, state_width: int, *, width: int, dropout: float) -> None:
        super().__init__()
        self.width = 2 * width
        self.dropout = dropout
        self.of_word = nn.Linear(state_width, width)
        self.of_predicate = nn.Linear(state_width, width)
        self.of_distance = nn.Embedding(2 * self.max_distance + 1, width)
        self.bilstm = BiLSTM(width, width=width, n_layers=1, dropout=dropout)

    def forward(self, states: Tensor, mask: Tensor, rows: Tensor, positions: Tensor) -> Tensor:
        """Hidden states of the words for each predicate.

        states     B T H
        mask       P T    True at words
        rows       P      the sentence of each predicate
        positions  P      its position in the sentence
        ->         P T H'
        """
        of_predicate = self.of_predicate(states[rows, positions]).unsqueeze(1)  # P 1 H'
        distance = torch.arange(states.shape[1], device=states.device) - positions.unsqueeze(1)
        distance = distance.clamp(-self.max_distance, self.max_distance) + self.max_distance  # P T
        words = self.of_word(states)[rows] + of_predicate + self.of_distance(distance)
        words = functional.gelu(words)
        views: Tensor = self.bilstm(words, mask)
        return views


def _reversed_order(mask: Tensor) -> Tensor:
    """Indices B T that reverse every sentence within its own length and leave padding in place."""
    positions = torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)  # 1 T
    lengths = mask.sum(1, keepdim=True)  # B 1
    return torch.where(positions < lengths, lengths - 1 - positions, positions)


def take(states: Tensor, order: Tensor) -> Tensor:
    """The states of a sentence in another order: B T H by B T."""
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
