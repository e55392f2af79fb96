"""Parameter groups, learning rates, gradient clipping, spikes and moving average of the weights.

Everything here works in place on the device, without waiting for it.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer
from torch.optim.swa_utils import get_ema_multi_avg_fn

Named = list[tuple[str, nn.Parameter]]


def trained_parameters(network: nn.Module) -> Named:
    """List the parameters that are trained, with their names, in the order of the network."""
    return [(name, weight) for name, weight in network.named_parameters() if weight.requires_grad]


def make_groups(
    parameters: Named,
    layers: Mapping[str, int],
    *,
    learning_rate: float,
    transformer_rate: float,
    layer_decay: float,
    weight_decay: float,
    l2_on: str = "all",
) -> list[dict[str, Any]]:
    """Group parameters by learning rate and weight decay; `base_rate` is the rate after warm-up.

    layers   depth of the parameters of a fine-tuned transformer, by name: 0 for its embeddings,
             then 1, 2, ... upwards. The top layer has transformer_rate, each layer below it
             layer_decay times the rate of the layer above
    l2_on    mix: only the weights of mixed layers get the L2 term of `make_optimizer`
    Biases and norms (vectors) have no weight decay.
    """
    top = max(layers.values(), default=0)
    groups: dict[tuple[float, float, bool], list[nn.Parameter]] = {}
    for name, weight in parameters:
        depth = layers.get(name)
        rate = learning_rate if depth is None else transformer_rate * layer_decay ** (top - depth)
        decay = weight_decay if weight.dim() > 1 else 0.0
        has_l2 = l2_on == "all" or name.endswith(".mix.weights")
        groups.setdefault((rate, decay, has_l2), []).append(weight)
    return [
        {"params": weights, "lr": rate, "base_rate": rate, "weight_decay": decay, "has_l2": has_l2}
        for (rate, decay, has_l2), weights in groups.items()
    ]


def make_optimizer(groups: list[dict[str, Any]], *, l2: float) -> Optimizer:
    """Make Adam with the L2 term of eq. 16 if `l2` is not 0, else AdamW; fused on a GPU.

    The gradient of l2 * |weights|^2 is 2 * l2 * weights, which Adam's weight_decay adds to the
    gradient of the parameters that have it, after clipping.
    """
    fused = groups[0]["params"][0].is_cuda
    if l2 > 0:
        for group in groups:
            group["weight_decay"] = 2 * l2 if group["has_l2"] else 0.0
        return Adam(groups, fused=fused)
    return AdamW(groups, fused=fused)


def set_rates(optimizer: Optimizer, factor: float | Tensor) -> None:
    """Set the learning rate of every group to `factor` times its base rate.

    factor   a number, or a scalar on the device of the parameters
    """
    for group in optimizer.param_groups:
        group["lr"] = group["base_rate"] * factor


def rate_factor(
    done: float,
    one_step: float,
    *,
    warmup: float,
    schedule: Literal["constant", "linear", "cosine"],
) -> float:
    """Compute the factor on the learning rates when the share `done` of the run is done.

    It rises linearly over the first `warmup`, then stays at 1 or falls to 0 at the end.
    `one_step` is the share of one step; neither the first nor the last step has a factor of 0.
    """
    if done < warmup:
        return min(1.0, (done + one_step) / warmup)
    left = (1 - done) / (1 - warmup)
    if schedule == "linear":
        return left
    if schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (1 - left)))
    return 1.0


class Gradient:
    """All gradients as one vector, of which every parameter's `.grad` is a view once gathered.

    One call sums them over processes or clips all of them. A parameter that a batch does not use
    has a gradient of 0 instead of None, so a step does not depend on how a batch is split between
    processes.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._weights = list(parameters)
        like, sizes = self._weights[0], [weight.numel() for weight in self._weights]
        self.flat = torch.zeros(sum(sizes), dtype=like.dtype, device=like.device)
        parts = torch.split(self.flat, sizes)
        self._views = [
            part.view_as(weight) for part, weight in zip(parts, self._weights, strict=True)
        ]

    def clear(self) -> None:
        """Forget the gradients, so that a backward pass need not add to them."""
        for weight in self._weights:
            weight.grad = None

    def gather(self) -> None:
        """Copy the gradients of a backward pass to the vector; for a moment both are in memory."""
        assert self._weights[0].device == self.flat.device, "network was moved"
        # torch documents the `_foreach_` functions in spite of their underscore.
        torch._foreach_copy_(
            self._views,
            [torch.zeros_like(w) if w.grad is None else w.grad for w in self._weights],
        )
        for view, weight in zip(self._views, self._weights, strict=True):
            weight.grad = view

    def norm(self) -> Tensor:
        """Compute the norm of the gradient, on the device."""
        norm: Tensor = torch.linalg.vector_norm(self.flat)
        return norm

    def clip(self, max_norm: float, *, each: bool = False) -> Tensor:
        """Clip the norm of the gradient; returns the norm before clipping, on the device.

        each  clip the gradient of every parameter by itself
        """
        norm = self.norm()
        if each:
            # `clip_grad_norm_` for each parameter gives the same numbers, but takes 8 ms more for
            # 180 of them.
            norms = torch.stack(torch._foreach_norm(self._views))
            factors = (max_norm / (norms + 1e-6)).clamp(max=1.0)
            torch._foreach_mul_(self._views, factors.unbind())
        else:
            self.flat.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
        return norm


