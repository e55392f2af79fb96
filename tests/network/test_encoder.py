import pytest
import torch
from torch import nn
from torch.testing import assert_close

from capsrl.errors import ConfigError
from capsrl.network.encoder import BiLSTM, HighwayLSTM, PredicateLayer, variational_dropout
from tests.helpers import literal

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


def encoder_of(*, highway, n_layers=1, **dropout):
    torch.manual_seed(1)
    encoder = BiLSTM(6, width=5, n_layers=n_layers, dropout=0.0, highway=highway, **dropout)
    for parameter in encoder.parameters():  # zeros and ones could hide a mistake
        nn.init.normal_(parameter, std=0.5)
    return encoder.double()


def in_loops(lstm, words, kept):
    """The states of one sentence by `literal.lstm`."""
    if isinstance(lstm, HighwayLSTM):
        of_word, of_state, bias = lstm.of_word.weight, lstm.of_state.weight, lstm.of_state.bias
    else:
        of_word, of_state, *biases = lstm.all_weights[0]
        bias = sum(biases)
    states = literal.lstm(*(each.tolist() for each in (words, of_word, of_state, bias, kept)))
    return torch.tensor(states).double()


@pytest.mark.parametrize("highway", [False, True])
def test_two_layers_in_loops(highway):
    encoder = encoder_of(highway=highway, n_layers=2).eval()
    words = torch.randn(3, 4, 6).double()
    states = encoder(words, MASK)
    for row, length in enumerate(LENGTHS):
        expected = words[row, :length]
        for forwards, backwards in zip(encoder.forwards, encoder.backwards, strict=True):
            ahead = in_loops(forwards, expected, torch.ones(5))
            back = in_loops(backwards, expected.flip(0), torch.ones(5)).flip(0)
            expected = torch.cat([ahead, back], -1)
        assert_close(states[row, :length], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("highway", [False, True])
def test_dropout_on_the_recurrence_in_loops(highway):
    encoder = encoder_of(highway=highway, recurrent_dropout=0.4)
    words = torch.randn(3, 4, 6).double()
    torch.manual_seed(2)
    states = encoder(words, MASK)
    torch.manual_seed(2)
    ones = torch.ones(2 * 3, 1, 5).double()
    ahead, back = variational_dropout(ones, 0.4, training=True)[:, 0].split(3)
    assert {*ahead.unique().tolist()} == {0.0, 1 / 0.6} and not torch.equal(ahead, back)
    for row, length in enumerate(LENGTHS):
        own = words[row, :length]
        expected = [in_loops(encoder.forwards[0], own, ahead[row])]
        expected.append(in_loops(encoder.backwards[0], own.flip(0), back[row]).flip(0))
        assert_close(states[row, :length], torch.cat(expected, -1), atol=1e-6, rtol=0)


def test_dropout_on_the_recurrence_ends_with_training():
    plain, dropped = (encoder_of(highway=False, recurrent_dropout=rate) for rate in (0.0, 0.5))
    words = torch.randn(3, 4, 6).double()
    assert not torch.equal(plain(words, MASK), dropped(words, MASK))
    assert torch.equal(plain.eval()(words, MASK), dropped.eval()(words, MASK))


def test_dropout_on_the_output():
    plain, dropped = (encoder_of(highway=False, output_dropout=rate) for rate in (0.0, 0.5))
    words = torch.randn(3, 4, 6).double()
    ratio = dropped(words, MASK) / plain(words, MASK)
    assert_close(ratio.unique(dim=1), ratio[:, :1])  # the same at every word
    assert_close(ratio.round(decimals=9).unique(), torch.tensor([0.0, 2.0]).double())
    assert torch.equal(plain.eval()(words, MASK), dropped.eval()(words, MASK))


@pytest.mark.parametrize("choices", [{"highway": True}, {"highway": False}], ids=str)
def test_steps_have_gradients_and_ignore_padding(choices):
    encoder = encoder_of(**choices, n_layers=2, recurrent_dropout=0.3)
    words = torch.randn(3, 4, 6).double().requires_grad_()
    torch.manual_seed(3)
    before = encoder(words, MASK)
    before[MASK].square().sum().backward()
    assert bool((words.grad[~MASK] == 0).all()) and bool((words.grad[MASK] != 0).any(-1).all())
    assert all(bool((weight.grad != 0).any()) for weight in encoder.parameters())
    with torch.no_grad():
        words[~MASK] = 100.0
        torch.manual_seed(3)
        assert_close(encoder(words, MASK)[MASK], before[MASK], atol=0, rtol=0)


def test_memory_is_not_rounded_in_mixed_precision():
    encoder = encoder_of(highway=True, n_layers=2).float()
    words, mask = torch.randn(2, 40, 6), torch.ones(2, 40, dtype=torch.bool)
    expected = encoder(words, mask)
    with torch.autocast("cpu", torch.bfloat16):
        states = encoder(words.bfloat16(), mask)
    assert states.dtype == torch.float32
    assert_close(states, expected, atol=0.2, rtol=0.1)


def test_start_of_a_highway():
    lstm = HighwayLSTM(9, 4)
    for block in lstm.of_state.weight.detach().split(4):
        assert_close(block @ block.T, torch.eye(4), atol=1e-5, rtol=0)
    assert lstm.of_state.bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 12


def test_no_word_vectors():
    with pytest.raises(ConfigError, match="expected a source of word vectors, got none"):
        BiLSTM(0, width=4, n_layers=1, dropout=0.0)
