"""Labeled: a sentence of a document, on its way from the reader to a table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from capsrl.formats.jsonl import format_jsonl, format_object, sentence_to_dict
from capsrl.sentence import Sentence
from capsrl.tables.cells import Cells, argument_rows, sentence_row
from capsrl.tables.columns import NOTHING, Passed
from capsrl.tables.documents import Document
from capsrl.text.layout import PLAIN, Layout
from capsrl.text.sentences import split_text


@dataclass(frozen=True, slots=True)
class Labeled:
    """One sentence of a document, before or after it was labeled.

    document  None for text without a name
    sentence  None if the document has no sentences, or cannot be read
    number    of the sentence in its document, from 1
    """

    document: Document | None
    sentence: Sentence | None = None
    number: int | None = None

    @property
    def error(self) -> str | None:
        """Why the document cannot be labeled, if it cannot."""
        return None if self.document is None else self.document.error


def split_document(document: Document, layout: Layout = PLAIN) -> Iterator[Labeled]:
    """Yield the sentences of a document; one Labeled without a sentence if it has none.

    A sentence has its own part of the text, and the id of the document with a number: r7-1.
    """
    number = 0
    for number, sentence in enumerate(split_text(document.text or "", layout), start=1):
        named = replace(sentence.standalone(), id=f"{document.id}-{number}")
        yield Labeled(document, named, number)
    if not number:
        yield Labeled(document)


def labeled_rows(
    labeled: Labeled, *, rows: str = "argument", passed: Passed = NOTHING
) -> list[Cells]:
    """The rows of a table for a sentence: one per argument, or one if `rows` is "sentence"."""
    document, sentence, number = labeled.document, labeled.sentence, labeled.number
    id = document and document.id
    if rows == "sentence":
        found = [sentence_row(sentence, document=id, number=number)]
    else:
        found = argument_rows(sentence, document=id, number=number)
    extra = passed.values(document.columns if document else {})
    return [row | extra | {"error": labeled.error} for row in found]


def json_lines(labeled: Iterable[Labeled], passed: Passed = NOTHING) -> Iterator[str]:
    """One line per sentence; those of tables have the id and the other columns of the document.

    passed  the columns to keep, if some were chosen; default: all
    """
    for each in labeled:
        document, sentence = each.document, each.sentence
        if document is None or (document.text is None and document.error is None):
            if sentence is not None:
                yield format_jsonl(sentence)
            continue
        data: dict[str, object] = {"document": document.id}
        if fields := passed.fields(document.columns):
            data["fields"] = fields
        if document.error is not None:
            data["error"] = document.error
        yield format_object(
            data | ({"words": []} if sentence is None else sentence_to_dict(sentence))
        )
