"""How the roles of the words of a proposition changed from iteration to iteration."""

from collections.abc import Sequence
from dataclasses import dataclass

from capsrl.sentence import Proposition

NONE = "none"  # name of the absence of a role in tables
_NO_ROLE = 0  # its position in Trace.roles


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """The probability of a role of a word before and after each of N iterations.

    kept   whether the word has the role in the result
    probs  N+1 probabilities of `role`
    best   N+1 most probable roles of the word, `none` included
    """

    word: int
    role: str
    kept: bool
    probs: tuple[float, ...]
    best: tuple[str, ...]

    @property
    def states(self) -> str:
        """N+1 letters: n, the word has the role; p, it had it before; f, it did not have it yet."""
        has = [*(best == self.role for best in self.best[:-1]), self.kept]
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
    final = {argument.word: argument.role for argument in proposition.arguments}
    if not all(word < best.shape[1] and role in numbers for word, role in final.items()):
        raise ValueError(
            f"trace: expected the roles and words of {final}, "
            f"got {len(trace.roles)} roles and {best.shape[1]} words"
        )
    kept = {(part.word, numbers[part.role]) for part in proposition.arguments}
    held = {(word, role) for step in best.tolist() for word, role in enumerate(step)}
    return [
        RoleHistory(
            word,
            trace.roles[role],
            (word, role) in kept,
            probs=tuple(trace.beliefs[:, word, role].tolist()),
            best=tuple(trace.roles[step] if step != _NO_ROLE else NONE for step in best[:, word]),
        )
        for word, role in sorted(kept | held)
        if role != _NO_ROLE
    ]


def describe_step(histories: Sequence[RoleHistory], step: int, words: Sequence[str]) -> str:
    """A few sentences on what an iteration changed."""
    if step == 0:
        return "Before the first iteration all roles are equally probable."
    said: list[str] = []
    for each in histories:
        before, now = each.states[step - 1] == "n", each.states[step] == "n"
        if now and not before:
            said.append(f"“{words[each.word]}” becomes {each.role}.")
        elif before and not now:
            said.append(f"“{words[each.word]}” is no longer {each.role}.")
    return " ".join(said) or "No role changes."
