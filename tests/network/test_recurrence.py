"""The kernels against the loop of words that they replace; only a GPU can run them."""

import pytest
import torch

from capsrl.network import encoder
from capsrl.network.encoder import BiLSTM

SHAPES = [
    (1, 1, 3),
    (19, 7, 70),
    (19, 7, 150),
    (50, 23, 500),
    (130, 4, 64),
]  # sentences, words, units


def train_on(lstm, words, mask, gradient, *, bf16):
    """States, and all gradients as one vector."""
    torch.manual_seed(3)  # of the dropout
    lstm.zero_grad(set_to_none=True)
    words = words.clone().requires_grad_()
    with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
        states = lstm(words, mask)
    states.float().backward(gradient)
    gradients = [words.grad, *(weight.grad for weight in lstm.parameters())]
    return states.detach().float(), torch.cat([each.flatten() for each in gradients])


def error(found, expected):
    return float((found - expected).norm() / expected.norm())


@pytest.mark.gpu
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("shape", SHAPES)
def test_states_and_gradients_are_those_of_the_loop(shape, dropout, monkeypatch):
    recurrence = pytest.importorskip("capsrl.network.recurrence")
    monkeypatch.setattr(encoder, "_FASTER_UP_TO", 500)
    n_sentences, n_words, width = shape
    torch.manual_seed(1)
    lstm = BiLSTM(24, width=width, n_layers=2, dropout=0.1, recurrent_dropout=dropout).cuda()
    words = torch.randn(n_sentences, n_words, 24, device="cuda")
    lengths = torch.randint(1, n_words + 1, (n_sentences, 1), device="cuda")
    mask = torch.arange(n_words, device="cuda") < lengths
    gradient = torch.randn(n_sentences, n_words, 2 * width, device="cuda")
    expected = train_on(lstm, words, mask, gradient, bf16=False)
    found = train_on(lstm, words, mask, gradient, bf16=True)
    monkeypatch.setattr(recurrence, "scan", encoder.read_words)
    loop = train_on(lstm, words, mask, gradient, bf16=True)
    for exact, ours, theirs in zip(expected, found, loop, strict=True):
        assert error(ours, exact) < 0.02
        assert error(ours, exact) < 1.5 * error(theirs, exact)
