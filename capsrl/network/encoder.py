"""The stacked BiLSTM over the word vectors, and the BiLSTM layer that sees a predicate.

Each direction is an LSTM of its own; the backward one reads every sentence reversed within its own
length. Padding therefore always comes last, and a sentence has the same states alone and in any
batch. Packed sequences would do the same, but need the lengths on the host and cannot be exported.
"""

import importlib.util
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from capsrl.errors import ConfigError

# Units, up to which the kernel of recurrence.py was measured to be faster than cuDNN.
_FASTER_UP_TO = 300
_Read = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # as read_words


def variational_dropout(states: Tensor, rate: float, *, training: bool) -> Tensor:
    """Drop the same units at every word of a sentence (Gal and Ghahramani, 2016).

    states  B T H
    """
    if not training or rate == 0.0:
        return states
    keep_probs = states.new_full((states.shape[0], 1, states.shape[2]), 1 - rate)
    return states * (torch.bernoulli(keep_probs) / (1 - rate))


class HighwayLSTM(nn.Module):
    """The parameters of an LSTM that mixes what it reads into its states (authors' code).

    With h_i the state of an LSTM at word i, the state that is returned and passed on is

        r_i = g * h_i + (1 - g) * V x_i,    g = sigmoid(A x_i + B r_{i-1} + a)
    """

    def __init__(self, input_width: int, width: int) -> None:
        super().__init__()
        self.of_word = nn.Linear(input_width, 6 * width, bias=False)  # four gates, A, V
        self.of_state = nn.Linear(width, 5 * width)  # four gates, B
        for weight in (self.of_word.weight, self.of_state.weight):
            for block in torch.split(weight.detach(), width):
                nn.init.orthogonal_(block)
        nn.init.zeros_(self.of_state.bias)
        nn.init.ones_(self.of_state.bias.detach()[width : 2 * width])  # at first it forgets little


def read_words(of_words: Tensor, of_state: Tensor, bias: Tensor, kept: Tensor) -> Tensor:
    """Run both directions together, word by word: small steps that a GPU is slow to start.

    of_words  2 B T 4H  what the words give to the gates, in torch's order; 6H with a highway
    of_state  2 4H H    what a state gives to them, and bias 2 4H; 5H with a highway
    kept      2 B H     factors on the state that a word passes on to the next one
    ->        2 B T H
    """
    n_gates = of_state.shape[1]
    given = (of_words[..., :n_gates] + bias[:, None, None]).to(of_words.dtype)
    carried = of_words[..., n_gates:].unbind(2)  # of width 0 without a highway
    of_state, states = of_state.mT, []
    state = memory = torch.zeros_like(kept)
    for of_word, carry in zip(given.unbind(2), carried, strict=True):
        gates = torch.baddbmm(of_word, state * kept, of_state)
        start, forget, _, output, *highway = torch.split(gates.sigmoid(), kept.shape[2], 2)
        new = gates[..., 2 * kept.shape[2] : 3 * kept.shape[2]].tanh()
        memory = forget * memory + start * new
        state = output * memory.tanh()
        if highway:
            state = highway[0] * state + (1 - highway[0]) * carry
        states.append(state)
    return torch.stack(states, 2)


def find_kernel(words: Tensor) -> _Read | None:
    """What reads all words in one kernel, without a highway: on NVIDIA's GPUs, in bf16."""
    if not (words.is_cuda and torch.version.cuda and torch.is_autocast_enabled("cuda")):
        return None
    if torch.get_autocast_dtype("cuda") != torch.bfloat16 or not importlib.util.find_spec("triton"):
        return None
    from capsrl.network.recurrence import can_start, scan  # imports Triton

    has_bf16 = torch.cuda.get_device_capability(words.device) >= (8, 0)
    return scan if has_bf16 and can_start(words.device) else None


