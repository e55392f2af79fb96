"""The rows of the tables of a proposition, one per argument, for terminal and HTML."""

from dataclasses import dataclass

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.formatting import show_offsets, show_probability, visible
from capsrl.show.role_history import RoleHistory, role_histories

HEADINGS = ("role", "word", "probability", "characters", "phrase", "meaning")


@dataclass(frozen=True, slots=True)
class Row:
    """An argument, or a word that was one before the last iteration; see HEADINGS for the cells."""

    cells: tuple[str, str, str, str, str, str]
    history: RoleHistory | None

    @property
    def is_dropped(self) -> bool:
        """Whether the word is not an argument in the result."""
        return self.history is not None and not self.history.kept


def make_rows(sentence: Sentence, proposition: Proposition, *, trace: bool = False) -> list[Row]:
    """Rows in the order of the words; with `trace`, those of dropped arguments, and histories."""
    histories = role_histories(proposition) if trace else []
    kept = {history.word: history for history in histories if history.kept}
    rows: list[tuple[int, Row]] = []
    for part in proposition.arguments:
        cells = (
            visible(part.role),
            visible(sentence.words[part.word]),
            show_probability(part.probability),
            show_offsets(part, sentence),
            visible(_phrase(sentence, part)),
            visible(part.meaning or ""),
        )
        rows.append((part.word, Row(cells, kept.get(part.word))))
    for history in histories:
        if not history.kept:
            role, word = visible(history.role), visible(sentence.words[history.word])
            rows.append((history.word, Row((f"({role})", word, "", "", "", ""), history)))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _phrase(sentence: Sentence, part: Argument) -> str:
    """The phrase of an argument on one line, if it has more than one word."""
    phrase = part.phrase
    if phrase is None or phrase.first == phrase.last:
        return ""
    text = phrase.text or " ".join(sentence.words[phrase.first : phrase.last + 1])
    return " ".join(text.split())


def known_columns(rows: list[Row]) -> list[int]:
    """The columns of HEADINGS that any of the rows fills."""
    return [number for number in range(len(HEADINGS)) if any(row.cells[number] for row in rows)]


def step_headings(n_steps: int) -> list[str]:
    """`start`, then the numbers of the iterations."""
    return ["start", *map(str, range(1, n_steps))][:n_steps]
