"""Make rows of tables from sentences: one per argument, or one per sentence; see `columns`."""

from typing import Any

from capsrl.sentence import Argument, Proposition, Sentence
from capsrl.tables.columns import ARGUMENT_COLUMNS, SENTENCE_COLUMNS
from capsrl.text.spacing import text_of

_DIGITS = 6  # of probabilities
Cells = dict[str, Any]  # the values of a row, by column


def argument_rows(
    sentence: Sentence | None, *, document: object = None, number: int | None = None
) -> list[Cells]:
    """One row for each argument of a sentence, in order, with all columns.

    A proposition without arguments has a row whose argument is null, a sentence without
    propositions one whose proposition is null, and a document without sentences (None) one with
    nothing but its id.

    document  id of the document the sentence is in
    number    of the sentence in its document, from 1
    """
    empty = dict.fromkeys(column.name for column in ARGUMENT_COLUMNS)
    if sentence is None:
        return [empty | {"document": document}]
    shift = sentence.start or 0
    common = empty | _sentence_cells(sentence, document, number)
    rows: list[Cells] = []
    for proposition in sentence.propositions:
        cells = common | _proposition_cells(proposition, shift)
        rows += [cells | _argument_cells(argument, shift) for argument in proposition.arguments]
        if not proposition.arguments:
            rows.append(cells)
    return rows or [common]


def sentence_row(
    sentence: Sentence | None, *, document: object = None, number: int | None = None
) -> Cells:
    """The row of a sentence with its propositions nested in it; see `argument_rows`."""
    empty = dict.fromkeys(column.name for column in SENTENCE_COLUMNS)
    if sentence is None:
        return empty | {"document": document}
    shift = sentence.start or 0
    return {
        **empty,
        **_sentence_cells(sentence, document, number),
        "words": list(sentence.words),
        "tags": None if sentence.tags is None else list(sentence.tags),
        "propositions": [
            {
                **_proposition_cells(proposition, shift),
                "arguments": [_argument_cells(each, shift) for each in proposition.arguments],
            }
            for proposition in sentence.propositions
        ],
    }


def _sentence_cells(sentence: Sentence, document: object, number: int | None) -> Cells:
    shift, offsets = sentence.start or 0, sentence.offsets
    return {
        "document": document,
        "sentence": number,
        "sentence_id": sentence.id,
        "text": text_of(sentence),
        "sentence_start": shift + offsets[0][0] if offsets else None,
        "sentence_end": shift + offsets[-1][1] if offsets else None,
    }


def _proposition_cells(proposition: Proposition, shift: int) -> Cells:
    return {
        "predicate": proposition.form,
        "predicate_word": proposition.predicate,
        "predicate_start": _shifted(proposition.start, shift),
        "predicate_end": _shifted(proposition.end, shift),
        "predicate_probability": _rounded(proposition.predicate_probability),
        "sense": proposition.sense,
        "sense_probability": _rounded(proposition.probability),
        "guessed": proposition.guessed,
        "definition": proposition.definition,
        "frames": list(proposition.frames),
        "joint_probability": _rounded(proposition.joint_probability),
    }


def _argument_cells(argument: Argument, shift: int) -> Cells:
    phrase = argument.phrase
    return {
        "role": argument.role,
        "meaning": argument.meaning,
        "argument_probability": _rounded(argument.probability),
        "head": argument.form,
        "head_word": argument.word,
        "head_start": _shifted(argument.start, shift),
        "head_end": _shifted(argument.end, shift),
        "phrase": phrase and phrase.text,
        "phrase_first": phrase and phrase.first,
        "phrase_last": phrase and phrase.last,
        "phrase_start": phrase and _shifted(phrase.start, shift),
        "phrase_end": phrase and _shifted(phrase.end, shift),
    }


def _rounded(probability: float | None) -> float | None:
    """The digits that the network computes; more would only make files larger."""
    return None if probability is None else round(probability, _DIGITS)


def _shifted(offset: int | None, shift: int) -> int | None:
    return None if offset is None else offset + shift
