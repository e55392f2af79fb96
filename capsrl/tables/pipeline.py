"""Label documents: read them, split them into sentences, label these, count, write.

`capsrl label` and the workers of `capsrl bulk` both do it with these functions:

documents.make_input(...).documents() -> split_document -> label_stream -> Totals.count -> writing
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from capsrl.sentence import Sentence
from capsrl.tables.reading import Document
from capsrl.text import PLAIN, Layout
from capsrl.text.sentences import split_text

if TYPE_CHECKING:
    from capsrl.labeler import Labeler
    from capsrl.options import Options


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


def label_stream(
    labeler: "Labeler", items: Iterable[Labeled], options: "Options"
) -> Iterator[Labeled]:
    """Label sentences in order; documents without any are passed on."""
    keyed = ((each, [] if each.sentence is None else [each.sentence]) for each in items)
    for each, found in labeler.label_documents(keyed, options=options):
        yield replace(each, sentence=found[0]) if found else each


@dataclass
class Totals:
    """How much was labeled.

    errors  kinds of faults of documents that could not be labeled -> how many
    """

    documents: int = 0
    sentences: int = 0
    propositions: int = 0
    arguments: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    def count(self, labeled: Iterable[Labeled]) -> Iterator[Labeled]:
        """Yield the same, and count it."""
        last = None  # place of the last document
        for each in labeled:
            place = "" if each.document is None else each.document.place
            self.documents += place != last
            last = place
            if each.sentence is not None:
                self.sentences += 1
                self.propositions += len(each.sentence.propositions)
                self.arguments += sum(len(p.arguments) for p in each.sentence.propositions)
            if each.document is not None and each.document.fault is not None:
                self.errors[each.document.fault.kind] += 1
            yield each

    def add(self, other: "Totals") -> None:
        """Add other counts."""
        for name in ("documents", "sentences", "propositions", "arguments"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.errors.update(other.errors)

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON values."""
        return {**asdict(self), "errors": dict(sorted(self.errors.items()))}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "Totals":
        """The counts of a dict that `to_dict` made, which may have other entries too."""
        own = {each.name: values[each.name] for each in fields(cls)}
        return cls(**{**own, "errors": Counter(own["errors"])})
