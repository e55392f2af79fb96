"""What the frames say of the roles of a predicate, as a term of the role logits.

A role of a sense has a function tag (PAG), a thematic role (Agent) and a description, encoded as a
vector. The senses that the predicate most probably has say together what each numbered role is:

    f_j = sum_s pi_s (E[function tag of j in s] + E'[thematic role of j in s] + D d_sj)
    b_ij += h_i . f_j

h_i = A x_i * B p is the word combined with the predicate, pi the probabilities of the senses. R-A1
and C-A1 have the features of A1 and rows of their own in E and E'. Modifiers share one vector, and
words without role have none. Everything starts at 0: the network as it is without frames.

Shapes: s senses that count, N numbered roles, F features (a prefix and a numbered role, and one for
modifiers), W the width of a description.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional

from capsrl.frames.kinds import CORE_ROLES, N_SENSES, PREFIXES, UNKNOWN_SENSE, RoleKinds
from capsrl.predict.inventory import NO_ROLE, Inventory


class RoleFrames(nn.Module):
    """The features of roles. The names of the attributes are keys in saved weights."""

    of_role: Tensor
    function_of: Tensor
    thematic_of: Tensor
    descriptions: Tensor
    column_of: Tensor

    def __init__(self, inventory: Inventory, kinds: RoleKinds, *, rank: int) -> None:
        super().__init__()
        width = kinds.vectors.shape[1]
        n_functions, n_thematic = int(kinds.functions.max()) + 1, int(kinds.thematic.max()) + 1
        self.functions = nn.Parameter(torch.zeros(n_functions, len(PREFIXES) * rank))
        self.thematic = nn.Parameter(torch.zeros(n_thematic, len(PREFIXES) * rank))
        self.modifier = nn.Parameter(torch.zeros(rank))
        self.of_description = nn.Linear(width, rank, bias=False) if width else None
        # Kinds are numbers of 16 bits where these are enough: half the bytes in a model folder.
        narrow = torch.int16 if len(kinds.functions) <= 2**15 else torch.int32
        self.register_buffer("of_role", torch.from_numpy(kinds.of_role).to(narrow))
        self.register_buffer("function_of", torch.from_numpy(kinds.functions))
        self.register_buffer("thematic_of", torch.from_numpy(kinds.thematic))
        if self.of_description is not None:
            nn.init.zeros_(self.of_description.weight)
            self.register_buffer("descriptions", torch.from_numpy(kinds.vectors))
        self.register_buffer("column_of", torch.tensor(_feature_columns(inventory.roles)))

    def forward(self, senses: Tensor, candidates: Tensor, n_candidates: Tensor) -> Tensor:
        """The features of the roles of each predicate.

        senses        P C  logits; they do not learn from the roles
        candidates    P C  sense ids
        n_candidates  P
        ->            P F M
        """
        probs, best = senses.detach().softmax(-1).topk(min(N_SENSES, senses.shape[1]))  # P s
        kinds = self.of_role[candidates.gather(1, best)].long()  # P s N
        kinds = kinds.masked_fill((n_candidates == 0)[:, None, None], UNKNOWN_SENSE)
        functions = _mix_rows(self.functions, self.function_of[kinds], probs)  # P N 3M
        thematic = _mix_rows(self.thematic, self.thematic_of[kinds], probs)
        shape = (*kinds.shape[::2], len(PREFIXES), len(self.modifier))
        features = (functions + thematic).view(shape)  # P N 3 M
        if self.of_description is not None:
            described = torch.einsum("ps,psnw->pnw", probs, self.descriptions[kinds])
            features = features + self.of_description(described).unsqueeze(2)
        modifier = self.modifier.expand(len(features), 1, -1)
        return torch.cat([features.flatten(1, 2), modifier], 1)

    def logits(self, joint: Tensor, features: Tensor) -> Tensor:
        """The term of the role logits.

        joint     P T M  the words combined with their predicates
        features  P F M
        ->        P T R
        """
        found = functional.pad(joint @ features.transpose(1, 2), (0, 1))  # 0 for NO_ROLE
        return found.index_select(-1, self.column_of)


def _mix_rows(table: Tensor, ids: Tensor, probs: Tensor) -> Tensor:
    """The rows of a table with these ids, weighted by the senses.

    table  rows 3M
    ids    P s N
    probs  P s
    ->     P N 3M
    """
    chosen = functional.one_hot(ids.long(), len(table)).to(table.dtype)  # P s N rows
    return torch.einsum("ps,psnr->pnr", probs, chosen) @ table


def _feature_columns(roles: Iterable[str]) -> list[int]:
    """The row of `RoleFrames.forward` that each role has; the one behind the last for NO_ROLE."""
    rows = {
        prefix + role: number * len(PREFIXES) + place
        for number, role in enumerate(CORE_ROLES)
        for place, prefix in enumerate(PREFIXES)
    }
    modifier = len(rows)
    rows[NO_ROLE] = modifier + 1
    return [rows.get(role, modifier) for role in roles]