class SpikeGuard:
    """Limits steps whose gradient is far larger than usual: spikes.

    In a spike the gradient is scaled down to the usual norm, and the learning rates fall to a
    quarter, at most to 1/16 of what the schedule says; in every other step they rise again by 5 %.
    So one bad batch hardly moves the weights, neither at once nor by Adam's momentum, and a run
    whose rates are too high for a while continues with lower ones.

    The usual norm is a running geometric mean over about `memory` steps. A step counts as at most
    `max_spike` times the usual norm, so a few spikes hardly change what is usual, but norms that
    stay large become usual: by a factor of `max_spike` in `memory` steps.

    usual   the usual norm; 0 before the first gradient
    rate    the factor on the learning rates
    count   spikes so far
    """

    def __init__(self, max_spike: float, *, memory: int = 100, device: torch.device) -> None:
        self._max_spike = max_spike
        self._memory = memory
        self.usual = torch.zeros((), device=device)
        self.rate = torch.ones((), device=device)
        self.count = torch.zeros((), device=device)

    def limit(self, norm: Tensor, step: int, *, warming_up: bool = False) -> Tensor:
        """Compute the factor on the gradient of a step, on the device; sets `rate`.

        norm        of the gradient; if it is not finite it is not a spike: the loss then shows it
        step        its number, from 1
        warming_up  norms may rise quickly then, as in the first `memory` steps: nothing is a spike
        """
        is_spike = (norm > self._max_spike * self.usual) & (self.usual > 0) & norm.isfinite()
        if warming_up or step <= self._memory:
            is_spike = torch.zeros_like(is_spike)
        self.count += is_spike
        rate = torch.where(is_spike, self.rate / 4, self.rate * 1.05)
        self.rate = rate.clamp(1 / 16, 1.0)
        factor = torch.where(is_spike, self.usual / norm, 1.0)
        self._update(norm, 1 / min(step, self._memory))
        return factor

    def tensors(self) -> dict[str, Tensor]:
        """The state, by the names it has in a checkpoint."""
        return {"usual_norm": self.usual, "spike_rate": self.rate, "spikes": self.count}

    def _update(self, norm: Tensor, weight: float) -> None:
        """Include a norm in the running mean; the norm 0, of a step without targets, is not."""
        change = (norm / self.usual).clamp(1 / self._max_spike, self._max_spike) ** weight
        updated = torch.where(self.usual > 0, self.usual * change, norm)
        self.usual = torch.where((norm > 0) & norm.isfinite(), updated, self.usual)


class MovingAverage:
    """Exponential moving average of the weights.

    The decay starts low and rises to `decay`, so that the random initial weights fade quickly.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self._weights = list(parameters)
        self.values = [weight.detach().clone() for weight in self._weights]

    def update(self, step: int) -> None:
        """Include the weights after step number `step`, counted from 1."""
        decay = min(self.decay, step / (step + 10))
        update = get_ema_multi_avg_fn(decay)  # type: ignore[no-untyped-call]
        update(self.values, [weight.detach() for weight in self._weights], step)

    def swap(self) -> None:
        """Exchange weights and average; a second call exchanges them back."""
        with torch.no_grad():
            for weight, value in zip(self._weights, self.values, strict=True):
                before = weight.detach().clone()
                weight.copy_(value)
                value.copy_(before)
