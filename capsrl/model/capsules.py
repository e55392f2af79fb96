"""Words and a predicate in, word capsules out: the bilinear forms of the paper's eq. 6.

A word capsule is what word i proposes for role j: u[i, j, k] = x_i W_jk p. There are T x R x D of
these numbers to a predicate, and routing needs them only inside two sums. Both are linear in
x_i, so the sums can be taken first and the capsules never built:

    pull:  s[j, k] = sum_i c[i, j] u[i, j, k]     (eq. 8: what the words propose together)
    push:  b[i, j] = sum_k w[j, k] u[i, j, k]     (eqs. 10, 12: how far a word agrees with w)
"""

import torch
from torch import Tensor, nn
from torch.nn import functional


class DenseCapsules:
    """Word capsules of one batch from one matrix per role and capsule dimension.

    words  P T M    x
    forms  P R D M  q = W p
    """

    def __init__(self, words: Tensor, forms: Tensor) -> None:
        self.words = words
        self.forms = forms
        self.dtype = words.dtype

    def pull(self, weights: Tensor) -> Tensor:
        """What the words propose for each role, each word with its weight.

        weights  P T R, or P T 1 where a word weighs the same for all roles
        ->       P R D
        """
        gathered = torch.bmm(weights.transpose(1, 2), self.words)  # P R M or P 1 M
        gathered = gathered.expand(-1, self.forms.shape[1], -1)
        return torch.einsum("prm,prdm->prd", gathered, self.forms)

    def push(self, vectors: Tensor) -> Tensor:
        """How far each word's proposal for a role points along that role's vector.

        vectors  P R D
        ->       P T R
        """
        combined = torch.einsum("prd,prdm->prm", vectors, self.forms)
        return torch.bmm(self.words, combined.transpose(1, 2))


class FactoredCapsules:
    """Word capsules of one batch from factors that all roles share: u = C (A x * B p).

    met     P T M  A x * B p, where word and predicate have met
    factor  R D M  C
    """

    def __init__(self, met: Tensor, factor: Tensor) -> None:
        self.met = met
        self.factor = factor
        self.dtype = met.dtype

    def pull(self, weights: Tensor) -> Tensor:
        """As `DenseCapsules.pull`."""
        gathered = torch.bmm(weights.transpose(1, 2), self.met)  # P R M or P 1 M
        if weights.shape[2] == 1:  # the same sum for all roles: one product for all of them
            proposals = functional.linear(gathered.squeeze(1), self.factor.flatten(0, 1))
            return proposals.view(-1, *self.factor.shape[:2])
        # One product per role with the one factor, not with a copy of it per predicate.
        return torch.bmm(gathered.transpose(0, 1), self.factor.transpose(1, 2)).transpose(0, 1)

    def push(self, vectors: Tensor) -> Tensor:
        """As `DenseCapsules.push`."""
        combined = torch.bmm(vectors.transpose(0, 1), self.factor).transpose(0, 1)  # P R M
        return torch.bmm(self.met, combined.transpose(1, 2))


WordCapsules = DenseCapsules | FactoredCapsules


class CapsuleForms(nn.Module):
    """The parameters of the word capsules: dense (eq. 6 as printed) or factored.

    Words and predicate are first brought to `rank` by a layer each. Each then has a constant part
    (the layer's bias, or a 1 appended in the dense form), so that a word or a predicate can also
    speak for itself.
    """

    def __init__(
        self,
        *,
        word_width: int,
        predicate_width: int,
        n_roles: int,
        size: int,
        rank: int,
        form: str,
        initial_scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.form = form
        self.of_word = nn.Linear(word_width, rank)
        self.of_predicate = nn.Linear(predicate_width, rank)
        if form == "dense":
            self.weight = nn.Parameter(torch.empty(n_roles, size, rank + 1, rank + 1))
            nn.init.normal_(self.weight, std=initial_scale / (rank + 1))
        else:
            self.weight = nn.Parameter(torch.empty(n_roles, size, rank))
            nn.init.normal_(self.weight, std=initial_scale * rank**-0.5)

    def of_rest(self, rest: Tensor) -> Tensor:
        """What `of_word` makes of the last numbers of words alone.

        rest  ... H'
        ->    ... M
        """
        weight = self.of_word.weight[:, -rest.shape[-1] :]
        return functional.linear(rest, weight, self.of_word.bias)

    def forward(
        self, words: Tensor, predicates: Tensor, rest: Tensor | None = None
    ) -> WordCapsules:
        """Let every word of a sentence meet the predicate.

        words       P T H
        predicates  P H, or the lookup's width
        rest        P T M  what `of_rest` made of the last numbers of words, which `words` then
                    lacks
        """
        if rest is None:
            words = self.of_word(words)
        else:
            first = self.of_word.weight[:, : words.shape[-1]]
            words = functional.linear(words, first) + rest
        predicates = self.of_predicate(predicates)
        if self.form == "factored":
            return FactoredCapsules(words * predicates.unsqueeze(1), self.weight)
        words = functional.pad(functional.elu(words), (0, 1), value=1.0)
        predicates = functional.pad(functional.elu(predicates), (0, 1), value=1.0)
        forms = torch.einsum("rdmn,pn->prdm", self.weight, predicates)
        return DenseCapsules(words, forms)
