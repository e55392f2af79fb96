"""The words of an LSTM one after the other, in one kernel for a GPU.

Started from Python, the small operations of every word take far longer than the work they do. Here
a block of the GPU reads some sentences from the first word to the last; the weights come from its
cache again for every word. Triton comes with torch for NVIDIA's GPUs.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, untyped-decorator"

import functools
import warnings
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_ROWS = 16  # sentences of a block


def scan(of_words: Tensor, of_state: Tensor, bias: Tensor, kept: Tensor) -> Tensor:
    """The states of both directions; as `read_words` in encoder.py, without a highway.

    of_words  2 B T 4H  what the words give to the gates
    of_state  2 4H H    what a state gives to them, and bias 2 4H
    kept      2 B H     factors on the state that a word passes on to the next one
    ->        2 B T H
    """
    n_rows, width = kept.shape[1:]
    rows, units = -n_rows % _ROWS, -width % 64
    given = (of_words + bias[:, None, None]).to(of_words.dtype).unflatten(-1, (4, width))
    # What is added has no bias: units that are not there stay 0.
    given = functional.pad(given, (0, units, 0, 0, 0, 0, 0, rows))
    weights = of_state.to(given.dtype).unflatten(1, (4, width))
    weights = functional.pad(weights, (0, units, 0, units))
    kept = functional.pad(kept, (0, units, 0, rows))
    with torch.cuda.device_of(given):  # kernels start on the current one
        states: Tensor = _Scan.apply(given.contiguous(), weights.contiguous(), kept.contiguous())
    return states[:, :n_rows, :, :width]


@functools.cache
def can_start(device: torch.device) -> bool:
    """Whether kernels start: to compile them Triton needs a C compiler and Python's headers."""
    word = torch.zeros(2, 1, 1, 4, dtype=torch.bfloat16, device=device)
    try:
        scan(word, word[:, 0, 0, :, None], word[:, 0, 0], word[:, 0, :, :1].float())
    except Exception as error:
        warnings.warn(f"an LSTM is trained without its kernel: {error}", stacklevel=2)
        return False
    return True


