"""Word capsules in, beliefs about roles out, every iteration kept: the paper's algorithm 1."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from capsrl.config import ROUTED
from capsrl.model.capsules import CapsuleForms, WordCapsules


@dataclass(frozen=True)
class Beliefs:
    """What the network thought after each iteration; logits[0] is before the first.

    logits  N+1 of P T R  b, zeros before the first iteration (one only where nothing iterates)
    roles   N of P R D    v, the role capsules: together the embedding of the proposition
    nodes   N of P D      g, the global node; empty without one
    """

    logits: list[Tensor] = field(default_factory=list)
    roles: list[Tensor] = field(default_factory=list)
    nodes: list[Tensor] = field(default_factory=list)

    @property
    def final(self) -> Tensor:
        """The role logits that count: P T R."""
        return self.logits[-1]


def squash(vectors: Tensor) -> Tensor:
    """Shorten vectors to a length in [0, 1), keeping their direction (eq. 7).

    vectors  ... D
    """
    squared = vectors.square().sum(-1, keepdim=True)
    # eps inside the root: a role that no word proposes has length 0, where sqrt has no gradient.
    return vectors * (squared / (1.0 + squared)) * torch.rsqrt(squared + 1e-8)


class Routing(nn.Module):
    """The parameters of routing, in the four variants the paper compares.

    capsule+global  eqs. 8 to 12       word      b = mean_k u: word capsules but no role capsules
    capsule         eqs. 8 to 10       baseline  eq. 4: b = u, capsules of size 1
    """

    def __init__(
        self,
        *,
        variant: str,
        n_roles: int,
        size: int,
        global_from: str,
        initial_agreement: float = 1.0,
    ) -> None:
        super().__init__()
        self.n_roles = n_roles
        self.size = size
        self.iterates = variant in ROUTED
        self.has_node = variant == "capsule+global"
        self.global_from = global_from
        if self.iterates:
            self.agreement = nn.Parameter(initial_agreement * torch.eye(size))  # W of eq. 10
        if self.has_node:
            self.node = nn.Linear(size * n_roles, size, bias=global_from == "squashed")  # eq. 11
            self.node_agreement = nn.Parameter(initial_agreement * torch.eye(size))  # W_g, eq. 12

    def forward(self, capsules: WordCapsules, mask: Tensor, *, n_iterations: int) -> Beliefs:
        """Let the words of a sentence agree on who fills each role of its predicate.

        mask  P T  True at words; padding proposes nothing, so batch mates change nothing
        """
        n_predicates, n_words = mask.shape
        present = mask.unsqueeze(-1).to(capsules.dtype)  # P T 1
        if not self.iterates:
            even = present.new_full((n_predicates, self.n_roles, self.size), 1 / self.size)
            return Beliefs([capsules.push(even)])
        logits = present.new_zeros(n_predicates, n_words, self.n_roles)
        beliefs = Beliefs([logits])
        # With all logits 0 every word is split evenly: the same weight for all roles.
        weights = present / self.n_roles  # P T 1
        for iteration in range(n_iterations):
            if iteration > 0:
                weights = logits.softmax(-1) * present  # P T R
            proposals = capsules.pull(weights)  # P R D
            roles = squash(proposals)
            directions = roles @ self.agreement
            if self.has_node:
                node = self._node(proposals, roles)  # P D
                directions = directions + (node @ self.node_agreement).unsqueeze(1)
                beliefs.nodes.append(node)
            # Added, not replaced: what was won in one iteration is not forgotten in the next.
            logits = logits + capsules.push(directions)
            beliefs.logits.append(logits)
            beliefs.roles.append(roles)
        return beliefs

    def _node(self, proposals: Tensor, roles: Tensor) -> Tensor:
        source = proposals if self.global_from == "intermediate" else roles.relu()
        node: Tensor = self.node(source.flatten(1))
        return node


def relate(
    forms: CapsuleForms,
    routing: Routing,
    words: Tensor,
    predicates: Tensor,
    mask: Tensor,
    *,
    n_iterations: int,
    parts: int = 1,
    rest: Tensor | None = None,
) -> Beliefs:
    """Make the word capsules of all predicates and route them.

    words       P T H
    predicates  P H, or the lookup's width
    mask        P T    True at words
    rest        P T M  as `CapsuleForms.forward` takes it, where nothing is trained
    parts       above 1, in training: predicates do not meet here, so they are done in so many
                parts, and each again when its gradient is due instead of keeping what it went
                through. Less memory, more time. Not in the dense form: there the gradient of the
                parameters outweighs all else, and each part would have its own
    """

    def part(
        words: Tensor, predicates: Tensor, mask: Tensor, rest: Tensor | None = None
    ) -> Beliefs:
        beliefs: Beliefs = routing(forms(words, predicates, rest), mask, n_iterations=n_iterations)
        return beliefs

    if rest is not None:
        return part(words, predicates, mask, rest)
    if parts == 1 or not torch.is_grad_enabled() or forms.form == "dense" or len(words) < parts:
        return part(words, predicates, mask)
    done = [
        checkpoint(part, *inputs, use_reentrant=False, preserve_rng_state=False)
        for inputs in zip(*(x.tensor_split(parts) for x in (words, predicates, mask)), strict=True)
    ]
    return Beliefs(
        logits=[torch.cat(step) for step in zip(*(p.logits for p in done), strict=True)],
        roles=[torch.cat(step) for step in zip(*(p.roles for p in done), strict=True)],
        nodes=[torch.cat(step) for step in zip(*(p.nodes for p in done), strict=True)],
    )
