"""The paper's equations written literally: every word capsule is built before it is summed.

The oracle for capsrl.network.capsules and capsrl.network.routing, which must compute the same; also
an LSTM in numbers, with and without highway, for capsrl.network.encoder.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from capsrl.network.capsules import WordCapsuleLayer
from capsrl.network.routing import Routing


def word_capsules(layer: WordCapsuleLayer, words: Tensor, predicates: Tensor) -> Tensor:
    """Every u[i, j, k] = x_i W_jk p (eq. 7), or C (A x * B p).

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
    """Algorithm 1 with eqs. 8 to 13.

    u     P T R D
    mask  P T      True at words
    ->    b, N+1 of P T R;  v, N of P R D;  g, N of P D
    """
    b = u.new_zeros(u.shape[:-1])
    logits, roles, nodes = [b], [], []
    for _ in range(n_iterations):
        c = b.softmax(-1) * mask.unsqueeze(-1)
        s = (c.unsqueeze(-1) * u).sum(1)  # eq. 9
        squared = (s * s).sum(-1, keepdim=True)
        v = squared / (1 + squared) * s / (squared + 1e-8).sqrt()  # eq. 8
        b = b + (u * (v @ routing.agreement).unsqueeze(1)).sum(-1)  # eq. 11
        if routing.has_node:
            source = s if routing.global_from == "intermediate" else v.clamp(min=0)
            g = source.flatten(1) @ routing.node.weight.T  # eq. 12
            if routing.node.bias is not None:
                g = g + routing.node.bias
            b = b + (u * (g @ routing.node_agreement)[:, None, None]).sum(-1)  # eq. 13
            nodes.append(g)
        logits.append(b)
        roles.append(v)
    return logits, roles, nodes


def lstm(words, of_word, of_state, bias, kept):
    """The states of one sentence, number by number; with a highway if there are five gates.

    words     T E
    of_word   4H E or 6H E: input, forget, cell and output gate, then gate and projection of highway
    of_state  4H H or 5H H
    bias      4H or 5H
    kept      H    factors on the state that a word passes on
    ->        T H
    """
    width = len(kept)
    state = memory = [0.0] * width
    states = []
    for word in words:

        def gate(number, unit, word=word, state=state):
            row = number * width + unit
            total = bias[row] + sum(w * x for w, x in zip(of_word[row], word, strict=True))
            passed = [r * k for r, k in zip(state, kept, strict=True)]
            return total + sum(w * r for w, r in zip(of_state[row], passed, strict=True))

        def sigmoid(x):
            return 1 / (1 + math.exp(-x))

        new_state, new_memory = [], []
        for unit in range(width):
            cell = sigmoid(gate(1, unit)) * memory[unit]
            cell += sigmoid(gate(0, unit)) * math.tanh(gate(2, unit))
            out = sigmoid(gate(3, unit)) * math.tanh(cell)
            if len(bias) == 5 * width:
                share = sigmoid(gate(4, unit))
                read = sum(w * x for w, x in zip(of_word[5 * width + unit], word, strict=True))
                out = share * out + (1 - share) * read
            new_memory.append(cell)
            new_state.append(out)
        state, memory = new_state, new_memory
        states.append(state)
    return states
