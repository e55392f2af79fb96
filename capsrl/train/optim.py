"""Parameters in; groups with their own rates, one flat gradient, a running average out.

Everything here works in place on the device and never waits for it.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import Adam, AdamW, Optimizer

Named = list[tuple[str, nn.Parameter]]


def trained_parameters(network: nn.Module) -> Named:
    """The parameters that learn, with their names, in the order of the network."""
    return [(name, weight) for name, weight in network.named_parameters() if weight.requires_grad]


def make_groups(
    parameters: Named,
    layers: Mapping[str, int],
    *,
    learning_rate: float,
    transformer_rate: float,
    layer_decay: float,
    weight_decay: float,
) -> list[dict[str, Any]]:
    """Parameter groups of one rate and one decay each; `base_rate` is the rate at full height.

    layers   name -> depth, for the parameters of a fine-tuned transformer: 0 its embeddings, then
             1, 2, ... upwards; the topmost learns at transformer_rate, each one below it
             layer_decay times as fast as the one above
    Biases and norms (vectors) are not decayed.
    """
    top = max(layers.values(), default=0)
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, weight in parameters:
        depth = layers.get(name)
        rate = learning_rate if depth is None else transformer_rate * layer_decay ** (top - depth)
        decay = weight_decay if weight.dim() > 1 else 0.0
        groups.setdefault((rate, decay), []).append(weight)
    return [
        {"params": weights, "lr": rate, "base_rate": rate, "weight_decay": decay}
        for (rate, decay), weights in groups.items()
    ]


def make_optimizer(groups: list[dict[str, Any]], *, l2: float) -> Optimizer:
    """Adam with the L2 term of eq. 15 when `l2` is not 0, else AdamW; fused on a GPU.

    The gradient of l2 * |weights|^2 is 2 * l2 * weights, which Adam's weight_decay adds to the
    gradient of every parameter, after clipping.
    """
    fused = groups[0]["params"][0].is_cuda
    if l2 > 0:
        for group in groups:
            group["weight_decay"] = 2 * l2
        return Adam(groups, fused=fused)
    return AdamW(groups, fused=fused)


def set_rates(optimizer: Optimizer, factor: float) -> None:
    """Bring every group to `factor` times its full rate."""
    for group in optimizer.param_groups:
        group["lr"] = group["base_rate"] * factor


def rate_factor(
    done: float, step: float, *, warmup: float, decay: Literal["none", "linear", "cosine"]
) -> float:
    """How high the rates stand when the share `done` of the run lies behind, `step` being one step.

    They rise in a straight line over the first `warmup`, then stay, or fall to 0 at the end.
    The first step is never at 0, nor is the last.
    """
    if done < warmup:
        return min(1.0, (done + step) / warmup)
    left = (1 - done) / (1 - warmup)
    if decay == "linear":
        return left
    if decay == "cosine":
        return 0.5 * (1 + math.cos(math.pi * (1 - left)))
    return 1.0


class Gradient:
    """All gradients as one vector, of which every parameter's `.grad` is a view.

    One call then clears, sums over processes or clips them, and a parameter that a batch does not
    touch has a gradient of 0, so a step does not depend on how a batch was split.
    """

    def __init__(self, parameters: Iterable[nn.Parameter]) -> None:
        self._weights = list(parameters)
        like, sizes = self._weights[0], [weight.numel() for weight in self._weights]
        self.flat = torch.zeros(sum(sizes), dtype=like.dtype, device=like.device)
        for weight, view in zip(self._weights, torch.split(self.flat, sizes), strict=True):
            weight.grad = view.view_as(weight)

    def clear(self) -> None:
        """Start a new step."""
        first = self._weights[0].grad
        # Moving a network to another device gives its weights gradients of their own.
        assert first is not None and first.data_ptr() == self.flat.data_ptr(), "network was moved"
        self.flat.zero_()

    def clip(self, limit: float) -> Tensor:
        """Scale the gradient down to at most `limit`; returns its length before, on the device."""
        norm: Tensor = torch.linalg.vector_norm(self.flat)
        self.flat.mul_((limit / (norm + 1e-6)).clamp(max=1.0))
        return norm


class Average:
    """The running average of the weights: smoother than the weights, and it is what is kept.

    The decay starts low and rises to `decay`, or the random initial weights would linger.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self._weights = list(parameters)
        self.values = [weight.detach().clone() for weight in self._weights]

    def update(self, step: int) -> None:
        """Take in the weights after step number `step`, counted from 1."""
        decay = min(self.decay, step / (step + 10))
        weights = [weight.detach() for weight in self._weights]
        torch._foreach_lerp_(self.values, weights, 1 - decay)

    def swap(self) -> None:
        """Exchange weights and average; a second call changes them back."""
        with torch.no_grad():
            for weight, value in zip(self._weights, self.values, strict=True):
                kept = weight.detach().clone()
                weight.copy_(value)
                value.copy_(kept)