class BiLSTM(nn.Module):
    """Stacked bidirectional LSTM with variational dropout.

    dropout            on the input of every layer
    recurrent_dropout  on the state that a word passes on to the next one
    output_dropout     on the states of the last layer
    """

    def __init__(
        self,
        input_width: int,
        *,
        width: int,
        n_layers: int,
        dropout: float,
        recurrent_dropout: float = 0.0,
        output_dropout: float = 0.0,
        highway: bool = False,
    ) -> None:
        super().__init__()
        if input_width < 1:
            raise ConfigError("expected a source of word vectors, got none")
        self.width = 2 * width if n_layers else input_width
        self.dropout = dropout
        self.recurrent_dropout = recurrent_dropout
        self.output_dropout = output_dropout

        def make(input_width: int) -> nn.Module:
            if highway:
                return HighwayLSTM(input_width, width)
            return nn.LSTM(input_width, width, batch_first=True)

        widths = [input_width] + [2 * width] * (n_layers - 1)
        self.forwards = nn.ModuleList(make(w) for w in widths[:n_layers])
        self.backwards = nn.ModuleList(make(w) for w in widths[:n_layers])

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Hidden states of the words in context.

        words  B T E
        mask   B T    True at words
        ->     B T H
        """
        states = words
        reverse = reversed_order(mask)
        for forward_lstm, backward_lstm in zip(self.forwards, self.backwards, strict=True):
            states = variational_dropout(states, self.dropout, training=self.training)
            forward_states, backward_states = self._read(
                (forward_lstm, backward_lstm), (states, take(states, reverse))
            )
            states = torch.cat([forward_states, take(backward_states, reverse)], -1)
        return variational_dropout(states, self.output_dropout, training=self.training)

    def _read(self, lstms: Sequence[nn.Module], words: Sequence[Tensor]) -> Sequence[Tensor]:
        """Run both directions of a layer: B T E each -> B T H each."""
        read = self._choose(lstms[0], words[0])
        if read is None:
            return [lstm(own)[0] for lstm, own in zip(lstms, words, strict=True)]
        # In floats also where words are bf16: what a sentence adds up in a memory needs the digits.
        dtype = torch.promote_types(words[0].dtype, torch.float32)
        ones = words[0].new_ones(2 * len(words[0]), 1, self.width // 2, dtype=dtype)
        kept = variational_dropout(ones, self.recurrent_dropout, training=self.training)
        of_word, of_state, bias = map(torch.stack, zip(*map(_weights, lstms), strict=True))
        of_words = torch.einsum("dbte,dge->dbtg", torch.stack(tuple(words)), of_word)
        return read(of_words, of_state, bias, kept.view(2, -1, self.width // 2)).unbind(0)

    def _choose(self, lstm: nn.Module, words: Tensor) -> _Read | None:
        """How a layer reads its words; None: as torch's own LSTM does."""
        if not isinstance(lstm, nn.LSTM):
            return read_words
        if not self.training:
            return None
        drops = self.recurrent_dropout > 0.0
        kernel = find_kernel(words) if drops or self.width <= 2 * _FASTER_UP_TO else None
        return kernel or (read_words if drops else None)


def _weights(lstm: nn.Module) -> tuple[Tensor, Tensor, Tensor]:
    if isinstance(lstm, HighwayLSTM):
        return lstm.of_word.weight, lstm.of_state.weight, lstm.of_state.bias
    assert isinstance(lstm, nn.LSTM)
    of_word, of_state, word_bias, state_bias = lstm.all_weights[0]
    return of_word, of_state, word_bias + state_bias


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


def reversed_order(mask: Tensor) -> Tensor:
    """Indices B T that reverse every sentence within its own length and leave padding in place."""
    positions = torch.arange(mask.shape[1], device=mask.device).unsqueeze(0)  # 1 T
    lengths = mask.sum(1, keepdim=True)  # B 1
    return torch.where(positions < lengths, lengths - 1 - positions, positions)


def take(states: Tensor, order: Tensor) -> Tensor:
    """The states of a sentence in another order: B T H by B T."""
    return states.gather(1, order.unsqueeze(-1).expand(-1, -1, states.shape[-1]))
