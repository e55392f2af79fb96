"""What PriMeSRL-Eval (Jindal et al., 2022) compares: arguments with their `C-` and `R-` merged in.

An argument in several pieces is one argument, right only if all of its pieces are; a reference
is right only if what it refers to is right too. The rules are those of the authors' published
code, restated; on the 19 worked examples that come with it the figures agree.
"""

from collections.abc import Iterable
from functools import cache

from capsrl.sentence import Argument

CONTINUATION, REFERENCE = "C-", "R-"


@cache
def is_core(role: str) -> bool:
    """Whether a role is numbered, so that its meaning depends on the sense of the predicate."""
    return any(character.isdigit() for character in role)


def merge_arguments(arguments: Iterable[Argument]) -> set[tuple[str, tuple[int, ...]]]:
    """The arguments of one proposition as (role, words), words of a merged argument together.

    `C-A1` joins the first A1 of the sentence; without one it is the A1 itself, and later pieces
    join it. `R-A1` stands for its own word and that of the first A1, in this order, or for its
    own alone where there is none. `C-V` is a piece of the predicate, not an argument.
    """
    ordered = sorted({(a.word, a.role) for a in arguments if a.role not in ("", "_", "-")})
    first: dict[str, int] = {}  # word of the first argument of each role
    for word, role in ordered:
        first.setdefault(role, word)
    pieces: dict[tuple[str, int], list[int]] = {}  # (role, main word) -> its words
    merged: set[tuple[str, tuple[int, ...]]] = set()
    for word, role in ordered:
        if role.startswith(REFERENCE):
            antecedent = first.get(role.removeprefix(REFERENCE))
            merged.add((role, (word,) if antecedent is None else (word, antecedent)))
        elif not role.startswith(CONTINUATION):
            pieces[role, word] = [word]
    for word, role in ordered:
        if role.startswith(CONTINUATION):
            whole = role.removeprefix(CONTINUATION)
            main = first.setdefault(whole, word)
            pieces.setdefault((whole, main), []).append(word)
    merged |= {(role, tuple(sorted(words))) for (role, _), words in pieces.items()}
    return {(role, words) for role, words in merged if role not in ("V", "R-V")}
