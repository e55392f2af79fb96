"""The kinds of roles in the frames, by function tag, thematic role and description."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from capsrl.frames.descriptions import NO_DESCRIPTIONS, Descriptions
from capsrl.frames.index import FrameIndex
from capsrl.frames.roles import NUMBERED

CORE_ROLES = tuple(NUMBERED)
PREFIXES = ("", "R-", "C-")  # of roles that share a kind
NO_SUCH_ROLE, UNKNOWN_SENSE = 0, 1  # kinds
N_SENSES = 3  # senses of a predicate that count, the most probable ones


@dataclass(frozen=True)
class RoleKinds:
    """The distinct kinds of roles that the senses of an inventory have.

    of_role    senses 6  kind of each numbered role of each sense
    functions  kinds     function tag of each kind; NO_SUCH_ROLE and UNKNOWN_SENSE have their own
    thematic   kinds     thematic role
    vectors    kinds W   encoded description, zeros for none
    """

    of_role: NDArray[np.int32]
    functions: NDArray[np.int16]
    thematic: NDArray[np.int16]
    vectors: NDArray[np.float32]


def find_kinds(
    senses: Sequence[str], frames: FrameIndex, descriptions: Descriptions = NO_DESCRIPTIONS
) -> RoleKinds:
    """Collect what the frames say of the numbered roles of some senses."""
    found: dict[tuple[str, str, int | None], int] = {
        ("no such role", "", None): NO_SUCH_ROLE,
        ("unknown sense", "", None): UNKNOWN_SENSE,
    }
    of_role = np.full((len(senses), len(CORE_ROLES)), UNKNOWN_SENSE, np.int32)
    for number, sense in enumerate(senses):
        if not frames.has(sense):
            continue
        known = {role.name: role for role in frames.roles_of(sense)}
        for column, name in enumerate(CORE_ROLES):
            of_role[number, column] = NO_SUCH_ROLE
            if (role := known.get(name)) is not None:
                kind = (role.function, role.thematic or "", descriptions.row(sense, name))
                of_role[number, column] = found.setdefault(kind, len(found))
    functions, thematic, rows = zip(*found, strict=True)
    return RoleKinds(of_role, _number(functions), _number(thematic), _take(descriptions, rows))


def _number(names: Sequence[str]) -> NDArray[np.int16]:
    """Each name as a number, in the order of their first occurrence."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], np.int16)


def _take(descriptions: Descriptions, rows: Sequence[int | None]) -> NDArray[np.float32]:
    """The vectors of some rows, zeros for None."""
    padded = np.pad(descriptions.vectors, ((1, 0), (0, 0)))
    return padded[[0 if row is None else row + 1 for row in rows]]
