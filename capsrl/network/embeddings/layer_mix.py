"""A trained weighted average of the layers of a frozen encoder."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class LayerMix(nn.Module):
    """gamma * sum_l softmax(w)_l h_l over the layers h_l of an encoder (Peters et al., 2018)."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(()))

    def forward(self, layers: Sequence[Tensor]) -> Tensor:
        """Mix tensors of one shape into one of that shape."""
        shares = self.weights.softmax(0)
        return self.gamma * torch.stack(
            [share * layer for share, layer in zip(shares, layers, strict=True)]
        ).sum(0)
