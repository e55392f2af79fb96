"""The rows of the tables of a proposition, one per argument, for terminal and HTML."""

from dataclasses import dataclass

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.formatting import show_offsets, show_probability, visible
from capsrl.show.role_history import RoleHistory, role_histories

HEADINGS = ("role", "word", "probability", "characters", "phrase", "meaning")


@dataclass(frozen=True, slots=True)
class Row:
    """An argument, or a role that a word had before the last iteration.

    cells     by HEADINGS
    argument  None if it is not in the result
    """

    cells: tuple[str, str, str, str, str, str]
    role: str
    argument: Argument | None
    history: RoleHistory | None


def make_rows(sentence: Sentence, proposition: Proposition, *, trace: bool = False) -> list[Row]:
    """Rows in the order of the words; with `trace`, those of dropped arguments, and histories."""
    parts = {(part.word, part.role): part for part in proposition.arguments}
    rows = [Row(_cells(sentence, part), part.role, part, None) for part in parts.values()]
    if not trace or proposition.trace is None:
        return rows
    rows = []
    for history in role_histories(proposition):
        part = parts.get((history.word, history.role))
        word = visible(sentence.words[history.word])
        cells = (f"({visible(history.role)})", word, "", "", "", "")
        rows.append(Row(_cells(sentence, part) if part else cells, history.role, part, history))
    return rows


def _cells(sentence: Sentence, part: Argument) -> tuple[str, str, str, str, str, str]:
    phrase = part.phrase
    text = "" if phrase is None or phrase.first == phrase.last else phrase.text or ""
    return (
        visible(part.role),
        visible(sentence.words[part.word]),
        show_probability(part.probability),
        show_offsets(part, sentence),
        visible(" ".join(text.split())),
        visible(part.meaning or ""),
    )


def known_columns(rows: list[Row]) -> list[int]:
    """The columns of HEADINGS that any of the rows fills."""
    return [number for number in range(len(HEADINGS)) if any(row.cells[number] for row in rows)]


def step_headings(n_steps: int) -> list[str]:
    """`start`, then the numbers of the iterations."""
    return ["start", *map(str, range(1, n_steps))][:n_steps]
