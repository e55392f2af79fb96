import pytest
import torch
from torch import nn
from torch.testing import assert_close

from capsrl.network.encoder import BiLSTM, PredicateLayer, variational_dropout

LENGTHS = (4, 1, 3)
MASK = torch.arange(4) < torch.tensor(LENGTHS)[:, None]


def torch_lstm(ours, input_width, n_layers):
    """torch's own bidirectional LSTM with the same weights."""
    theirs = nn.LSTM(
        input_width, 5, num_layers=n_layers, batch_first=True, bidirectional=True
    ).double()
    weights = {}
    for layer in range(n_layers):
        for part, suffix in ((ours.forwards, ""), (ours.backwards, "_reverse")):
            for name, weight in part[layer].state_dict().items():
                weights[name.replace("_l0", f"_l{layer}{suffix}")] = weight
    theirs.load_state_dict(weights)
    return theirs


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_equals_packed_lstm(n_layers):
    torch.manual_seed(1)
    ours = BiLSTM(6, width=5, n_layers=n_layers, dropout=0.3).double().eval()
    words = torch.randn(3, 4, 6).double()
    packed = nn.utils.rnn.pack_padded_sequence(
        words, torch.tensor(LENGTHS), batch_first=True, enforce_sorted=False
    )
    expected, _ = nn.utils.rnn.pad_packed_sequence(
        torch_lstm(ours, 6, n_layers)(packed)[0], batch_first=True
    )
    states = ours(words, MASK)
    assert states.shape == (3, 4, ours.width) and ours.width == 10
    assert_close(states * MASK[..., None], expected, atol=1e-12, rtol=0)


def test_no_layers_change_nothing():
    encoder = BiLSTM(6, width=5, n_layers=0, dropout=0.5)
    words = torch.randn(3, 4, 6)
    assert encoder.width == 6
    assert encoder(words, MASK) is words


def test_padding_has_no_effect():
    torch.manual_seed(1)
    encoder = BiLSTM(6, width=5, n_layers=2, dropout=0.0).double()
    words = torch.randn(3, 4, 6).double()
    before = encoder(words, MASK)
    words[~MASK] = 100.0
    assert_close(encoder(words, MASK)[MASK], before[MASK], atol=0, rtol=0)


def test_dropout_is_the_same_at_every_word():
    torch.manual_seed(1)
    dropped = variational_dropout(torch.ones(200, 7, 50), 0.25, training=True)
    assert bool((dropped == dropped[:, :1]).all())
    assert_close(dropped.unique(), torch.tensor([0.0, 1 / 0.75]))
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.03)
    assert not bool((dropped[0] == dropped[1]).all())


def test_no_dropout_outside_training():
    states = torch.randn(2, 3, 4)
    assert variational_dropout(states, 0.5, training=False) is states


def test_predicate_layer_by_hand():
    """One row written out: gelu(A x_i + B p + distance i - p), then the LSTM."""
    torch.manual_seed(1)
    layer = PredicateLayer(6, width=5, dropout=0.0).double()
    states = torch.randn(3, 4, 6).double()
    rows, positions = torch.tensor([0, 0, 2]), torch.tensor([1, 3, 0])
    views = layer(states, MASK[rows], rows, positions)
    assert views.shape == (3, 4, layer.width) and layer.width == 10
    for p, (row, position) in enumerate(zip(rows.tolist(), positions.tolist(), strict=True)):
        inputs = [
            layer.of_word(states[row, i])
            + layer.of_predicate(states[row, position])
            + layer.of_distance.weight[i - position + layer.max_distance]
            for i in range(LENGTHS[row])
        ]
        words = nn.functional.gelu(torch.stack(inputs))[None]
        expected = layer.bilstm(words, torch.ones(1, LENGTHS[row]).bool())
        assert_close(views[p, : LENGTHS[row]], expected[0], atol=1e-12, rtol=0)


def test_distances_are_clamped():
    layer = PredicateLayer(6, width=5, dropout=0.0)
    n_words = 2 * layer.max_distance + 20
    states = torch.zeros(1, n_words, 6)
    mask = torch.ones(1, n_words).bool()
    layer(states, mask, torch.tensor([0]), torch.tensor([0])).sum().backward()
    used = layer.of_distance.weight.grad.abs().sum(-1).nonzero().flatten().tolist()
    assert used == list(range(layer.max_distance, 2 * layer.max_distance + 1))


def test_no_predicates():
    layer = PredicateLayer(6, width=5, dropout=0.0)
    none = torch.zeros(0, dtype=torch.long)
    assert layer(torch.randn(3, 4, 6), MASK[none], none, none).shape == (0, 4, 10)
