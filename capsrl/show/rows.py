"""A proposition in, one row per argument out: what the tables of terminal and HTML both show."""

from dataclasses import dataclass

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.show.text import (
    Descriptions,
    check_positions,
    describe,
    show_offsets,
    show_probability,
    visible,
)
from capsrl.show.trace import Movement, movements
from capsrl.text.phrases import phrase_of

HEADINGS = ("role", "word", "probability", "characters", "phrase", "meaning")


@dataclass(frozen=True, slots=True)
class Row:
    """An argument, or a word that was taken for one and given up; see HEADINGS for the cells."""

    cells: tuple[str, str, str, str, str, str]
    movement: Movement | None

    @property
    def given_up(self) -> bool:
        """Whether the word is no argument in the end."""
        return self.movement is not None and not self.movement.kept


def make_rows(
    sentence: Sentence,
    proposition: Proposition,
    *,
    descriptions: Descriptions | None = None,
    trace: bool = False,
) -> list[Row]:
    """Rows in the order of the words; with `trace`, those given up too, and how all moved."""
    check_positions(sentence, [proposition])
    moved = movements(proposition) if trace else []
    kept = {movement.word: movement for movement in moved if movement.kept}
    rows: list[tuple[int, Row]] = []
    for part in proposition.arguments:
        cells = (
            visible(part.role),
            visible(sentence.words[part.word]),
            show_probability(part.probability),
            show_offsets(part, sentence),
            visible(_phrase(sentence, proposition, part)),
            visible(describe(part.role, proposition.sense, descriptions)),
        )
        rows.append((part.word, Row(cells, kept.get(part.word))))
    for movement in moved:
        if not movement.kept:
            role, word = visible(movement.role), visible(sentence.words[movement.word])
            rows.append((movement.word, Row((f"({role})", word, "", "", "", ""), movement)))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


def _phrase(sentence: Sentence, proposition: Proposition, part: Argument) -> str:
    """The words around an argument, when there is a parse and they are more than one."""
    first, last = phrase_of(sentence, proposition, part) or (part.word, part.word)
    return " ".join(sentence.words[first : last + 1]) if first < last else ""


def known_columns(rows: list[Row]) -> list[int]:
    """Those of HEADINGS that any of the rows can fill."""
    return [number for number in range(len(HEADINGS)) if any(row.cells[number] for row in rows)]


def step_headings(n_steps: int) -> list[str]:
    """`start`, then the numbers of the iterations."""
    return ["start", *map(str, range(1, n_steps))][:n_steps]
