"""Word capsules: the bilinear forms of a word and a predicate (eq. 7 of the paper).

The capsule of word i for role j is the vector u[i, j, k] = x_i W_jk p. There are T x R x D of these
numbers per predicate, and routing needs them only inside two sums. Both are linear in x_i, so the
sums can be moved inside and the capsules are never built:

    pull:  s[j, k] = sum_i c[i, j] u[i, j, k] = (sum_i c[i, j] x_i) W_jk p      (eq. 9)
    push:  b[i, j] = sum_k w[j, k] u[i, j, k] = x_i (sum_k w[j, k] W_jk p)      (eqs. 11, 13)
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from capsrl.network.encoder import variational_dropout


class DenseCapsules:
    """Word capsules of one batch with one matrix per role and capsule dimension.

    words  P T M    x
    forms  P R D M  W p
    joint  P T M    A x * B p, for what the frames say of roles
    """

    def __init__(self, words: Tensor, forms: Tensor, joint: Tensor) -> None:
        self.words = words
        self.forms = forms
        self.joint = joint
        self.dtype = words.dtype

    def pull(self, weights: Tensor) -> Tensor:
        """Sum the capsules over the words, each word with its weight (eq. 9).

        weights  P T R, or P T 1 if the weight of a word is the same for all roles
        ->       P R D
        """
        summed = torch.bmm(weights.transpose(1, 2), self.words)  # P R M or P 1 M
        summed = summed.expand(-1, self.forms.shape[1], -1)
        return torch.einsum("prm,prdm->prd", summed, self.forms)

    def push(self, vectors: Tensor) -> Tensor:
        """Multiply the capsules of each word with one vector per role (eqs. 11, 13).

        vectors  P R D
        ->       P T R
        """
        combined = torch.einsum("prd,prdm->prm", vectors, self.forms)
        return torch.bmm(self.words, combined.transpose(1, 2))


class FactoredCapsules:
    """Word capsules of one batch with factors shared by all roles: u = C (A x * B p).

    joint   P T M  A x * B p
    factor  R D M  C
    """

    def __init__(self, joint: Tensor, factor: Tensor) -> None:
        self.joint = joint
        self.factor = factor
        self.dtype = joint.dtype

    def pull(self, weights: Tensor) -> Tensor:
        """As `DenseCapsules.pull`."""
        summed = torch.bmm(weights.transpose(1, 2), self.joint)  # P R M or P 1 M
        if weights.shape[2] == 1:  # the same sum for all roles: one product for all of them
            capsules = functional.linear(summed.squeeze(1), self.factor.flatten(0, 1))
            return capsules.view(-1, *self.factor.shape[:2])
        # Batched over the roles: batched over the predicates, bmm would copy the factor for each.
        return torch.bmm(summed.transpose(0, 1), self.factor.transpose(1, 2)).transpose(0, 1)

    def push(self, vectors: Tensor) -> Tensor:
        """As `DenseCapsules.push`."""
        combined = torch.bmm(vectors.transpose(0, 1), self.factor).transpose(0, 1)  # P R M
        return torch.bmm(self.joint, combined.transpose(1, 2))


WordCapsules = DenseCapsules | FactoredCapsules


class WordCapsuleLayer(nn.Module):
    """The parameters of the word capsules, in one of two forms.

    dense: eq. 7 on the projected words and predicates, after an ELU. factored: without the ELU, and
    with factors that all roles share.

    Words and predicates are first projected to `rank` by one linear layer each. Both sides have a
    constant component (the bias of the layer, or a 1 appended in the dense form), so that the
    product also contains terms of the word alone and of the predicate alone.

    dropout  on the projected words and predicates, the same at all words of a predicate

    The names of the attributes are keys in saved weights.
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
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout = dropout
        self.form = form
        self.of_word = nn.Linear(word_width, rank)
        self.of_predicate = nn.Linear(predicate_width, rank)
        # Scaled so that a capsule of unit inputs has entries of about `initial_scale`.
        if form == "dense":
            self.weight = nn.Parameter(torch.empty(n_roles, size, rank + 1, rank + 1))
            nn.init.normal_(self.weight, std=initial_scale / (rank + 1))
        else:
            self.weight = nn.Parameter(torch.empty(n_roles, size, rank))
            nn.init.normal_(self.weight, std=initial_scale * rank**-0.5)

    def forward(self, words: Tensor, predicates: Tensor) -> WordCapsules:
        """Combine every word of a sentence with its predicate.

        words       P T word_width
        predicates  P predicate_width
        """
        return self._combine(self.of_word(words), predicates)

    def forward_shared(
        self, states: Tensor, views: Tensor | None, rows: Tensor, predicates: Tensor
    ) -> WordCapsules:
        """The same for words [view; state], without repeating the states for every predicate.

        The product of a matrix with a concatenation is a sum of two products:

            A [view; state] = A_view view + A_state state

        The view of a word differs from predicate to predicate, its state does not. The second
        product, the wide one, is therefore computed once per sentence and copied to the predicates.

        states      B T H   of the words of each sentence
        views       P T H'  of the words for each predicate, None without a predicate layer
        rows        P       the sentence of each predicate
        predicates  P predicate_width
        """
        n_view = 0 if views is None else views.shape[-1]
        view_weight, state_weight = self.of_word.weight[:, :n_view], self.of_word.weight[:, n_view:]
        words = functional.linear(states, state_weight, self.of_word.bias)[rows]  # P T M
        if views is not None:
            words = functional.linear(views, view_weight) + words
        return self._combine(words, predicates)

    def _combine(self, words: Tensor, predicates: Tensor) -> WordCapsules:
        """Make capsules from projected words, P T M."""
        predicates = self.of_predicate(predicates).unsqueeze(1)  # P 1 M
        joint = self._drop(words) * self._drop(predicates)
        if self.form == "factored":
            return FactoredCapsules(joint, self.weight)
        words, predicates = (
            functional.pad(self._drop(functional.elu(each)), (0, 1), value=1.0)
            for each in (words, predicates)
        )
        forms = torch.einsum("rdmn,pn->prdm", self.weight, predicates.squeeze(1))
        return DenseCapsules(words, forms, joint)

    def _drop(self, projected: Tensor) -> Tensor:
        return variational_dropout(projected, self.dropout, training=self.training)
