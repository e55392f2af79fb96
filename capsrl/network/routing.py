"""Routing between word capsules and role capsules (algorithm 1 of the paper)."""

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from capsrl.network.capsules import WordCapsuleLayer, WordCapsules
from capsrl.network.role_frames import RoleFrames


@dataclass(frozen=True)
class RoutingResult:
    """The values after each iteration of routing; `logits` starts with those before the first.

    logits    N+1 of P T R  b: role logits of the words, zeros before the first iteration; a single
              entry for the variants without iterations
    capsules  N of P R D    v: role capsules, which together embed the proposition
    nodes     N of P D      g: global node, if the variant has one
    """

    logits: list[Tensor] = field(default_factory=list)
    capsules: list[Tensor] = field(default_factory=list)
    nodes: list[Tensor] = field(default_factory=list)

    @property
    def final(self) -> Tensor:
        """The role logits after the last iteration: P T R."""
        return self.logits[-1]


def squash(vectors: Tensor) -> Tensor:
    """Shorten vectors to a length in [0, 1), keeping their direction (eq. 8).

    vectors  ... D
    """
    squared = vectors.square().sum(-1, keepdim=True)
    # eps inside the root: a capsule may be the zero vector, where the square root has no gradient.
    return vectors * (squared / (1.0 + squared)) * torch.rsqrt(squared + 1e-8)


class Routing(nn.Module):
    """The parameters of routing, in the four variants that the paper compares.

    capsule+global  eqs. 9 to 13
    capsule         eqs. 9 to 11: no global node
    word            b = mean_k u (eq. 19): word capsules but no role capsules, no iterations
    baseline        b = u (eq. 4): the same with capsules of size 1

    global_bias        of a node that is fed with squashed capsules; eq. 12 has none
    initial_agreement  W and W_g start as this times the identity; None: Xavier's uniform numbers,
                       also for W of eq. 12
    """

    def __init__(
        self,
        *,
        variant: str,
        n_roles: int,
        size: int,
        global_from: str,
        global_bias: bool = True,
        initial_agreement: float | None = 1.0,
        frames_at: str = "first",
    ) -> None:
        super().__init__()
        self.n_roles = n_roles
        self.frames_at = frames_at
        self.size = size
        self.iterates = variant in ("capsule", "capsule+global")
        self.has_node = variant == "capsule+global"
        self.global_from = global_from
        if self.iterates:
            self.agreement = nn.Parameter((initial_agreement or 0.0) * torch.eye(size))  # W, eq. 11
        if self.has_node:
            has_bias = global_bias and global_from == "squashed"
            self.node = nn.Linear(size * n_roles, size, bias=has_bias)  # eq. 12
            self.node_agreement = nn.Parameter(self.agreement.detach().clone())  # W_g, eq. 13
        if initial_agreement is None:
            for weight in self.parameters():
                if weight.dim() > 1:
                    nn.init.xavier_uniform_(weight)

    def forward(
        self,
        words: WordCapsules,
        mask: Tensor,
        *,
        n_iterations: int,
        of_frames: Tensor | None = None,
    ) -> RoutingResult:
        """Route the word capsules of each predicate to its role capsules.

        mask       P T    True at words; padding has weight 0, so a result does not depend on the
                          batch
        of_frames  P T R  what the frames say of the roles, added to the logits
        """
        n_predicates, n_words = mask.shape
        present = mask.unsqueeze(-1).to(words.dtype)  # P T 1
        if not self.iterates:
            mean = present.new_full((n_predicates, self.n_roles, self.size), 1 / self.size)
            logits = words.push(mean)
            return RoutingResult([logits if of_frames is None else logits + of_frames])
        logits = present.new_zeros(n_predicates, n_words, self.n_roles)
        result = RoutingResult([logits])
        # The softmax of equal logits is uniform: the same weight for all roles.
        weights = present / self.n_roles  # P T 1
        for iteration in range(n_iterations):
            if iteration > 0:
                weights = logits.softmax(-1) * present  # P T R
            intermediate = words.pull(weights)  # s of eq. 9, P R D
            capsules = squash(intermediate)
            directions = capsules @ self.agreement
            if self.has_node:
                node = self._node(intermediate, capsules)  # P D
                # (v W + g W_g) u = v W u + g W_g u: one push for both terms of the agreement.
                directions = directions + (node @ self.node_agreement).unsqueeze(1)
                result.nodes.append(node)
            # Added to the logits so far, as in algorithm 1, not in place of them.
            logits = logits + words.push(directions)
            if of_frames is not None and (iteration == 0 or self.frames_at == "every"):
                logits = logits + of_frames
            result.logits.append(logits)
            result.capsules.append(capsules)
        return result

    def _node(self, intermediate: Tensor, capsules: Tensor) -> Tensor:
        source = intermediate if self.global_from == "intermediate" else capsules.relu()
        node: Tensor = self.node(source.flatten(1))
        return node


def route_predicates(
    layer: WordCapsuleLayer,
    routing: Routing,
    words: Tensor,
    predicates: Tensor,
    mask: Tensor,
    *,
    n_iterations: int,
    chunks: int = 1,
    frames: RoleFrames | None = None,
    features: Tensor | None = None,
) -> RoutingResult:
    """Make the word capsules of all predicates and route them, in training.

    words       P T word_width
    predicates  P predicate_width
    mask        P T  True at words
    features    P F M  those of the roles, by `frames`
    chunks      above 1: process the predicates, which are independent here, in this many chunks
                with gradient checkpointing. Takes less memory and more time. Not done in the dense
                form, where the gradient of the parameters needs most of the memory and every chunk
                would have its own
    """

    def route(
        words: Tensor, predicates: Tensor, mask: Tensor, features: Tensor | None = None
    ) -> RoutingResult:
        capsules = layer(words, predicates)
        of_frames = None
        if frames is not None and features is not None:
            of_frames = frames.logits(capsules.joint, features)
        result: RoutingResult = routing(
            capsules, mask, n_iterations=n_iterations, of_frames=of_frames
        )
        return result

    given = (words, predicates, mask) if features is None else (words, predicates, mask, features)
    if chunks == 1 or not torch.is_grad_enabled() or layer.form == "dense" or len(words) < chunks:
        return route(*given)
    inputs = zip(*(each.tensor_split(chunks) for each in given), strict=True)
    results = [
        # What is dropped inside must be dropped again when the chunk is computed again.
        checkpoint(route, *chunk, use_reentrant=False, preserve_rng_state=layer.dropout > 0)
        for chunk in inputs
    ]
    return RoutingResult(
        logits=[torch.cat(step) for step in zip(*(r.logits for r in results), strict=True)],
        capsules=[torch.cat(step) for step in zip(*(r.capsules for r in results), strict=True)],
        nodes=[torch.cat(step) for step in zip(*(r.nodes for r in results), strict=True)],
    )
