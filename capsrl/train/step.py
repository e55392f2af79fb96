"""A network and what makes it learn: one batch in, better weights out."""

import contextlib
import math
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from capsrl.config import LossConfig, TrainConfig
from capsrl.errors import ConfigError, ModelError
from capsrl.model.batches import Batch
from capsrl.model.loss import GOLD_FIELDS, compute_loss, count_known
from capsrl.model.network import Network
from capsrl.train.checkpoint import optimizer_tensors, restore_optimizer
from capsrl.train.optim import (
    Average,
    Gradient,
    make_groups,
    make_optimizer,
    set_rates,
    trained_parameters,
)
from capsrl.train.processes import Processes

PARTS = ("total", "roles", "uniqueness", "senses", "predicates", "tags")


class Learner:
    """The network with its optimizer, gradient, running average and the losses so far.

    A step never waits for a GPU; `losses` does.
    """

    def __init__(
        self, network: Network, *, train: TrainConfig, loss: LossConfig, processes: Processes
    ) -> None:
        self.network = network.to(processes.device)
        self._loss = loss
        self._clip = train.clip
        self._processes = processes
        self._bf16 = train.bf16 and processes.device.type == "cuda"
        self._parameters = trained_parameters(network)
        groups = make_groups(
            self._parameters,
            network.parameter_layers(),
            learning_rate=train.learning_rate,
            transformer_rate=train.transformer_rate,
            layer_decay=train.layer_decay,
            weight_decay=train.weight_decay,
        )
        weights = [weight for _, weight in self._parameters]
        self._optimizer = make_optimizer(groups, l2=loss.l2)
        self._gradient = Gradient(weights)
        self._average = Average(weights, train.average) if train.average else None
        # Summed losses and number of steps, since the last line of the log and in this epoch.
        self._sums = torch.zeros(2, len(PARTS) + 1, device=processes.device)

    def step(self, batch: Batch | None, factor: float, number: int) -> None:
        """Learn from one batch, at `factor` times the full rates; `number` counts steps from 1.

        batch   this process's share of it; None if it has none
        """
        self._gradient.clear()
        self._sums[:, -1] += 1
        self._backward(None if batch is None else batch.to(self._processes.device))
        self._processes.add_up(self._gradient.flat)
        self._gradient.clip(self._clip)
        set_rates(self._optimizer, factor)
        self._optimizer.step()
        if self._average is not None:
            self._average.update(number)

    def _backward(self, batch: Batch | None) -> None:
        n_known = None
        if self._processes.count > 1:
            # Means over the whole batch, whatever this process's share: the sum of the gradients
            # is then that of one process.
            device = self._processes.device
            n_known = torch.zeros(len(GOLD_FIELDS), dtype=torch.long, device=device)
            if batch is not None and batch.gold is not None:
                n_known += count_known(batch.gold)
            self._processes.add_up(n_known)
        if batch is None:
            return
        device_type = self._processes.device.type
        with torch.autocast(device_type, dtype=torch.bfloat16, enabled=self._bf16):
            output = self.network(batch)
            losses = compute_loss(
                output,
                batch,
                sense_weight=self._loss.sense,
                predicate_weight=self._loss.predicates,
                tag_weight=self._loss.tags,
                uniqueness_weight=self._loss.uniqueness,
                intermediate_weight=self._loss.earlier,
                gumbel=self._loss.gumbel,
                n_known=n_known,
            )
        losses.total.backward()  # type: ignore[no-untyped-call]
        self._sums[:, :-1] += torch.stack([getattr(losses, name).detach() for name in PARTS])

    def losses(self, *, epoch: bool) -> dict[str, float]:
        """Mean losses per step since this was last asked, or since the epoch began.

        Raises ConfigError if they are no numbers any more. Waits for the GPU.
        """
        sums = self._sums[int(epoch)].clone()
        self._sums[: 1 + int(epoch)] = 0.0
        self._processes.add_up(sums)
        *parts, steps = sums.tolist()
        n_steps = max(1.0, steps / self._processes.count)
        if not math.isfinite(parts[0]):
            raise ConfigError(
                f"training: expected a finite loss, got {parts[0]}; "
                "lower train.learning_rate, or give it a longer train.warmup"
            )
        names = ("loss", *(f"loss_{name}" for name in PARTS[1:]))
        return {name: part / n_steps for name, part in zip(names, parts, strict=True)}

    @contextlib.contextmanager
    def kept_weights(self) -> Iterator[None]:
        """Within the block the network has the weights to score and keep: the average, if any."""
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
        """All that a checkpoint needs; what is frozen is read again from where it came."""
        tensors = {f"weight.{name}": weight.detach() for name, weight in self._parameters}
        tensors |= optimizer_tensors(self._optimizer)
        if self._average is not None:
            for (name, _), value in zip(self._parameters, self._average.values, strict=True):
                tensors[f"average.{name}"] = value
        return {**tensors, "sums": self._sums}

    def restore(self, tensors: Mapping[str, Tensor], *, source: str) -> None:
        """Put back what `tensors` took; raises ModelError naming `source` if it does not fit."""
        expected = {f"weight.{name}": tuple(weight.shape) for name, weight in self._parameters}
        got = {name: tuple(tensors[name].shape) for name in tensors if name.startswith("weight.")}
        wrong = sorted(
            name.removeprefix("weight.")
            for name in expected.keys() | got.keys()
            if expected.get(name) != got.get(name)
        )
        if wrong:
            raise ModelError(
                f"{source}: expected the weights of this recipe, got others for "
                f"{', '.join(wrong[:5])}; was it written by another version of capsrl?"
            )
        with torch.no_grad():
            for number, (name, weight) in enumerate(self._parameters):
                weight.copy_(tensors[f"weight.{name}"])
                if self._average is not None:
                    self._average.values[number].copy_(tensors[f"average.{name}"])
        restore_optimizer(self._optimizer, tensors)
        self._sums.copy_(tensors["sums"])
