"""Train a network on batches: loss, gradient clipping, optimizer, moving average."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.optim import Optimizer

from capsrl.config import Recipe
from capsrl.errors import ConfigError
from capsrl.network.batches import Batch
from capsrl.network.embeddings.pretrained import check_weights
from capsrl.network.loss import TARGETS, Losses, compute_loss, count_targets
from capsrl.network.network import Network
from capsrl.train.checkpoint import optimizer_tensors, restore_optimizer
from capsrl.train.optim import (
    Gradient,
    MovingAverage,
    SpikeGuard,
    make_groups,
    make_optimizer,
    set_rates,
    trained_parameters,
)
from capsrl.train.processes import Processes

TERMS = tuple(field.name for field in fields(Losses))


class Trainer:
    """A network with its optimizer, gradient, moving average and the sums of its losses.

    Training is at most one step ahead of a GPU; `losses` waits for it.

    network     on the device of the process
    optimizer   of its trained parameters, with `base_rate` in every group
    loss        `compute_loss` with its weights; called with output, batch and n_known=
    clip_each   clip the gradient of each parameter by itself
    max_spike   limit a step whose gradient norm is more than this times the usual one; 0 for never
    ema_decay   0 for no moving average
    """

    def __init__(
        self,
        network: Network,
        optimizer: Optimizer,
        loss: Callable[..., Losses],
        processes: Processes,
        *,
        clip_norm: float,
        ema_decay: float,
        bf16: bool,
        clip_each: bool = False,
        max_spike: float = 0.0,
    ) -> None:
        self.network = network
        self._optimizer = optimizer
        self._loss = loss
        self._processes = processes
        self._clip_norm = clip_norm
        self._clip_each = clip_each
        self._bf16 = bf16 and processes.device.type == "cuda"
        self._parameters = trained_parameters(network)
        weights = [weight for _, weight in self._parameters]
        self._gradient = Gradient(weights)
        self._guard = SpikeGuard(max_spike, device=processes.device) if max_spike else None
        self._average = MovingAverage(weights, ema_decay) if ema_decay else None
        # Sums of the losses and number of steps: row 0 since the last log line, row 1 in this
        # epoch.
        self._sums = torch.zeros(2, len(TERMS) + 1, device=processes.device)
        self._norm = torch.zeros((), device=processes.device)  # maximum since the last log line
        self._done: torch.cuda.Event | None = None  # when the step before was
        if processes.device.type == "cuda":
            self._done = torch.cuda.Event(blocking=True)  # type: ignore[no-untyped-call]

    def train_on(
        self, batch: Batch | None, factor: float, number: int, *, warming_up: bool = False
    ) -> None:
        """Train on one batch with `factor` times the base rates; `number` counts steps from 1.

        batch       this process's share of it; None if it has none
        warming_up  large gradients are normal: limit none as a spike
        """
        self._gradient.clear()
        self._sums[:, -1] += 1
        self._backward(None if batch is None else batch.to(self._processes.device))
        self._gradient.gather()
        self._processes.sum(self._gradient.flat)
        norm = self._gradient.norm()
        self._norm = torch.maximum(self._norm, norm)
        if self._guard is None:
            set_rates(self._optimizer, factor)
        else:
            self._gradient.flat.mul_(self._guard.limit(norm, number, warming_up=warming_up))
            set_rates(self._optimizer, factor * self._guard.rate)
        self._gradient.clip(self._clip_norm, each=self._clip_each)
        self._optimizer.step()
        if self._average is not None:
            self._average.update(number)
        if self._done is not None:
            # A host that is far ahead of the GPU spins, at the cost of other trainings.
            self._done.synchronize()
            self._done.record(torch.cuda.current_stream(self._processes.device))

    def _backward(self, batch: Batch | None) -> None:
        # All processes must take part in the sum, even one without sentences.
        n_known = self._count_known(batch) if self._processes.world_size > 1 else None
        if batch is None:
            return
        device_type = self._processes.device.type
        with torch.autocast(device_type, dtype=torch.bfloat16, enabled=self._bf16):
            losses = self._loss(self.network(batch), batch, n_known=n_known)
        losses.total.backward()  # type: ignore[no-untyped-call]
        self._sums[:, :-1] += torch.stack([getattr(losses, name).detach() for name in TERMS])

    def _count_known(self, batch: Batch | None) -> Tensor:
        """Count the targets of the batch over all processes.

        The losses are averaged over these counts, so that the gradients of the processes add up
        to the gradient of one process on the whole batch.
        """
        n_known = torch.zeros(len(TARGETS), dtype=torch.long, device=self._processes.device)
        if batch is not None:
            n_known += count_targets(batch)
        self._processes.sum(n_known)
        return n_known

    def losses(self, *, epoch: bool) -> dict[str, float]:
        """Compute the mean losses per step since the last call, or since the epoch began.

        Raises ConfigError if they are not finite. Waits for the GPU.
        """
        sums = self._sums[int(epoch)].clone()
        self._sums[: 1 + int(epoch)] = 0.0
        self._processes.sum(sums)
        *terms, steps = sums.tolist()
        n_steps = max(1.0, steps / self._processes.world_size)
        if not math.isfinite(terms[0]):
            raise ConfigError(
                f"the loss is {terms[0]}; lower train.learning_rate or raise train.warmup"
            )
        names = ("loss", *(f"loss_{name}" for name in TERMS[1:]))
        return {name: term / n_steps for name, term in zip(names, terms, strict=True)}

    def gradient_norm(self) -> float:
        """The maximum norm of the gradient, before clipping, since the last call."""
        norm = float(self._norm)
        self._norm.zero_()
        return norm

    def spikes(self) -> int:
        """The number of steps since the last call that were limited as spikes."""
        if self._guard is None:
            return 0
        count = int(self._guard.count)
        self._guard.count.zero_()
        return count

    @contextlib.contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Within the block the network is in eval mode and has the averaged weights, if any."""
        self.network.eval()
        if self._average is not None:
            self._average.swap()
        try:
            yield
        finally:
            if self._average is not None:
                self._average.swap()
            self.network.train()

    def tensors(self) -> dict[str, Tensor]:
        """Collect the tensors of a checkpoint; frozen weights are not among them."""
        tensors = {f"weight.{name}": weight.detach() for name, weight in self._parameters}
        tensors |= optimizer_tensors(self._optimizer)
        if self._average is not None:
            for (name, _), value in zip(self._parameters, self._average.values, strict=True):
                tensors[f"average.{name}"] = value
        if self._guard is not None:
            tensors |= self._guard.tensors()
        return {**tensors, "sums": self._sums, "gradient_norm": self._norm}

    def restore(self, tensors: Mapping[str, Tensor], *, path: Path) -> None:
        """Restore the tensors of a checkpoint; raises ModelError naming its path on a mismatch."""
        prefix = "weight."
        weights = {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}
        check_weights(weights, dict(self._parameters), source=path)
        with torch.no_grad():
            for number, (name, weight) in enumerate(self._parameters):
                weight.copy_(tensors[f"weight.{name}"])
                if self._average is not None:
                    self._average.values[number].copy_(tensors[f"average.{name}"])
        restore_optimizer(self._optimizer, tensors)
        self._sums.copy_(tensors["sums"])
        self._norm.copy_(tensors.get("gradient_norm", self._norm))  # older checkpoints lack it
        if self._guard is not None:
            for name, tensor in self._guard.tensors().items():
                tensor.copy_(tensors[name])


