"""States of words in, a parse and tags out: an auxiliary task that only training sees.

A word's part of speech, head and relation (Dozat and Manning, 2017) are learned from the same
states as the roles. Arguments are annotated on syntactic heads, so an encoder that knows the tree
finds them more easily; the tree itself is never an input.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Parse:
    """Scores of a parse.

    tags       B T G    part of speech
    heads      B T T    which word is the head of which; a root is its own
    relations  B T L    the relation to the gold head, when that was given
    """

    tags: Tensor
    heads: Tensor
    relations: Tensor


class Parser(nn.Module):
    """A biaffine parser and a tagger over the states."""

    def __init__(self, state_width: int, *, width: int, n_tags: int, n_relations: int) -> None:
        super().__init__()
        self.tags = nn.Linear(state_width, n_tags)
        self.dependent = nn.Linear(state_width, width)
        self.head = nn.Linear(state_width, width)
        self.arc = nn.Linear(width, width)
        self.relation = nn.Linear(2 * width, n_relations)

    def forward(self, states: Tensor, mask: Tensor, gold_heads: Tensor) -> Parse:
        """Score tags, heads, and the relation to each word's gold head.

        states      B T H
        mask        B T    True at words
        gold_heads  B T    positions; negative where unknown
        """
        dependents = functional.gelu(self.dependent(states))  # B T width
        heads = functional.gelu(self.head(states))
        arcs = torch.bmm(self.arc(dependents), heads.transpose(1, 2))  # B T T
        arcs = arcs.masked_fill(~mask.unsqueeze(1), -torch.inf)
        order = gold_heads.clamp(min=0).unsqueeze(-1).expand(-1, -1, heads.shape[-1])
        pairs = torch.cat([dependents, heads.gather(1, order)], -1)
        return Parse(self.tags(states), arcs, self.relation(pairs))
