"""A proposition with its trace in, how the role of each word moved over the iterations out."""

from dataclasses import dataclass

from capsrl.sentence import Proposition

NONE = "none"  # what tables call the absence of a role
_NO_ROLE = 0  # its place in Trace.roles


@dataclass(frozen=True, slots=True)
class Movement:
    """How sure the model was of one role of one word, before and after each iteration.

    role   the role the word ended with; for a word that ended with none, its last one before
    kept   whether the word is among the arguments in the end
    probs  N+1 probabilities of `role`
    best   N+1 most probable roles then, `none` included
    """

    word: int
    role: str
    kept: bool
    probs: tuple[float, ...]
    best: tuple[str, ...]


def movements(proposition: Proposition) -> list[Movement]:
    """One for each word that was an argument after any iteration, in the order of the words.

    Words that were taken for arguments first and given up later are what refinement is about:
    they are there too. Empty without a trace.
    Raises ValueError for a trace that is not of this proposition.
    """
    trace = proposition.trace
    if trace is None:
        return []
    numbers = {role: number for number, role in enumerate(trace.roles)}
    best = trace.beliefs.argmax(-1)  # N+1 T
    final = {argument.word: argument.role for argument in proposition.arguments}
    if not all(word < best.shape[1] and role in numbers for word, role in final.items()):
        raise ValueError(
            f"the trace of {len(trace.roles)} roles and {best.shape[1]} words "
            f"does not know all of {final}"
        )
    moved: list[Movement] = []
    for word in range(best.shape[1]):
        steps = best[:, word].tolist()
        filled = [step for step in steps if step != _NO_ROLE]
        if word not in final and not filled:
            continue
        role = final[word] if word in final else trace.roles[filled[-1]]
        moved.append(
            Movement(
                word=word,
                role=role,
                kept=word in final,
                probs=tuple(trace.beliefs[:, word, numbers[role]].tolist()),
                best=tuple(NONE if step == _NO_ROLE else trace.roles[step] for step in steps),
            )
        )
    return moved
