"""How the roles of the words of a proposition changed from iteration to iteration."""

from dataclasses import dataclass

from capsrl.sentence import Proposition

NONE = "none"  # name of the absence of a role in tables
_NO_ROLE = 0  # its position in Trace.roles


@dataclass(frozen=True, slots=True)
class RoleHistory:
    """The probability of the role of a word before and after each of N iterations.

    role   the role of the word in the result; of a word that has none, its last role before
    kept   whether the word is an argument in the result
    probs  N+1 probabilities of `role`
    best   N+1 most probable roles, `none` included
    """

    word: int
    role: str
    kept: bool
    probs: tuple[float, ...]
    best: tuple[str, ...]


def role_histories(proposition: Proposition) -> list[RoleHistory]:
    """A history for each word that was an argument after any iteration, in the order of the words.

    Words that are no longer arguments in the result are included. Empty without a trace.
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
    histories: list[RoleHistory] = []
    for word in range(best.shape[1]):
        steps = best[:, word].tolist()
        filled = [step for step in steps if step != _NO_ROLE]
        if word not in final and not filled:
            continue
        role = final[word] if word in final else trace.roles[filled[-1]]
        histories.append(
            RoleHistory(
                word=word,
                role=role,
                kept=word in final,
                probs=tuple(trace.beliefs[:, word, numbers[role]].tolist()),
                best=tuple(NONE if step == _NO_ROLE else trace.roles[step] for step in steps),
            )
        )
    return histories
