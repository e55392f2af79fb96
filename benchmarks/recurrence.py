"""Compare the kernel that reads the words of an LSTM in training with what it replaces; on a GPU.

    python benchmarks/recurrence.py [--repeat 20]

A step of a BiLSTM, forward and backward, in bf16: with the kernel of capsrl/network/recurrence.py,
and without it (word by word with dropout on the recurrence, else cuDNN). Prints the milliseconds
until the GPU is done, their ratio, and the relative errors of states and gradients against 32-bit
floats. Run it on a GPU that does nothing else.
"""

import argparse
import math
import time
from unittest import mock

import torch
from torch import Tensor

from capsrl.network import encoder
from capsrl.network.encoder import BiLSTM

# Sentences, words, input, units, layers, dropout on the recurrence.
CASES = {
    "paper": (50, 20, 384, 500, 3, 0.3),
    "frozen encoder": (125, 16, 384, 300, 2, 0.0),
    "long sentences": (24, 80, 384, 300, 2, 0.0),
    "predicate layer": (500, 25, 192, 192, 1, 0.0),
    "wide": (24, 80, 384, 500, 2, 0.0),  # training leaves these to cuDNN
}


class Case:
    """A BiLSTM with a batch and a gradient of its states."""

    def __init__(self, name: str) -> None:
        n_sentences, n_words, n_inputs, width, n_layers, dropout = CASES[name]
        torch.manual_seed(0)
        self.lstm = BiLSTM(
            n_inputs, width=width, n_layers=n_layers, dropout=0.0, recurrent_dropout=dropout
        ).cuda()
        self.words = torch.randn(n_sentences, n_words, n_inputs, device="cuda")
        self.mask = torch.ones(n_sentences, n_words, dtype=torch.bool, device="cuda")
        self.gradient = torch.randn(n_sentences, n_words, 2 * width, device="cuda")

    def step(self, *, bf16: bool = True) -> list[Tensor]:
        """States and gradients."""
        torch.manual_seed(1)  # of the dropout
        self.lstm.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
            states = self.lstm(self.words, self.mask)
        states.float().backward(self.gradient)
        gradients = [weight.grad for weight in self.lstm.parameters() if weight.grad is not None]
        return [states.detach().float(), torch.cat([each.flatten() for each in gradients])]

    def milliseconds(self, repeat: int) -> float:
        """The time of a step."""
        for _ in range(3):
            self.step()
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(repeat):
            self.step()
        torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - start) / repeat


def main() -> None:
    """Compare both in every case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=20)
    repeat = parser.parse_args().repeat
    for name in CASES:
        case = Case(name)
        exact = case.step(bf16=False)
        with mock.patch.object(encoder, "_FASTER_UP_TO", math.inf):  # the kernel in all cases
            errors, kernel = errors_of(case, exact), case.milliseconds(repeat)
        with mock.patch.object(encoder, "find_kernel", lambda words: None):
            old_errors, old = errors_of(case, exact), case.milliseconds(repeat)
        print(f"{name}: {kernel:.2f} ms instead of {old:.2f}, ratio {kernel / old:.2f}")
        print(f"  errors of states and gradients {errors} instead of {old_errors}")


def errors_of(case: Case, exact: list[Tensor]) -> str:
    """Relative to the norm."""
    found = zip(case.step(), exact, strict=True)
    return ", ".join(f"{float((new - old).norm() / old.norm()):.1e}" for new, old in found)


if __name__ == "__main__":
    main()