def make_trainer(recipe: Recipe, network: Network, processes: Processes) -> Trainer:
    """Make the trainer of a network that is on the device of the process."""
    train, loss, distill = recipe.train, recipe.loss, recipe.distill
    groups = make_groups(
        trained_parameters(network),
        network.parameter_layers(),
        learning_rate=train.learning_rate,
        transformer_rate=train.transformer_rate,
        layer_decay=train.layer_decay,
        weight_decay=train.weight_decay,
        l2_on=loss.l2_on,
    )
    with_weights = partial(
        compute_loss,
        sense_weight=loss.sense,
        predicate_weight=loss.predicates,
        tag_weight=loss.tags,
        phrase_weight=loss.phrases,
        uniqueness_weight=loss.uniqueness,
        intermediate_weight=loss.intermediate_weight,
        gumbel=loss.gumbel,
        sense_per_word=loss.sense_per == "word",
        unique_per_proposition=loss.uniqueness_per == "proposition",
        soft_weight=distill.weight,
        temperature=distill.temperature,
    )
    return Trainer(
        network,
        make_optimizer(groups, l2=loss.l2),
        with_weights,
        processes,
        clip_norm=train.clip_norm,
        clip_each=train.clip_each,
        max_spike=train.max_spike,
        ema_decay=train.ema_decay,
        bf16=train.bf16,
    )
