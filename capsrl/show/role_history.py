"""How the roles of the words of a proposition changed from iteration to iteration."""

from dataclasses import dataclass

from capsrl.sentence import Argument, Proposition

NONE = "none"  # name of the absence of a role in tables
_NO_ROLE = 0  # its position in Trace.roles


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """The probability of a role of a word before and after each of N iterations.

    argument  the word with this role in the result; None if it is not there
    probs     N+1 probabilities of `role`; empty without a trace, as is `best`
    best      N+1 most probable roles of the word, `none` included
    """

    word: int
    role: str
    argument: Argument | None
    probs: tuple[float, ...] = ()
    best: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether the word has the role in the result."""
        return self.argument is not None

    @property
    def states(self) -> str:
        """N+1 letters: n, the word has the role; p, it had it before; f, it did not have it yet."""
        has = [*(best == self.role for best in self.best[:-1]), self.kept][: len(self.best)]
        return "".join("n" if now else "fp"[any(has[:step])] for step, now in enumerate(has))


def role_histories(proposition: Proposition) -> list[RoleHistory]:
    """A history for each role that a word had after any iteration, in the order of the words.

    Roles that are not in the result are included. Empty without a trace.
    Raises ValueError for the trace of another proposition.
    """
    trace = proposition.trace
    if trace is None:
        return []
    numbers = {role: number for number, role in enumerate(trace.roles)}
    best = trace.beliefs.argmax(-1)  # N+1 T
    final = {part.word: part.role for part in proposition.arguments}
    if not all(word < best.shape[1] and role in numbers for word, role in final.items()):
        raise ValueError(
            f"trace: expected the roles and words of {final}, "
            f"got {len(trace.roles)} roles and {best.shape[1]} words"
        )
    kept = {(part.word, numbers[part.role]): part for part in proposition.arguments}
    held = {(word, role) for step in best.tolist() for word, role in enumerate(step)}
    return [
        RoleHistory(
            word,
            trace.roles[role],
            kept.get((word, role)),
            probs=tuple(trace.beliefs[:, word, role].tolist()),
            best=tuple(trace.roles[step] if step != _NO_ROLE else NONE for step in best[:, word]),
        )
        for word, role in sorted(kept.keys() | held)
        if role != _NO_ROLE
    ]


def histories_or_arguments(proposition: Proposition, *, trace: bool = True) -> list[RoleHistory]:
    """The role histories, or those of the arguments without numbers if there is no trace."""
    if trace and proposition.trace is not None:
        return role_histories(proposition)
    parts = {(part.word, part.role): part for part in proposition.arguments}
    return [RoleHistory(word, role, part) for (word, role), part in parts.items()]
