"""The paper's equations written literally: every word capsule is built before it is summed.

The oracle for capsrl.network.capsules and capsrl.network.routing, which must compute the same.
"""

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.routing import Routing


def word_capsules(layer: WordCapsuleLayer, words: Tensor, predicates: Tensor) -> Tensor:
    """Every u[i, j, k] = x_i W_jk p (eq. 6), or C (A x * B p).

    words       P T H
    predicates  P H
    ->          P T R D
    """
    x, p = layer.of_word(words), layer.of_predicate(predicates)
    if layer.form == "factored":
        return torch.einsum("ptm,rdm->ptrd", x * p.unsqueeze(1), layer.weight)
    x = torch.cat([functional.elu(x), torch.ones_like(x[..., :1])], -1)
    p = torch.cat([functional.elu(p), torch.ones_like(p[..., :1])], -1)
    return torch.einsum("ptm,prdm->ptrd", x, torch.einsum("rdmn,pn->prdm", layer.weight, p))


def route(
    u: Tensor, mask: Tensor, routing: Routing, *, n_iterations: int
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Algorithm 1 with eqs. 7 to 12.

    u     P T R D
    mask  P T      True at words
    ->    b, N+1 of P T R;  v, N of P R D;  g, N of P D
    """
    b = u.new_zeros(u.shape[:-1])
    logits, roles, nodes = [b], [], []
    for _ in range(n_iterations):
        c = b.softmax(-1) * mask.unsqueeze(-1)
        s = (c.unsqueeze(-1) * u).sum(1)  # eq. 8
        squared = (s * s).sum(-1, keepdim=True)
        v = squared / (1 + squared) * s / (squared + 1e-8).sqrt()  # eq. 7
        b = b + (u * (v @ routing.agreement).unsqueeze(1)).sum(-1)  # eq. 10
        if routing.has_node:
            source = s if routing.global_from == "intermediate" else v.clamp(min=0)
            g = source.flatten(1) @ routing.node.weight.T  # eq. 11
            if routing.node.bias is not None:
                g = g + routing.node.bias
            b = b + (u * (g @ routing.node_agreement)[:, None, None]).sum(-1)  # eq. 12
            nodes.append(g)
        logits.append(b)
        roles.append(v)
    return logits, roles, nodes