class _Scan(torch.autograd.Function):
    """given 2 B T 4 H, weights 2 4 H H, kept 2 B H -> 2 B T H, where kernels fit B and H."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, weights: Tensor, kept: Tensor) -> Tensor:
        _, n_rows, n_words, _, width = given.shape
        gates = torch.empty_like(given, dtype=torch.float32)
        # One more word, before the first.
        memory = gates.new_zeros(2, n_rows, n_words + 1, width)
        passed = torch.zeros_like(memory, dtype=given.dtype)
        states = gates.new_empty(2, n_rows, n_words, width)
        _read_forward[n_rows // _ROWS, 2](
            given, weights, kept, gates, memory, passed, states,
            n_words, width, _ROWS, **_tiles(width, read=64),
        )  # fmt: skip
        ctx.save_for_backward(weights, kept, gates, memory, passed)
        return states

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *of_states: Tensor) -> tuple[Tensor, Tensor, None]:
        weights, kept, gates, memory, passed = ctx.saved_tensors
        _, n_rows, n_words, _, width = gates.shape
        # One more word, after the last.
        of_gates = gates.new_zeros(2, n_rows, n_words + 1, 4, width, dtype=weights.dtype)
        of_memory = torch.zeros_like(kept)
        _read_backward[n_rows // _ROWS, 2](
            of_states[0].contiguous(), weights, kept, gates, memory, of_gates, of_memory,
            n_words, width, _ROWS, **_tiles(width, read=256),
        )  # fmt: skip
        of_given = of_gates[:, :, :n_words]
        of_weights = torch.einsum("dbtgh,dbtk->dghk", of_given, passed[:, :, :n_words])
        return of_given, of_weights, None


def _tiles(width: int, read: int) -> dict[str, int]:
    """Units that a block computes at a time, and how; the first was the fastest with 500 units.

    read  numbers of a sum that it reads at a time there
    """
    if width % 128 == 0:
        return {"READ": read, "UNITS": 128, "num_warps": 8, "num_stages": 2}
    return {"READ": 64, "UNITS": 64, "num_warps": 4, "num_stages": 3}


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit(do_not_specialize=["n_words"])
def _read_forward(
    given, weights, kept, gates, memory, passed, states,
    n_words, H: tl.constexpr, ROWS: tl.constexpr, READ: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """Arguments as in _Scan.forward; i, f, g and o are the gates."""
    side = tl.program_id(1).to(tl.int64)  # and with it all offsets
    row = side * tl.num_programs(0) * ROWS + tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    unit, read = tl.arange(0, UNITS), tl.arange(0, READ)
    weights += side * 4 * H * H
    for t in tl.range(0, n_words, num_stages=1):  # else a word may be read before it is written
        at = row * n_words + t
        before = row * (n_words + 1) + t
        for first in range(0, H, UNITS):
            here = first + unit[None, :]
            sum_i = tl.zeros((ROWS, UNITS), tl.float32)
            sum_f = tl.zeros((ROWS, UNITS), tl.float32)
            sum_g = tl.zeros((ROWS, UNITS), tl.float32)
            sum_o = tl.zeros((ROWS, UNITS), tl.float32)
            for other in range(0, H, READ):
                state = tl.load(passed + before * H + other + read[None, :])
                weight = weights + here * H + other + read[:, None]
                sum_i = tl.dot(state, tl.load(weight), sum_i)
                sum_f = tl.dot(state, tl.load(weight + H * H), sum_f)
                sum_g = tl.dot(state, tl.load(weight + 2 * H * H), sum_g)
                sum_o = tl.dot(state, tl.load(weight + 3 * H * H), sum_o)
            word = given + at * 4 * H + here
            i = tl.sigmoid(sum_i + tl.load(word))
            f = tl.sigmoid(sum_f + tl.load(word + H))
            g = _tanh(sum_g + tl.load(word + 2 * H))
            o = tl.sigmoid(sum_o + tl.load(word + 3 * H))
            content = f * tl.load(memory + before * H + here) + i * g
            state = o * _tanh(content)
            gate = gates + at * 4 * H + here
            tl.store(gate, i)
            tl.store(gate + H, f)
            tl.store(gate + 2 * H, g)
            tl.store(gate + 3 * H, o)
            tl.store(memory + (before + 1) * H + here, content)
            tl.store(states + at * H + here, state)
            state *= tl.load(kept + row * H + here)
            tl.store(passed + (before + 1) * H + here, state.to(passed.dtype.element_ty))
        tl.debug_barrier()  # the next word needs the states of all units


@triton.jit(do_not_specialize=["n_words"])
def _read_backward(
    of_states, weights, kept, gates, memory, of_gates, of_memory,
    n_words, H: tl.constexpr, ROWS: tl.constexpr, READ: tl.constexpr, UNITS: tl.constexpr,
):  # fmt: skip
    """of_states, of_gates and of_memory are gradients; the others as in _Scan.backward."""
    side = tl.program_id(1).to(tl.int64)  # and with it all offsets
    row = side * tl.num_programs(0) * ROWS + tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    unit, read = tl.arange(0, UNITS), tl.arange(0, READ)
    weights += side * 4 * H * H
    for number in tl.range(0, n_words, num_stages=1):
        t = n_words - 1 - number
        at = row * n_words + t
        before = row * (n_words + 1) + t
        for first in range(0, H, UNITS):
            here = first + unit[None, :]
            of_state = tl.zeros((ROWS, UNITS), tl.float32)
            for other in range(0, 4 * H, READ):
                of_gate = tl.load(of_gates + (before + 1) * 4 * H + other + read[None, :])
                weight = tl.load(weights + (other + read[:, None]) * H + here)
                of_state = tl.dot(of_gate, weight, of_state)
            of_state *= tl.load(kept + row * H + here)
            of_state += tl.load(of_states + at * H + here)
            gate = gates + at * 4 * H + here
            i = tl.load(gate)
            f = tl.load(gate + H)
            g = tl.load(gate + 2 * H)
            o = tl.load(gate + 3 * H)
            content = _tanh(tl.load(memory + (before + 1) * H + here))
            of_content = of_state * o * (1 - content * content)
            of_content += tl.load(of_memory + row * H + here)
            tl.store(of_memory + row * H + here, of_content * f)
            to = of_gates + before * 4 * H + here
            kind = of_gates.dtype.element_ty
            tl.store(to, (of_content * g * i * (1 - i)).to(kind))
            last = tl.load(memory + before * H + here)
            tl.store(to + H, (of_content * last * f * (1 - f)).to(kind))
            tl.store(to + 2 * H, (of_content * i * (1 - g * g)).to(kind))
            tl.store(to + 3 * H, (of_state * content * o * (1 - o)).to(kind))
        tl.debug_barrier()
